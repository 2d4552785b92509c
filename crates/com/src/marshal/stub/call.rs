//! A call in its stub, and the body of a stub.

use crate::server::own_call;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use obvia_via::RegionView;

/// Runs the body of a stub. If the body fails, the answer is a fault: the method was not called, or
/// its results cannot be sent.
#[inline(always)]
pub fn serve<'b>(
    call: &mut ServerCall<'b>,
    body: impl FnOnce(&mut StubCall<'_, 'b>) -> Result<Answer, Status>,
) -> Answer {
    match body(&mut StubCall::new(call)) {
        Ok(answer) => answer,
        Err(status) => own_call::fault(status),
    }
}

/// A call in its stub.
pub struct StubCall<'a, 'b> {
    pub(super) call: &'a mut ServerCall<'b>,
    // The number of words of the scratch memory that this call uses.
    pub(super) used: usize,
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
        own_call::block(self.call, length)
    }

    /// Returns the request's frame, for a method with arrays after a block of `length` bytes.
    ///
    /// # Errors
    ///
    /// BAD_STUB_DATA when the frame is shorter than the block.
    #[inline]
    pub fn frame(&self, length: usize) -> Result<RegionView<'b>, Status> {
        own_call::frame(self.call, length)
    }

    /// Returns the underlying call, for methods that are not plain.
    pub(crate) fn inner(&mut self) -> &mut ServerCall<'b> {
        self.call
    }
}
