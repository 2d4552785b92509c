//! The results in the frame of a reply, as JSON. The frame is the server's: everything in it is checked.

use super::Method;
use crate::value;
use obvia::dynamic::Object;
use obvia_idl::model::{Base, Type};
use obvia_idl::plan::{KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16, ParamPlan, Passing};
use serde_json::{Value, json};

/// One result.
pub(crate) enum Outcome {
    /// A value.
    Value(Value),
    /// An object; it is released when this is dropped.
    Object(Object),
}

/// The results by name, in the order of the parameters. `None` when the frame is not what the interface says.
pub(crate) fn results(method: &Method<'_>, object: &Object, frame: &[u8]) -> Option<Vec<(String, Outcome)>> {
    let outwards = method.plan.params.iter().filter(|param| param.param.direction.is_out() && !param.counts);
    outwards.map(|param| Some((param.param.name.clone(), result(method, object, param, frame)?))).collect()
}

fn result(method: &Method<'_>, object: &Object, param: &ParamPlan<'_>, frame: &[u8]) -> Option<Outcome> {
    let model = &method.described.model;
    let slot = param.reply? as usize;
    let value = match &param.passing {
        Passing::Value(ty) | Passing::Place(ty) => in_range(param, value::read(model, ty, frame.get(slot..)?)?)?,
        Passing::Array { element, .. } | Passing::OutArray { element, .. } => {
            let size = model.layout(element).0 as usize;
            match body(frame, slot, method.kind(element), size)? {
                None => Value::Null,
                Some((count, bytes)) => value::read_elements(model, element, count, bytes)?,
            }
        }
        Passing::OutText(base) => text(frame, slot, *base)?,
        Passing::OutObject(_) => match body(frame, slot, KIND_INTERFACE, 1)? {
            None => Value::Null,
            Some((_, reference)) => return Some(Outcome::Object(object.adopt(reference).ok()?)),
        },
        _ => return None,
    };
    Some(Outcome::Value(value))
}

fn in_range(param: &ParamPlan<'_>, value: Value) -> Option<Value> {
    let fits = match (param.param.range, value.as_i64()) {
        (Some((least, most)), Some(number)) => (least..=most).contains(&number),
        _ => true,
    };
    fits.then_some(value)
}

/// Count and bytes of the object that a slot refers to. `None` inside for a null slot.
fn body(frame: &[u8], slot: usize, kind: u32, size: usize) -> Option<Option<(usize, &[u8])>> {
    let word = |at: usize| Some(u32::from_le_bytes(*frame.get(at..)?.first_chunk()?));
    let (start, rest) = (word(slot)? as usize, word(slot + 4)?);
    if rest != 0 {
        return None;
    }
    if start == 0 {
        return Some(None);
    }
    let header = start.checked_sub(8)?;
    if word(header)? != kind {
        return None;
    }
    let count = word(header + 4)? as usize;
    let bytes = frame.get(start..start.checked_add(count.checked_mul(size)?)?)?;
    Some(Some((count, bytes)))
}

fn text(frame: &[u8], slot: usize, base: Base) -> Option<Value> {
    if base.size() == 2 {
        let Some((_, bytes)) = body(frame, slot, KIND_TEXT16, 2)? else { return Some(Value::Null) };
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        let (&end, units) = units.split_last()?;
        return (end == 0).then(|| json!(String::from_utf16_lossy(units)));
    }
    let Some((_, bytes)) = body(frame, slot, KIND_TEXT8, 1)? else { return Some(Value::Null) };
    let (&end, bytes) = bytes.split_last()?;
    (end == 0).then(|| json!(String::from_utf8_lossy(bytes)))
}

/// The types of elements, in the order in which an interface's type numbers are given.
pub(crate) fn kinds<'p>(params: impl Iterator<Item = &'p ParamPlan<'p>>) -> Vec<Type> {
    let mut kinds: Vec<Type> = Vec::new();
    for param in params {
        if let Passing::Array { element, .. } | Passing::OutArray { element, .. } | Passing::Optional(element) =
            &param.passing
            && !kinds.contains(element)
        {
            kinds.push(element.clone());
        }
    }
    kinds
}
