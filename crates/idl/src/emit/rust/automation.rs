//! Automation types: their forms for users and in vtables, and the conversions by proxies and
//! stubs.

use super::context::Context;
use super::names::binding;
use crate::model::{Direction, Memory, Type};
use crate::plan::{KIND_FIRST, ParamPlan, Passing, in_place};
use crate::text::writer::Writer;

/// Returns a parameter's type in memory, if it differs from the type that travels.
pub(super) fn memory(param: &ParamPlan<'_>) -> Option<Memory> {
    if let Passing::Automation(memory) = param.passing { Some(memory) } else { None }
}

const fn name(memory: Memory) -> &'static str {
    match memory {
        Memory::Bstr => "obvia::Bstr",
        Memory::Variant => "obvia::Variant",
        Memory::SafeArray(_) => "obvia::SafeArray",
    }
}

/// Returns the type of a parameter in the vtable.
pub(super) fn abi(memory: Memory, param: &ParamPlan<'_>) -> String {
    let name = name(memory);
    match param.param.direction {
        Direction::In if memory.is_by_value(param.param) => format!("std::mem::ManuallyDrop<{name}>"),
        Direction::In => format!("*const {name}"),
        _ => format!("*mut {name}"),
    }
}

/// Returns the type of a parameter as users pass it. `None` for results.
pub(super) fn argument(memory: Memory, param: &ParamPlan<'_>) -> Option<String> {
    match param.param.direction {
        Direction::In => Some(format!("&{}", name(memory))),
        Direction::InOut => Some(format!("&mut {}", name(memory))),
        Direction::Out => None,
    }
}

/// Returns the type of a result. `None` for other parameters.
pub(super) fn result(memory: Memory, param: &ParamPlan<'_>) -> Option<String> {
    (param.param.direction == Direction::Out).then(|| name(memory).to_owned())
}

/// Returns the expression that converts an argument from the user's form to the vtable's form.
pub(super) fn to_abi(memory: Memory, param: &ParamPlan<'_>) -> String {
    let name = binding(&param.param.code);
    match param.param.direction {
        Direction::In if memory.is_by_value(param.param) => format!("obvia::rt::lent_value({name})"),
        Direction::In | Direction::InOut => name,
        Direction::Out => format!("&mut {name}"),
    }
}

/// Returns the expression that converts an argument from the vtable's form to the form of the
/// trait's method. `None` for results, and if there is nothing to convert.
pub(super) fn from_abi(param: &ParamPlan<'_>) -> Option<String> {
    let name = binding(&param.param.code);
    match param.param.direction {
        Direction::In if memory(param).is_some_and(|memory| memory.is_by_value(param.param)) => None,
        Direction::In => Some(format!("&*{name}")),
        Direction::InOut => Some(format!("&mut *{name}")),
        Direction::Out => None,
    }
}

/// Writes the code that clears the results at the start of a proxy, so that the results are empty
/// if the call fails.
pub(super) fn clear(out: &mut Writer, params: &[ParamPlan<'_>]) {
    for param in params.iter().filter(|param| memory(param).is_some() && param.param.direction == Direction::Out) {
        out.line("// SAFETY: by COM's rules, the caller's pointer is writable.");
        out.line(format!("unsafe {{ obvia::rt::clear_result({}) }}?;", binding(&param.param.code)));
    }
}

/// Writes the conversion of an argument into the request.
pub(super) fn put(out: &mut Writer, param: &ParamPlan<'_>, memory: Memory) {
    let (name, at) = (binding(&param.param.code), param.request.unwrap_or(0));
    let by_value = param.param.direction == Direction::In && memory.is_by_value(param.param);
    let from = if by_value { format!("&raw const *{name}") } else { name };
    out.line("// SAFETY: by COM's rules, the caller's pointer is readable.");
    out.line(format!("image.put({at}, unsafe {{ obvia::rt::to_wire({from}, &mut wires) }}?);"));
}

/// Writes the conversion of a result. All results are converted before the first is given to the
/// caller.
pub(super) fn take(out: &mut Writer, param: &ParamPlan<'_>, memory: Memory) {
    let (raw, at) = (&param.param.code, param.reply.unwrap_or(0));
    out.line(format!("let {raw}_wire = results.pointer({at});"));
    out.line("// SAFETY: the reply was checked.");
    let ty = name(memory);
    out.line(format!("let {raw}_value = unsafe {{ <{ty} as obvia::rt::Automation>::from_wire({raw}_wire) }}?;"));
}

/// Writes the statement that gives the caller a result.
pub(super) fn give(out: &mut Writer, param: &ParamPlan<'_>) {
    let (name, raw) = (binding(&param.param.code), &param.param.code);
    out.line("// SAFETY: by COM's rules, the caller's pointer is writable.");
    out.line(format!("unsafe {{ *{name} = {raw}_value }};"));
}

/// Writes the statement that frees the received form of a result.
pub(super) fn free(out: &mut Writer, context: &Context<'_>, types: &str, param: &ParamPlan<'_>) {
    let Type::Pointer(pointer) = in_place(context.model, param.param) else { return };
    let (raw, kind) = (&param.param.code, context.kind(&pointer.to) - KIND_FIRST);
    out.line("// SAFETY: this function owns the value that was sent, and has converted it.");
    out.line(format!("unsafe {{ obvia::rt::free_wire({raw}_wire, {kind}, &{types}) }};"));
}

/// Declares the variable for a parameter of the method.
pub(super) fn prepare(out: &mut Writer, param: &ParamPlan<'_>, memory: Memory) {
    let (raw, ty) = (&param.param.code, name(memory));
    let Some(at) = param.request else {
        return out.line(format!("let mut {raw}_value = {ty}::default();"));
    };
    let mutable = if param.param.direction == Direction::InOut { "mut " } else { "" };
    out.line("// SAFETY: the request was checked.");
    out.line(format!("let {mutable}{raw}_value: {ty} = unsafe {{ obvia::rt::from_wire(arguments.get({at})) }}?;"));
}

/// Returns the argument for the method.
pub(super) fn method_argument(param: &ParamPlan<'_>, memory: Memory) -> String {
    let raw = &param.param.code;
    match param.param.direction {
        Direction::In if memory.is_by_value(param.param) => format!("obvia::rt::lent_value(&{raw}_value)"),
        Direction::In => format!("&{raw}_value"),
        _ => format!("&mut {raw}_value"),
    }
}

/// Writes the conversion of a result into the reply. If the conversion fails, `failing` frees the
/// results that are already in the reply.
pub(super) fn respond(out: &mut Writer, param: &ParamPlan<'_>, failing: &str) {
    let (raw, at) = (&param.param.code, param.reply.unwrap_or(0));
    out.line(format!("match obvia::rt::wire_result(result, &{raw}_value) {{"));
    out.line(format!("Ok(wire) => image.put({at}, wire),"));
    out.line("Err(outcome) => {");
    out.line("// SAFETY: by COM's rules, results are as the interface describes them, and the caller owns them.");
    out.line(format!("unsafe {{ image.free({failing}) }};"));
    out.line("return Err(outcome);");
    out.line("}");
    out.line("}");
}
