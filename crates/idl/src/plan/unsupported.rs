//! Declarations that no back end can pass to other processes yet.

use super::passing::is_in_block;
use super::types::{counts, has_context, in_place, is_plain};
use crate::model::{
    Arith, Extent, Interface, InterfaceId, Method, Model, Object, Operand, Param, PointerClass, Type, Unsupported,
    Varying,
};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;

/// Returns errors for the parts of an interface that a back end does not support yet. `language` is
/// the name of the back end's language in messages. `[local]` methods do not travel, but may have
/// values whose form in memory the model does not have. `writes_local` says whether the back end
/// writes these methods.
pub(crate) fn unsupported(model: &Model, id: InterfaceId, language: &str, writes_local: bool) -> Vec<Diagnostic> {
    unsupported_by(model, id, &format!("the {language} back end"), writes_local)
}

/// Returns errors for the parts of an interface that no caller and no object supports yet, for
/// programs without generated code. `program` is the name of the program in messages, such as ``
/// `obvia call` ``. [`crate::frames`] does not look for these parts itself.
pub fn refusals(model: &Model, id: InterfaceId, program: &str) -> Vec<Diagnostic> {
    unsupported_by(model, id, program, false)
}

/// Returns the errors of [`unsupported`] or of [`refusals`]. `who` names the back end or the
/// program in messages.
fn unsupported_by(model: &Model, id: InterfaceId, who: &str, writes_local: bool) -> Vec<Diagnostic> {
    let found = &model.interfaces[id.0];
    let mut lineage = model.lineage(id).into_iter().map(|id| &model.interfaces[id.0]);
    if let (false, Some(base)) = (found.local, lineage.find(|base| base.local)) {
        let (name, base_name) = (&found.name, &base.name);
        let text =
            format!("interface `{name}` extends the [local] interface `{base_name}`, which {who} does not support yet");
        let error = Diagnostic::error("not-yet", found.span, text).related(base.span, "this interface");
        return vec![error.help(format!("declare `{name}` [local], too, or let it extend another interface"))];
    }
    let methods = model.all_methods(id).into_iter();
    methods.filter_map(|method| of_method(model, found, method, who, writes_local)).collect()
}

/// Returns the error for a method of an interface, in the form of [`unsupported_by`]. `None` if the
/// method can be called.
pub(super) fn of_method(
    model: &Model,
    interface: &Interface,
    method: &Method,
    who: &str,
    writes_local: bool,
) -> Option<Diagnostic> {
    let Reason { span, what, bare } = match method.local {
        true if method.unpassed.is_some() => None,
        true if interface.local => local_reason(model, method),
        true if writes_local => mixed_reason(model, interface, method),
        true => None,
        false => reason(model, method),
    }?;
    let name = &method.name;
    let text = match bare {
        Some(_) => format!("method `{name}` cannot be passed by {who} yet: {what}"),
        None => format!("method `{name}` {what}, which {who} does not support yet"),
    };
    let error = Diagnostic::error("not-yet", span, text);
    Some(match bare.map(|id| &model.interfaces[id.0]) {
        Some(bare) => error.related(bare.span, "this interface").help(format!(
            "declare `{}` with a UUID and a base; if no other process calls the method, declare its interface [local]",
            bare.name
        )),
        None => error
            .help("compile with --permissive to keep the method within its process, declare the interface [local], or leave the method out"),
    })
}

/// The reason why a method is refused.
struct Reason {
    /// The place of the parameter or the method.
    span: Span,
    /// The reason, as a part of a sentence that begins with the method's name, or as a sentence if
    /// an interface is the reason.
    what: String,
    /// The interface that is the reason. `None` for other reasons.
    bare: Option<InterfaceId>,
}

/// Returns the reason why a method cannot be called even within one process. `None` if the method
/// can be called.
fn local_reason(model: &Model, method: &Method) -> Option<Reason> {
    method.params.iter().find_map(|param| {
        let shape = param.unsupported.clone().filter(|_| param.memory.is_some());
        let leads = || model.unsupported.get(model.innermost(&param.ty)).filter(|why| **why == Unsupported::AUTOMATION);
        let (why, bare) = shape.map(|why| (why, None)).or_else(|| Some(unsupported_reason(model, leads()?)))?;
        Some(of_parameter(param, why, bare))
    })
}

/// Returns the reason why a `[local]` method cannot be in an interface with methods that travel.
fn mixed_reason(model: &Model, interface: &Interface, method: &Method) -> Option<Reason> {
    let what = if method.returns_directly() {
        "is [local] and returns no HRESULT, in an interface that other processes call"
    } else if interface.plain {
        "is [local] in an interface of functions"
    } else if interface.dual {
        "is [local] in an interface whose methods are called by name"
    } else {
        return local_reason(model, method);
    };
    Some(Reason { span: method.span, what: what.to_owned(), bare: None })
}

fn of_parameter(param: &Param, why: String, bare: Option<InterfaceId>) -> Reason {
    let what = match bare {
        Some(_) => format!("its parameter `{}` {why}", param.name),
        None => format!("has a parameter `{}` that {why}", param.name),
    };
    Reason { span: param.span, what, bare }
}

fn reason(model: &Model, method: &Method) -> Option<Reason> {
    method.params.iter().find_map(|param| {
        let shape = param.unsupported.clone().or_else(|| unchangeable(model, param)).map(|why| (why, None));
        let of_type = || type_reason(model, model.innermost(&param.ty));
        let of_operands = || Some((operand_reason(model, method, param)?, None));
        let (why, bare) = shape.or_else(of_type).or_else(of_operands)?;
        Some(of_parameter(param, why, bare))
    })
}

/// Returns the reason why a method cannot change data behind a pointer that may be null, as a part
/// of a sentence. `None` if the method can, and for other parameters.
fn unchangeable(model: &Model, param: &Param) -> Option<String> {
    if !param.is_optional_in_out() {
        return None;
    }
    let is_plain = match &param.ty {
        Type::Pointer(pointer) if pointer.class == PointerClass::Unique && param.memory.is_none() => {
            !matches!(pointer.extent, Extent::Text | Extent::Counted { length: Some(_), .. })
                && is_plain(model, &pointer.to)
                && !has_context(model, &pointer.to)
        }
        _ => false,
    };
    (!is_plain).then(|| "is [in, out], may be null, and leads to more than plain values".to_owned())
}

/// The parameters that determine a property of another parameter, such as the size of its array.
struct Source {
    /// The property, as the beginning of a clause: `an array whose size`.
    property: &'static str,
    operands: Vec<Operand>,
    /// Whether the property is needed before the call.
    is_before_call: bool,
}

impl Source {
    fn of_value(property: &'static str, value: &Arith, is_before_call: bool) -> Self {
        let mut operands = Vec::new();
        value.operands(&mut |operand| operands.push(operand.clone()));
        Self { property, operands, is_before_call }
    }
}

/// Returns the sources of all properties of a parameter.
fn sources(model: &Model, param: &Param) -> Vec<Source> {
    let is_in = param.direction.is_in();
    let block = in_place(model, param);
    let mut sources = Vec::new();
    if let Some((size, length)) = counts(block) {
        // The room in the caller's memory is needed before the call, unlike the size of an array
        // that the method allocates.
        let is_room = is_in || std::ptr::eq(block, &raw const param.ty);
        sources.push(Source::of_value("an array whose size", size, is_room));
        sources.extend(length.map(|length| Source::of_value("an array whose length", length, is_in)));
    }
    if let Some(Varying::Length(length)) = &param.varying {
        sources.push(Source::of_value("an array whose length", length, is_in));
    }
    if let Type::Interface(Object::IidIs(operand)) = model.innermost(&param.ty) {
        let (property, operands) = ("an object whose IID", vec![operand.clone()]);
        sources.push(Source { property, operands, is_before_call: is_in });
    }
    let switch = param.switch.as_ref();
    sources.extend(switch.map(|switch| Source::of_value("a union whose discriminant", switch, is_in)));
    sources
}

/// Returns the reason why a property of a parameter cannot be determined, as a part of a sentence.
/// Either the property depends on a value that may be missing, or the property is needed before the
/// call although it depends on a result. `None` if every property can be determined.
fn operand_reason(model: &Model, method: &Method, param: &Param) -> Option<String> {
    let reason = |Source { property, operands, is_before_call }: Source| {
        operands.iter().filter_map(|operand| method.params.get(operand.index)).find_map(|read| {
            if !is_in_block(model, read) {
                return Some(format!("is {property} is behind a pointer that may be null"));
            }
            (is_before_call && !read.direction.is_in()).then(|| format!("is {property} depends on a result"))
        })
    };
    let of_elements = || elements_read_parameters(in_place(model, param)).then(|| ELEMENTS_READ_PARAMETERS.to_owned());
    sources(model, param).into_iter().find_map(reason).or_else(of_elements)
}

const ELEMENTS_READ_PARAMETERS: &str = "leads through other pointers to an array whose size depends on a parameter";

/// Whether a type leads through another pointer or array to an array whose size or length depends
/// on parameters. A table describes each type once, so the sizes in it cannot read parameters.
fn elements_read_parameters(ty: &Type) -> bool {
    let element = match ty {
        Type::Pointer(pointer) => &pointer.to,
        Type::Fixed(element, _) => &**element,
        _ => return false,
    };
    let mut reads = false;
    if let Some((size, length)) = counts(element) {
        size.operands(&mut |_| reads = true);
        length.into_iter().for_each(|length| length.operands(&mut |_| reads = true));
    }
    reads || elements_read_parameters(element)
}

/// Returns the reason why no other process can get a value of a type, as a part of a sentence that
/// begins with the value's name. If the reason is a bare interface, returns the interface, too.
/// `None` if the type is supported.
fn type_reason(model: &Model, ty: &Type) -> Option<(String, Option<InterfaceId>)> {
    if let Type::Interface(Object::Known(id)) = ty
        && let Interface { name, bare: Some(bare), .. } = &model.interfaces[id.0]
    {
        return Some((format!("is an object of `{name}`, which {bare}"), Some(*id)));
    }
    let unsupported = model.unsupported.get(ty).map(|why| unsupported_reason(model, why));
    unsupported.or_else(|| {
        let found = model.opaque.get(ty)?;
        Some((format!("leads to `{}`, {}", name(model, &found.of), found.why), None))
    })
}

/// Returns the reason in the form of [`type_reason`].
fn unsupported_reason(model: &Model, why: &Unsupported) -> (String, Option<InterfaceId>) {
    match why {
        Unsupported::Form(form) => (format!("leads to {form}"), None),
        Unsupported::Bare { of, interface: id } => {
            let Interface { name: interface, bare, .. } = &model.interfaces[id.0];
            let (of, bare) = (name(model, of), bare.unwrap_or_default());
            (format!("leads to `{of}`, which has a pointer to `{interface}`, which {bare}"), Some(*id))
        }
    }
}

/// Returns the name of a structure or a union.
fn name<'m>(model: &'m Model, ty: &Type) -> &'m str {
    model.named(ty).map_or("", |(name, _)| name)
}
