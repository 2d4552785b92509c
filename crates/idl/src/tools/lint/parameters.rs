//! Rules for parameters.

use super::Findings;
use super::rules::Rule;
use crate::model::{
    Arith, Base, Direction, Extent, Interface, Method, Model, Operand, Param, Pointer, PointerClass, Transfer, Type,
};

/// The largest structure, in bytes, that is passed by value without a finding.
const VALUE_MAX: u32 = 128;

/// Checks the methods of an interface.
pub(super) fn check(model: &Model, interface: &Interface, findings: &mut Findings) {
    for method in &interface.methods {
        let name = format!("`{}.{}`", interface.name, method.name);
        let travelling = method.travels_as.as_deref().unwrap_or(method);
        for param in &travelling.params {
            values(model, param, &name, findings);
            if !travelling.local && param.memory.is_none() {
                arrays(travelling, param, &name, findings);
            }
        }
        if interface.dual {
            results(method, &name, findings);
        }
    }
}

/// Checks the kind and the size of a parameter, regardless of its number of elements.
fn values(model: &Model, param: &Param, method: &str, findings: &mut Findings) {
    let subject = format!("the parameter `{}` of {method}", param.name);
    match &param.ty {
        Type::Struct(_) | Type::Union(_) => {
            let (size, _) = model.layout(&param.ty);
            if size > VALUE_MAX {
                findings.add(Rule::LargeValue, param.span, format!("{subject} has {size} bytes"));
            }
        }
        Type::Pointer(pointer) if pointer.class == PointerClass::Full => {
            findings.add(Rule::FullPointer, param.span, format!("{subject} is a [ptr] pointer"));
        }
        _ => {}
    }
    let narrow = levels(&param.ty).find_map(|pointer| match pointer.to {
        Type::Base(base @ (Base::Char | Base::Byte | Base::U8)) if pointer.extent == Extent::Text => Some(base),
        _ => None,
    });
    if let Some(base) = narrow.filter(|_| !param.utf8) {
        findings.add(Rule::NarrowText, param.span, format!("{subject} is a text of `{}`", base.idl()));
    }
}

/// Checks the numbers of elements of a parameter.
fn arrays(method: &Method, param: &Param, name: &str, findings: &mut Findings) {
    let subject = format!("the array `{}` of {name}", param.name);
    for pointer in levels(&param.ty) {
        let Extent::Counted { size, length } = &pointer.extent else { continue };
        let (mut unbounded, mut signed) = (None, None);
        for count in [Some(size), length.as_ref()].into_iter().flatten() {
            let mut operands = 0;
            count.operands(&mut |_| operands += 1);
            count.operands(&mut |operand| {
                if let Some(counter) = method.params.get(operand.index) {
                    if !is_bounded(operand, counter, operands == 1) {
                        unbounded = unbounded.or(Some(counter));
                    }
                    if is_negative(operand, counter) {
                        signed = signed.or(Some(counter));
                    }
                }
            });
        }
        if let Some(counter) = signed {
            let message = format!("`{}`, the number of elements of {subject}, may be negative", counter.name);
            findings.add(Rule::SignedCount, counter.span, message);
        }
        let Some(counter) = unbounded.filter(|_| param.direction.is_out() && param.transfer == Transfer::Frame) else {
            continue;
        };
        // Only an array's size reserves memory. The server determines a size that is a result, and
        // the client determines any other size. An [in, out, unique] array is sent, so the
        // request limits its size.
        let rule = if counter.direction == Direction::Out { Rule::UnboundedOut } else { Rule::UnboundedRoom };
        let is_sent =
            rule == Rule::UnboundedRoom && (param.is_optional_in_out() || counts_sent_elements(method, counter));
        if has_operand(size, method, counter) && !is_sent {
            findings.add(rule, param.span, format!("`{}` does not limit the size of {subject}", counter.name));
        }
    }
}

/// Whether a parameter is the size of an array of which the client sends all elements. Such a size
/// cannot make the server reserve more memory than the client sends.
fn counts_sent_elements(method: &Method, counter: &Param) -> bool {
    let mut sent = method.params.iter().filter(|param| param.direction.is_in());
    sent.any(|param| {
        // Only pointers that are never null count: if a pointer to an array is null, no elements
        // are sent.
        let sent = levels(&param.ty).take_while(|pointer| pointer.class == PointerClass::Ref);
        let counted = sent.filter_map(|pointer| match &pointer.extent {
            Extent::Counted { size, length: None } => size.plain(),
            _ => None,
        });
        counted.filter_map(|operand| method.params.get(operand.index)).any(|found| std::ptr::eq(found, counter))
    })
}

fn has_operand(size: &Arith, method: &Method, counter: &Param) -> bool {
    let mut is_found = false;
    size.operands(&mut |operand| {
        is_found |= method.params.get(operand.index).is_some_and(|param| std::ptr::eq(param, counter));
    });
    is_found
}

/// Whether a number is bounded. A [range] bounds the number if the range ends below the greatest
/// value of the type. A type of at most 16 bits bounds the number if `is_alone` is true: the
/// expression has no other operand.
fn is_bounded(operand: &Operand, param: &Param, is_alone: bool) -> bool {
    let most = operand.base.range().map_or(i128::MAX, |(_, most)| most);
    param.range.is_some_and(|(_, limit)| i128::from(limit) < most) || is_alone && operand.base.size() <= 2
}

fn is_negative(operand: &Operand, param: &Param) -> bool {
    let least = match param.range {
        Some((least, _)) => i128::from(least),
        None => operand.base.range().map_or(0, |(least, _)| least),
    };
    least < 0
}

/// Returns the pointers of a type, from the outermost to the innermost.
fn levels(ty: &Type) -> impl Iterator<Item = &Pointer> {
    std::iter::successors(pointer(ty), |outer| pointer(&outer.to))
}

fn pointer(ty: &Type) -> Option<&Pointer> {
    match ty {
        Type::Pointer(pointer) => Some(pointer),
        _ => None,
    }
}

/// Checks the results of a method that scripts call.
fn results(method: &Method, name: &str, findings: &mut Findings) {
    let mut results = method.params.iter().filter(|param| param.direction == Direction::Out);
    if let (Some(only), None, Some(last)) = (results.next(), results.next(), method.params.last())
        && std::ptr::eq(only, last)
        && !only.retval
    {
        let message = format!("`{}` is the only result of {name}, and not its [retval]", only.name);
        findings.add(Rule::MissingRetval, only.span, message);
    }
}
