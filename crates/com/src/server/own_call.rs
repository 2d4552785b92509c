//! The frames of the calls that the runtime performs itself, and the answers to all calls.

use super::caller::{Caller, caller, take_back_sent};
use crate::protocol::frame::aligned;
use crate::types::error::code;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use obvia_via::RegionView;
use std::sync::Arc;
use windows_core::HRESULT;

/// Performs a call by running `body`. An error status becomes a fault.
pub(crate) fn serve<'b>(
    call: &mut ServerCall<'b>,
    body: impl FnOnce(&mut ServerCall<'b>) -> Result<Answer, Status>,
) -> Answer {
    body(call).unwrap_or_else(fault)
}

/// Returns a fault as the answer to a call that was not performed, or whose results cannot be sent.
/// Takes back the references in the results.
#[cold]
#[inline(never)]
pub(crate) fn fault(status: Status) -> Answer {
    take_back_sent();
    Answer::fault(status)
}

/// Returns the request's frame, for arguments that consist of a block of `length` bytes.
///
/// # Errors
///
/// BAD_STUB_DATA when the frame has another length.
#[inline(always)]
pub(crate) fn block<'b>(call: &ServerCall<'b>, length: usize) -> Result<RegionView<'b>, Status> {
    if call.frame.len() == aligned(length) { Ok(call.frame) } else { Err(Status::BAD_STUB_DATA) }
}

/// Returns the request's frame, for arguments that begin with a block of `length` bytes.
///
/// # Errors
///
/// BAD_STUB_DATA when the frame is shorter than the block.
#[inline]
pub(crate) fn frame<'b>(call: &ServerCall<'b>, length: usize) -> Result<RegionView<'b>, Status> {
    if call.frame.len() >= aligned(length) { Ok(call.frame) } else { Err(Status::BAD_STUB_DATA) }
}

/// Returns the answer with the method's HRESULT and the results of `length` bytes in the last reply
/// frame. If the method failed, the results are not sent.
#[inline(always)]
pub fn results(result: HRESULT, length: usize) -> Answer {
    results_unpadded(result, aligned(length))
}

/// Returns the answer with the method's HRESULT only.
#[inline(always)]
pub fn no_results(result: HRESULT) -> Answer {
    Answer::results(result.0.cast_unsigned(), 0)
}

/// Returns the caller of the running call.
pub(crate) fn current_caller() -> Result<Arc<Caller>, Status> {
    caller().ok_or(Status::PROTOCOL_ERROR)
}

/// Answers a call with the bytes of its results, or with the HRESULT of the error.
pub(crate) fn answer(
    call: &mut ServerCall<'_>,
    outcome: crate::types::error::Result<Vec<u8>>,
) -> Result<Answer, Status> {
    let bytes = match outcome {
        Ok(bytes) => bytes,
        Err(error) => return Ok(no_results(error.code())),
    };
    let length = bytes.len().next_multiple_of(8);
    let frame = call.reply(length, 0).map_err(|_| Status::REMOTE_NO_MEMORY)?;
    frame[..bytes.len()].copy_from_slice(&bytes);
    frame[bytes.len()..].fill(0);
    Ok(results(code::S_OK, length))
}

/// Returns the answer as [`results`] does, without padding. The last array in the frame is one that
/// the method lends.
#[inline(always)]
pub fn results_unpadded(result: HRESULT, length: usize) -> Answer {
    Answer::results(result.0.cast_unsigned(), length)
}
