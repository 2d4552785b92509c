//! The results in a reply's frame. The server is not trusted: the frame is checked before it is
//! read.

use super::Method;
use crate::values::{Json, Outcome};
use obvia::dynamic::Object;
use obvia_idl::frames::Flaw;

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
    let frames = &method.frames;
    let outer = |index: usize| frames.number(request, index);
    let mut json = Json { model: frames.model(), objects: object };
    let mut reading = frames.read(false, frame, &outer, &mut json)?;
    if frames.one_sided_null(request, |index| frames.is_null(frame, index)).is_some() {
        return Err(Flaw {
            at: 0,
            what: "an [in, out, unique] parameter must be null exactly if it is null in the request",
        });
    }
    let mut results = Vec::new();
    for index in frames.plan().results() {
        let param = &frames.plan().params[index];
        let at = param.reply.unwrap_or(0) as usize;
        let outcome = reading.value(index).ok_or(Flaw { at, what: "the result cannot be read" })?;
        results.push((param.param.name.clone(), outcome));
    }
    Ok(results)
}
