//! Layout of a request's frame from JSON arguments.

use super::{Method, argument_text};
use crate::values::{Argument, NoObjects};
use obvia_idl::frames::Wrong;
use obvia_idl::model::{Extent, Type};
use obvia_idl::plan::{ParamPlan, in_place};
use serde_json::Value;

/// Parses an argument as JSON. Text that is no JSON is a string; arguments of string parameters
/// stay as typed.
fn argument(method: &Method<'_>, param: &ParamPlan<'_>, typed: &str) -> Value {
    let is_text = matches!(in_place(&method.described.model, param.param), Type::Pointer(pointer) if pointer.extent == Extent::Text);
    match argument_text::json(typed) {
        Some(Value::Number(_) | Value::Bool(_)) if is_text => Value::String(typed.to_owned()),
        Some(value) => value,
        None => Value::String(typed.to_owned()),
    }
}

/// Lays out the frame of a request.
pub(super) fn frame(method: &Method<'_>, typed: &[String]) -> Result<Vec<u8>, Wrong> {
    let (frames, params) = (&method.frames, &method.plan().params);
    let wanted = frames.plan().arguments();
    if wanted.len() != typed.len() {
        let names: Vec<&str> = wanted.iter().map(|at| params[*at].param.name.as_str()).collect();
        let list = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        let plural = if wanted.len() == 1 { "" } else { "s" };
        let count = wanted.len();
        return Err(Wrong::new(format!(
            "{} takes {count} argument{plural}{list}; {} given",
            method.name(),
            typed.len()
        )));
    }
    let given: Vec<Value> = wanted.iter().zip(typed).map(|(at, typed)| argument(method, &params[*at], typed)).collect();
    let mut values = vec![None; params.len()];
    for (at, value) in wanted.into_iter().zip(&given) {
        values[at] = Some(Argument(value));
    }
    frames.write(true, &values, &mut NoObjects, &|_| None).map_err(Wrong::of_argument)
}
