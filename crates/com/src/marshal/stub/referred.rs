//! Arrays by reference: they lie in memory that the caller shares.

use super::StubCall;
use crate::protocol::frame::Scalar;
use crate::server::own_call;
use crate::types::registry::StubFn;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use std::ffi::c_void;

impl StubCall<'_, '_> {
    /// Returns an array in memory that the caller shares, by the reference at `slot`. `None` where
    /// the reference is not within the region that was used last: see [`Self::refer_again`]. An
    /// [invalid count](crate::rt::claimed) exceeds any region.
    #[inline(always)]
    pub fn by_reference<T: Scalar>(&self, array: usize, is_written: bool, slot: usize, count: usize) -> Option<*mut T> {
        let reference = self.call.frame.load_u64(slot)?;
        let (count, size, align) = (count as u64, size_of::<T>() as u64, align_of::<T>() as u64);
        let address = self.call.regions().cache(array, is_written).address(reference, count, size, align);
        address.map(std::ptr::with_exposed_provenance_mut)
    }

    /// Looks up the region of an array, and runs the stub again. The first run has had no effect.
    /// The look-up is a function of its own: within the stub it would make the compiler save
    /// registers on every call.
    ///
    /// # Safety
    ///
    /// `object` must be the object with which the stub was called.
    #[inline(always)]
    pub unsafe fn refer_again(
        &mut self,
        array: usize,
        is_written: bool,
        slot: usize,
        object: *mut c_void,
        stub: StubFn,
    ) -> Answer {
        // SAFETY: the caller promises the object with which the stub was called.
        unsafe { refer_again(object, self.call, stub, array, is_written, slot) }
    }
}

/// Looks up the region of an array, and runs the stub again. Returns a fault where the reference
/// leads to no region, or too many regions were looked up for this call. `object` and `call` come
/// first, as in the stub, so they stay in their registers.
///
/// # Safety
///
/// As for [`StubCall::refer_again`].
#[cold]
#[inline(never)]
unsafe fn refer_again(
    object: *mut c_void,
    call: &mut ServerCall<'_>,
    stub: StubFn,
    array: usize,
    is_written: bool,
    slot: usize,
) -> Answer {
    let reference = call.frame.load_u64(slot);
    if !reference.is_some_and(|reference| call.select_region(array, is_written, reference)) {
        return own_call::fault(Status::BAD_STUB_DATA);
    }
    // SAFETY: the caller promises the object with which the stub was called.
    unsafe { stub(object, call) }
}
