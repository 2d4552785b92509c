//! The frame of a request, from JSON arguments.

use super::{Method, expression};
use crate::value::{self, Wrong};
use obvia_idl::model::{Arith, Base, Direction, Type};
use obvia_idl::plan::{KIND_TEXT8, KIND_TEXT16, MethodPlan, ParamPlan, Passing};
use serde_json::Value;

/// Objects in a frame begin at multiples of this; a header of the same size is before each body.
const OBJECT_ALIGN: usize = 8;

/// An argument as it was typed, and as the JSON that it is.
struct Argument<'a> {
    typed: &'a str,
    json: Value,
}

impl<'a> Argument<'a> {
    fn new(typed: &'a str) -> Self {
        // What is no JSON is a word.
        let json = serde_json::from_str(typed).unwrap_or_else(|_| Value::String(typed.to_owned()));
        Self { typed, json }
    }

    /// As text: what is JSON by accident, as 123 and true are, stays as it was typed.
    fn text(&self) -> &str {
        self.json.as_str().unwrap_or(self.typed)
    }
}

/// The parameters that arguments are given for: the [in] ones without those that an array's own length tells.
pub(crate) fn given<'p, 'a>(plan: &'p MethodPlan<'a>) -> Vec<(usize, &'p ParamPlan<'a>)> {
    let is_given = |at: usize, param: &ParamPlan<'_>| param.param.direction.is_in() && counted(plan, at).is_none();
    plan.params.iter().enumerate().filter(|(at, param)| is_given(*at, param)).collect()
}

/// The array whose length a parameter is, where it is nothing else.
fn counted(plan: &MethodPlan<'_>, count: usize) -> Option<usize> {
    let is_counted = |param: &ParamPlan<'_>| match &param.passing {
        Passing::Array { size, .. } => {
            param.param.direction.is_in() && size.plain().is_some_and(|operand| operand.index == count)
        }
        _ => false,
    };
    plan.params.get(count).filter(|param| param.counts)?;
    plan.params.iter().position(is_counted)
}

/// Lays out a request's frame.
pub(crate) fn frame(method: &Method<'_>, typed: &[String]) -> Result<Vec<u8>, Wrong> {
    let plan = &method.plan;
    let wanted = given(plan);
    if wanted.len() != typed.len() {
        let names: Vec<&str> = wanted.iter().map(|(_, param)| param.param.name.as_str()).collect();
        let list = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        let plural = if wanted.len() == 1 { "" } else { "s" };
        let count = wanted.len();
        return Err(Wrong::new(format!(
            "{} takes {count} argument{plural}{list}; {} given",
            method.name(),
            typed.len()
        )));
    }
    let mut arguments: Vec<Option<Argument<'_>>> = plan.params.iter().map(|_| None).collect();
    for ((at, _), text) in wanted.iter().zip(typed) {
        arguments[*at] = Some(Argument::new(text));
    }
    let operands = operands(method, &arguments)?;
    let mut frame = vec![0; plan.request_block as usize];
    for direction in [Direction::In, Direction::InOut] {
        for (at, param) in plan.params.iter().enumerate().filter(|(_, param)| param.param.direction == direction) {
            let derived;
            let argument = match (&arguments[at], operands[at]) {
                (Some(argument), _) => argument,
                (None, Some(count)) => {
                    derived = Argument { typed: "", json: Value::from(count) };
                    &derived
                }
                (None, None) => continue,
            };
            place(method, param, argument, &operands, &mut frame).map_err(|wrong| about(param, wrong))?;
        }
    }
    frame.resize(frame.len().next_multiple_of(OBJECT_ALIGN), 0);
    Ok(frame)
}

fn about(param: &ParamPlan<'_>, wrong: Wrong) -> Wrong {
    Wrong::new(format!("argument `{}`: {wrong}", param.param.name))
}

/// The integers among the parameters, those included that arrays tell.
fn operands(method: &Method<'_>, arguments: &[Option<Argument<'_>>]) -> Result<Vec<Option<i64>>, Wrong> {
    let model = &method.described.model;
    let mut operands = Vec::new();
    for (at, param) in method.plan.params.iter().enumerate() {
        if let Some(array) = counted(&method.plan, at) {
            let elements = arguments[array].as_ref().and_then(|argument| argument.json.as_array());
            operands.push(elements.and_then(|elements| i64::try_from(elements.len()).ok()));
            continue;
        }
        let number = match (&param.passing, &arguments[at]) {
            (Passing::Value(ty) | Passing::Place(ty), Some(argument)) => match ty {
                Type::Enum(id) => value::enum_number(model, *id, &argument.json).ok().map(i64::from),
                Type::Base(Base::Boolean) => argument.json.as_bool().map(i64::from),
                _ => argument.json.as_i64(),
            },
            _ => None,
        };
        if let (Some((least, most)), Some(number)) = (param.param.range, number)
            && !(least..=most).contains(&number)
        {
            return Err(about(param, Wrong::new(format!("{number} is not between {least} and {most}"))));
        }
        operands.push(number);
    }
    Ok(operands)
}

fn place(
    method: &Method<'_>,
    param: &ParamPlan<'_>,
    argument: &Argument<'_>,
    operands: &[Option<i64>],
    frame: &mut Vec<u8>,
) -> Result<(), Wrong> {
    let model = &method.described.model;
    let slot = param.request.unwrap_or(0) as usize;
    match &param.passing {
        Passing::Value(ty) | Passing::Place(ty) => {
            let size = model.layout(ty).0 as usize;
            let place = frame.get_mut(slot..slot + size).ok_or_else(|| Wrong::new("the frame is too short"))?;
            value::write(model, ty, &argument.json, place)
        }
        Passing::Optional(ty) => {
            if argument.json.is_null() {
                return Ok(());
            }
            let mut body = vec![0; model.layout(ty).0 as usize];
            value::write(model, ty, &argument.json, &mut body)?;
            append(frame, slot, method.kind(ty), 1, &body)
        }
        Passing::Array { element, size, .. } => {
            let values = argument
                .json
                .as_array()
                .ok_or_else(|| Wrong::new(format!("expected an array, found {}", crate::json::kind(&argument.json))))?;
            check_count(size, operands, values.len())?;
            let mut body = vec![0; values.len() * model.layout(element).0 as usize];
            value::write_elements(model, element, values, &mut body)?;
            append(frame, slot, method.kind(element), values.len(), &body)
        }
        Passing::Text { optional: true, .. } if argument.json.is_null() => Ok(()),
        Passing::Text { base, .. } => text(frame, slot, *base, argument.text()),
        Passing::Object(_) if argument.json.is_null() => Ok(()),
        Passing::Object(_) => Err(Wrong::new("an object cannot be given here, only null")),
        _ => Err(Wrong::new("parameters of this form cannot be given here yet")),
    }
}

fn check_count(size: &Arith, operands: &[Option<i64>], found: usize) -> Result<(), Wrong> {
    match expression::value(size, operands) {
        Some(wanted) if i64::try_from(found) == Ok(wanted) => Ok(()),
        Some(wanted) => {
            Err(Wrong::new(format!("by the other arguments it has {wanted} elements, but {found} are given")))
        }
        None => Err(Wrong::new("the other arguments give its number of elements no value")),
    }
}

fn text(frame: &mut Vec<u8>, slot: usize, base: Base, text: &str) -> Result<(), Wrong> {
    if text.contains('\0') {
        return Err(Wrong::new("a string ends at its first zero, so it cannot have one inside"));
    }
    if base.size() == 2 {
        let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
        let body: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        return append(frame, slot, KIND_TEXT16, units.len(), &body);
    }
    let body: Vec<u8> = text.bytes().chain([0]).collect();
    append(frame, slot, KIND_TEXT8, body.len(), &body)
}

/// Appends an object: slot, header, body.
fn append(frame: &mut Vec<u8>, slot: usize, kind: u32, count: usize, body: &[u8]) -> Result<(), Wrong> {
    let too_long = || Wrong::new("too long for a frame");
    let count = u32::try_from(count).map_err(|_| too_long())?;
    frame.resize(frame.len().next_multiple_of(OBJECT_ALIGN), 0);
    frame.extend(kind.to_le_bytes());
    frame.extend(count.to_le_bytes());
    let at = u32::try_from(frame.len()).map_err(|_| too_long())?;
    frame.extend(body);
    frame.get_mut(slot..slot + 4).ok_or_else(too_long)?.copy_from_slice(&at.to_le_bytes());
    Ok(())
}
