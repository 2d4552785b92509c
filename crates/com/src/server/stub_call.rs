//! The frames of a call in its stub, and the answers.

use super::caller::{Caller, caller, take_back_sent};
use crate::error::code;
use crate::frame::aligned;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use obvia_via::RegionView;
use std::sync::Arc;
use windows_core::HRESULT;

/// Runs the body of a stub. If it fails, the method was not called, or its results cannot be sent.
#[inline(always)]
pub fn serve<'b>(
    call: &mut ServerCall<'b>,
    body: impl FnOnce(&mut StubCall<'_, 'b>) -> Result<Answer, Status>,
) -> Answer {
    match body(&mut StubCall::new(call)) {
        Ok(answer) => answer,
        Err(status) => fault(status),
    }
}

#[cold]
#[inline(never)]
fn fault(status: Status) -> Answer {
    take_back_sent();
    Answer::fault(status)
}

/// A call in its stub.
pub struct StubCall<'a, 'b> {
    pub(crate) call: &'a mut ServerCall<'b>,
    // The number of words of the scratch memory that this call uses.
    pub(crate) used: usize,
}

impl<'a, 'b> StubCall<'a, 'b> {
    #[inline]
    pub(crate) fn new(call: &'a mut ServerCall<'b>) -> Self {
        Self { call, used: 0 }
    }

    /// Returns the request's frame, for arguments that consist of a block of `length` bytes.
    ///
    /// # Errors
    ///
    /// BAD_STUB_DATA when the frame has another length.
    #[inline(always)]
    pub fn block(&self, length: usize) -> Result<RegionView<'b>, Status> {
        let frame = self.call.frame;
        if frame.len() == aligned(length) { Ok(frame) } else { Err(Status::BAD_STUB_DATA) }
    }

    /// Returns the request's frame, for a method with arrays after a block of `length` bytes.
    ///
    /// # Errors
    ///
    /// BAD_STUB_DATA when the frame is shorter than the block.
    #[inline]
    pub fn frame(&self, length: usize) -> Result<RegionView<'b>, Status> {
        let frame = self.call.frame;
        if frame.len() >= aligned(length) { Ok(frame) } else { Err(Status::BAD_STUB_DATA) }
    }

    /// Returns the underlying call, for methods that are not plain.
    pub(crate) fn inner(&mut self) -> &mut ServerCall<'b> {
        self.call
    }
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
pub(crate) fn who() -> Result<Arc<Caller>, Status> {
    caller().ok_or(Status::PROTOCOL_ERROR)
}

/// Answers a call.
pub(crate) fn answer(call: &mut StubCall<'_, '_>, outcome: crate::error::Result<Vec<u8>>) -> Result<Answer, Status> {
    let bytes = match outcome {
        Ok(bytes) => bytes,
        Err(error) => return Ok(no_results(error.code())),
    };
    let length = bytes.len().next_multiple_of(8);
    let frame = call.inner().reply(length, 0).map_err(|_| Status::REMOTE_NO_MEMORY)?;
    frame[..bytes.len()].copy_from_slice(&bytes);
    frame[bytes.len()..].fill(0);
    Ok(results(code::S_OK, length))
}

/// Returns the answer for a frame that ends with an array that the method lends.
#[inline(always)]
pub fn results_unpadded(result: HRESULT, length: usize) -> Answer {
    Answer::results(result.0.cast_unsigned(), length)
}
