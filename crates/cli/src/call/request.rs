//! Layout of a request's frame from JSON arguments.

use super::{Method, argument_text};
use crate::frame::{Writer, block};
use crate::value::Wrong;
use obvia_idl::model::{Extent, Type};
use obvia_idl::plan::{MethodPlan, ParamPlan, element_counts, in_place};
use serde_json::{Map, Value};

/// Returns the parameters that take arguments: the `[in]` ones without the counts of arrays.
pub(crate) fn arguments_of<'p, 'a>(plan: &'p MethodPlan<'a>) -> Vec<&'p ParamPlan<'a>> {
    let is_given = |at: usize, param: &ParamPlan<'_>| param.param.direction.is_in() && !is_counted(plan, at);
    plan.params.iter().enumerate().filter(|(at, param)| is_given(*at, param)).map(|(_, param)| param).collect()
}

/// Whether the parameter is only the count of an `[in]` array. The array's length gives the count.
fn is_counted(plan: &MethodPlan<'_>, count: usize) -> bool {
    let counts = |param: &ParamPlan<'_>| {
        let size = element_counts(param.param).map(|(size, _)| size);
        param.param.direction.is_in()
            && size.and_then(|size| size.plain()).is_some_and(|operand| operand.index == count)
    };
    plan.params[count].counts && plan.params.iter().any(counts)
}

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
pub(crate) fn frame(method: &Method<'_>, typed: &[String]) -> Result<Vec<u8>, Wrong> {
    let plan = &method.plan;
    let wanted = arguments_of(plan);
    if wanted.len() != typed.len() {
        let names: Vec<&str> = wanted.iter().map(|param| param.param.name.as_str()).collect();
        let list = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        let plural = if wanted.len() == 1 { "" } else { "s" };
        let count = wanted.len();
        return Err(Wrong::new(format!(
            "{} takes {count} argument{plural}{list}; {} given",
            method.name(),
            typed.len()
        )));
    }
    let mut values = Map::new();
    for (param, typed) in wanted.iter().zip(typed) {
        let value = argument(method, param, typed);
        if let (Some((least, most)), Some(number)) = (param.param.range, value.as_i64())
            && !(least..=most).contains(&number)
        {
            let wrong = format!("{number} is not between {least} and {most}");
            return Err(Wrong::new(wrong).within(&format!(".{}", param.param.name)).of_argument());
        }
        values.insert(param.param.name.clone(), value);
    }
    let layout = method.layout();
    let members = block(layout.model, plan, true);
    let frame = Writer::frame(layout, plan.request_block as usize, &members, &values).map_err(Wrong::of_argument)?;
    match layout.check(plan, true, &frame, &[]) {
        Ok(_) => Ok(frame),
        Err(flaw) => Err(Wrong::new(format!("the arguments contradict each other: {flaw}"))),
    }
}
