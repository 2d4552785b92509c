//! Random calls: the values of a method's calls, for test programs in every language.
//!
//! A seed, a method and a number identify a call. From these three, the generator makes the same
//! random values for the caller and for the object, in the order of [`TestedMethod::fields`]. The
//! caller sends the arguments and knows the results. The object knows the arguments and returns the
//! results. Each side thus checks the peer's values, whatever languages the programs are in.
//! `random_calls.hh` and `random_calls.rs.in` contain the generator.

use crate::model::{Arith, Base, Direction, InterfaceId, Model, Transfer, Type};
use crate::plan::{INLINE_MAX, MethodPlan, ParamPlan, Passing, in_place, plan};
use crate::text::condition::apply;
use obvia_ndr::flat::OBJECT_HEADER;

/// The maximum size in bytes of the array elements in a call, for each counting parameter.
const ARRAY_BYTES: i64 = 8192;
/// The maximum size in bytes of a value that is not a conformant array. The stack holds several
/// values at a time.
const VALUE_BYTES: u32 = 0x1_0000;

/// A method with the values of its calls in test programs.
pub(super) struct TestedMethod<'a> {
    /// The method.
    pub(super) plan: MethodPlan<'a>,
    /// The values of a call, in the order in which the generator makes them. A random number before
    /// the first result decides whether the method fails.
    pub(super) fields: Vec<Field>,
    /// The reason why the method is omitted. `None` if test programs call it.
    pub(super) omission_reason: Option<String>,
}

/// A value of a call.
pub(super) struct Field {
    /// The field's name: the parameter's name with the direction.
    pub(super) name: String,
    /// The kind of value, and the way in which the generator makes it.
    pub(super) kind: FieldKind,
    /// Whether the value is a result.
    pub(super) is_result: bool,
}

/// The way in which the generator makes a value.
pub(super) enum FieldKind {
    /// Any value of its type, within a range.
    Value(Type, Option<(i64, i64)>),
    /// A count of elements. The numbers are the least count, the count whose elements just fit into
    /// a slot of the transport, and the greatest count.
    Count(Base, [i64; 3]),
    /// A count of used elements: at most the room in each of these arrays.
    Used(Base, Vec<Arith>),
    /// The same value as the argument with this name. The generator makes no further value.
    SameAsArgument(Type, String),
    /// A value or null.
    Optional(Type),
    /// An array of `count` elements. If `is_text`, its last element is zero.
    Array { element: Type, count: Arith, is_text: bool },
    /// A string: characters, or bytes in UTF-8 if `utf8` is true. If `optional`, the string may be
    /// null. About `fit` characters or bytes fit into a slot.
    Text { wide: bool, utf8: bool, optional: bool, fit: i64 },
}

/// Returns the file's interfaces that test programs call, with their methods, inherited ones
/// included. The methods of IDispatch are left out, since no object implements them itself.
/// `is_tested` says whether a language has the code of an interface and of its objects.
pub(super) fn tested_methods(
    model: &Model,
    is_tested: impl Fn(InterfaceId) -> bool,
) -> Vec<(InterfaceId, Vec<TestedMethod<'_>>)> {
    let all = (0..model.interfaces.len()).map(InterfaceId);
    let own = all.filter(|id| !model.interfaces[id.0].imported && !model.interfaces[id.0].local);
    let methods = |id| {
        let methods = model.declared_lineage(id).into_iter().flat_map(|id| &model.interfaces[id.0].methods);
        methods.map(|method| tested_method(model, plan(model, method))).collect()
    };
    own.filter(|id| is_tested(*id)).map(|id| (id, methods(id))).collect()
}

/// Returns the name of a parameter's value, as an argument or as a result.
pub(super) fn field_name(param: &ParamPlan<'_>, is_result: bool) -> String {
    format!("{}_{}", param.param.name, if is_result { "out" } else { "in" })
}

/// Returns the text of a count expression. The text uses only operators that C and Rust share.
/// `operand` reads a value.
pub(super) fn count(plan: &MethodPlan<'_>, value: &Arith, operand: &dyn Fn(&str) -> String) -> String {
    match value {
        Arith::Operand(one) => {
            let param = &plan.params[one.index];
            operand(&field_name(param, !param.param.direction.is_in()))
        }
        Arith::Binary(operator, left, right) => {
            format!("({} {operator} {})", count(plan, left, operand), count(plan, right, operand))
        }
        Arith::Const(value) => value.to_string(),
        Arith::Unary(..) | Arith::Ternary(..) => "0".to_owned(),
    }
}

/// Returns the least and the greatest value of an integer. For unsigned 64-bit integers these are
/// signed numbers with the same bits.
pub(super) fn limits(base: Base, range: Option<(i64, i64)>) -> [i64; 2] {
    let narrow = |value: i128| i64::try_from(value).ok();
    let (least, most) = base.range().unwrap_or((0, 0));
    match (narrow(least), narrow(most)) {
        (Some(least), Some(most)) => range.map_or([least, most], |(low, high)| [low.max(least), high.min(most)]),
        _ => range.map_or([i64::MIN, i64::MAX], |(low, high)| [low.max(0), high]),
    }
}

fn tested_method<'a>(model: &Model, plan: MethodPlan<'a>) -> TestedMethod<'a> {
    let parameter = || {
        plan.params.iter().find_map(|param| {
            let why = unsupported_reason(model, &plan, param)?;
            Some(format!("`{}` is {why}", param.param.name))
        })
    };
    let omission_reason = if plan.method.local { Some("it is [local]".to_owned()) } else { parameter() };
    let fields = if omission_reason.is_some() { Vec::new() } else { fields(model, &plan) };
    TestedMethod { plan, fields, omission_reason }
}

/// Returns the reason why test programs do not support a parameter. `None` for a supported
/// parameter.
fn unsupported_reason(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> Option<&'static str> {
    if model.layout(in_place(model, param.param)).0 > VALUE_BYTES {
        return Some("too large for a stack");
    }
    if param.param.transfer != Transfer::Frame {
        return Some("an array that is passed by reference, or lent");
    }
    match &param.passing {
        Passing::Optional(Type::Fixed(..)) => Some("an array of fixed size that may be null"),
        Passing::Value(_)
        | Passing::RefPointer(_)
        | Passing::Optional(_)
        | Passing::Text { .. }
        | Passing::OutText(_) => None,
        Passing::Array { element: Type::Fixed(..), .. } => Some("an array of arrays"),
        Passing::Array { size, .. } if !is_simple(plan, size) => {
            Some("an array whose size is no sum or multiple of arguments")
        }
        Passing::Array { length: Some(length), .. } => {
            let used = length.plain().map(|operand| &plan.params[operand.index]);
            let is_free = used.is_some_and(|used| used.param.direction == Direction::Out && used.param.range.is_none());
            (!is_free || length.plain().is_some_and(|operand| operand.base.size() == 1))
                .then_some("an array whose length is no result of its own")
        }
        Passing::Array { .. } => None,
        Passing::OutArray { element: Type::Fixed(..), .. } => Some("an array of arrays"),
        Passing::OutArray { .. } => None,
        Passing::Lent { .. } | Passing::Reference { .. } => Some("no array in the frame"),
        Passing::Object(_) | Passing::OutObject(_) => Some("an interface pointer"),
        Passing::Graph => Some("a structure with pointers, or a pointer to pointers"),
        Passing::Automation(_) => Some("a type of Automation's"),
        Passing::Raw(_) => Some("a pointer without a declared number of elements"),
    }
}

/// Whether an expression is never negative and grows with each argument.
fn is_simple(plan: &MethodPlan<'_>, size: &Arith) -> bool {
    match size {
        Arith::Const(value) => (0..=ARRAY_BYTES).contains(value),
        Arith::Operand(operand) => {
            let param = &plan.params[operand.index];
            param.param.direction.is_in()
                && matches!(param.passing, Passing::Value(Type::Base(_)) | Passing::RefPointer(Type::Base(_)))
        }
        Arith::Binary(operator, left, right) => {
            let constant = matches!(**left, Arith::Const(_)) || matches!(**right, Arith::Const(_));
            let divides = matches!(**right, Arith::Const(1..));
            let fits = operator == "+" || (operator == "*" && constant) || (operator == "/" && divides);
            fits && is_simple(plan, left) && is_simple(plan, right)
        }
        Arith::Unary(..) | Arith::Ternary(..) => false,
    }
}

/// Returns the value of an expression if one argument has the given value and all others are 0.
fn with(size: &Arith, index: usize, value: i64) -> i64 {
    match size {
        Arith::Const(value) => *value,
        Arith::Operand(operand) => {
            if operand.index == index {
                value
            } else {
                0
            }
        }
        Arith::Binary(operator, left, right) => {
            apply(operator, with(left, index, value), with(right, index, value)).unwrap_or(0)
        }
        Arith::Unary(..) | Arith::Ternary(..) => 0,
    }
}

fn fields(model: &Model, plan: &MethodPlan<'_>) -> Vec<Field> {
    let mut fields = Vec::new();
    for is_result in [false, true] {
        // Arrays come after their counts.
        for in_block in [true, false] {
            for param in plan.params.iter().filter(|param| param.passing.in_block() == in_block) {
                let travels = if is_result { param.param.direction.is_out() } else { param.param.direction.is_in() };
                if travels {
                    let kind = kind(model, plan, param, is_result);
                    fields.extend(kind.map(|kind| Field { name: field_name(param, is_result), kind, is_result }));
                }
            }
        }
    }
    fields
}

fn kind(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>, is_result: bool) -> Option<FieldKind> {
    Some(match &param.passing {
        Passing::Value(ty) | Passing::RefPointer(ty) => match (ty, counted(plan, param)) {
            (Type::Base(_), Counted::Rooms(_)) if is_result => {
                FieldKind::SameAsArgument(ty.clone(), field_name(param, false))
            }
            (Type::Base(base), Counted::Rooms(arrays)) => {
                FieldKind::Count(*base, edges(model, plan, param, *base, &arrays))
            }
            (Type::Base(base), Counted::Used(rooms)) => FieldKind::Used(*base, rooms),
            (Type::Base(base), Counted::Made(arrays)) => {
                FieldKind::Count(*base, edges(model, plan, param, *base, &arrays))
            }
            _ => FieldKind::Value(ty.clone(), param.param.range),
        },
        Passing::Optional(ty) => FieldKind::Optional(ty.clone()),
        Passing::Array { element, size, length } => {
            let count = length.as_ref().unwrap_or(size).clone();
            FieldKind::Array { element: element.clone(), count, is_text: param.param.is_filled_text() }
        }
        Passing::Text { base, optional } => text(param, *base, *optional, plan.request_block),
        Passing::OutText(base) => text(param, *base, false, plan.reply_block),
        Passing::OutArray { element, size } => {
            FieldKind::Array { element: element.clone(), count: size.clone(), is_text: false }
        }
        Passing::Lent { .. }
        | Passing::Reference { .. }
        | Passing::Object(_)
        | Passing::OutObject(_)
        | Passing::Graph
        | Passing::Automation(_)
        | Passing::Raw(_) => return None,
    })
}

fn text(param: &ParamPlan<'_>, base: Base, optional: bool, block: u32) -> FieldKind {
    FieldKind::Text { wide: base.size() == 2, utf8: param.param.utf8, optional, fit: text_fit(block, base) }
}

/// The arrays that a parameter counts.
enum Counted<'p> {
    Nothing,
    /// The room in these arrays.
    Rooms(Vec<&'p ParamPlan<'p>>),
    /// The number of used elements, with the room of each array.
    Used(Vec<Arith>),
    /// The elements of these arrays, which the method allocates.
    Made(Vec<&'p ParamPlan<'p>>),
}

fn counted<'p>(plan: &'p MethodPlan<'_>, param: &ParamPlan<'_>) -> Counted<'p> {
    let reads = |value: &Arith| {
        let mut found = false;
        value.operands(&mut |operand| found |= plan.params[operand.index].param.name == param.param.name);
        found
    };
    let (mut rooms, mut used, mut made) = (Vec::new(), Vec::new(), Vec::new());
    for array in &plan.params {
        match &array.passing {
            Passing::Array { size, .. } if reads(size) => rooms.push(array),
            Passing::Array { size, length: Some(length), .. } if reads(length) => used.push(size.clone()),
            Passing::OutArray { size, .. } if reads(size) => made.push(array),
            _ => {}
        }
    }
    match [rooms.is_empty(), used.is_empty(), made.is_empty()] {
        [false, ..] => Counted::Rooms(rooms),
        [_, false, _] => Counted::Used(used),
        [.., false] => Counted::Made(made),
        _ => Counted::Nothing,
    }
}

/// Returns the least count, the count with which the arrays just fit into a slot that holds nothing
/// else, and the greatest count.
fn edges(
    model: &Model,
    plan: &MethodPlan<'_>,
    param: &ParamPlan<'_>,
    base: Base,
    arrays: &[&ParamPlan<'_>],
) -> [i64; 3] {
    let index = plan.params.iter().position(|other| other.param.name == param.param.name).unwrap_or(0);
    // The bytes for a count of 100, the bytes for a count of 0, and the bytes of the block.
    let (mut unit, mut fixed, mut block) = (0, 0, 0);
    for array in arrays {
        if let Passing::Array { element, size, .. } | Passing::OutArray { element, size } = &array.passing {
            let (bytes, none) = (i64::from(model.layout(element).0), with(size, index, 0));
            let more = with(size, index, 100).saturating_sub(none);
            unit = bytes.saturating_mul(more).saturating_add(unit);
            fixed = bytes.saturating_mul(none).saturating_add(fixed).saturating_add(OBJECT_HEADER as i64);
            block = block.max(if array.param.direction.is_in() { plan.request_block } else { plan.reply_block });
        }
    }
    let unit = unit.max(100);
    let own = base.range().map_or(i64::MAX, |(_, most)| i64::try_from(most).unwrap_or(i64::MAX));
    let (low, high) = param.param.range.unwrap_or((0, i64::MAX));
    let least = low.max(0);
    let most = (100 * ARRAY_BYTES / unit).min(own).min(high).max(least);
    [least, (100 * fit(block, fixed) / unit).clamp(least, most), most]
}

/// Returns the number of bytes that fit into a slot after a block and `others` bytes.
fn fit(block: u32, others: i64) -> i64 {
    (i64::from(INLINE_MAX) - i64::from(block)).saturating_sub(others).max(0) / 8 * 8
}

/// Returns the length of a string that fits into a slot after a block, without the final zero.
fn text_fit(block: u32, base: Base) -> i64 {
    (fit(block, OBJECT_HEADER as i64) / i64::from(base.size()) - 1).max(0)
}
