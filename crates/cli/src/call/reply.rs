//! Decoding of a reply's frame to JSON. The server is not trusted: the frame is checked before it
//! is read.

use super::Method;
use crate::frame::{Objects, Reader, block, number};
use obvia::dynamic::guid;
use obvia::dynamic::{Flaw, Object};
use obvia_idl::model::Type;
use serde_json::{Value, json};

/// One result.
pub(crate) enum Outcome {
    /// A value.
    Value(Value),
    /// An object, released on drop.
    Object(Object),
}

/// A sink for objects inside structures: describes and releases them.
struct Released<'a>(&'a Object);

impl Objects for Released<'_> {
    fn object(&mut self, reference: &[u8]) -> Option<Value> {
        let object = self.0.adopt(reference).ok()?;
        Some(json!({ "iid": guid::to_text(&object.iid()), "released": true }))
    }
}

/// Decodes the results, by name, in the order of the parameters.
///
/// # Errors
///
/// Fails when the frame does not match the interface.
pub(crate) fn results(
    method: &Method<'_>,
    object: &Object,
    request: &[u8],
    frame: &[u8],
) -> Result<Vec<(String, Outcome)>, Flaw> {
    let (plan, layout) = (&method.plan, method.layout());
    let outer = |index: usize| number(layout, plan, request, index);
    let (_, asked) = plan.block(layout.model, layout.kinds, false, |_| true);
    let numbers: Vec<i64> = asked.into_iter().map(|index| outer(index).unwrap_or(i64::MAX)).collect();
    let checked = layout.check(plan, false, frame, &numbers)?;
    let mut released = Released(object);
    let members = block(layout.model, plan, false);
    let mut reader = Reader::new(layout, frame, &checked, &mut released, &outer);
    let mut results = Vec::new();
    for (param, member) in plan.params.iter().zip(&members) {
        if !param.param.direction.is_out() || param.counts {
            continue;
        }
        let reference = if matches!(member.ty, Type::Interface(_)) { reader.reference(member) } else { None };
        let outcome = match reference {
            Some(reference) => object.adopt(reference).ok().map(Outcome::Object),
            None => reader.member(0, &members, member).map(Outcome::Value),
        };
        let unreadable = Flaw { at: member.at.unwrap_or(0), what: "the result cannot be read" };
        results.push((param.param.name.clone(), outcome.ok_or(unreadable)?));
    }
    Ok(results)
}
