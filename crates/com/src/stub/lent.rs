//! Arrays that methods lend: they lie behind the reply's block, where the caller reads them.

use super::{StubCall, StubFn};
use crate::frame::{Scalar, aligned};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use std::ffi::c_void;

/// Bytes of a reply with a block of `length` bytes and so many lent elements behind it.
#[inline(always)]
fn lent_bytes<T>(length: usize, count: usize) -> Option<usize> {
    count.checked_mul(size_of::<T>())?.checked_add(aligned(length))
}

/// Room behind a reply's block of `length` bytes for so many elements that the method lends. `None` where it has to be made.
#[inline(always)]
pub fn lend<T: Scalar>(call: &mut ServerCall<'_>, length: usize, room: usize) -> Option<*mut T> {
    let frame = call.reply_at_hand(lent_bytes::<T>(length, room)?)?;
    Some(frame[aligned(length)..].as_mut_ptr().cast())
}

/// Makes that room, and runs the stub again, which has done nothing yet. A fault where the caller is gone, or bears no such frame.
///
/// # Safety
///
/// `object` must be what the stub was called with.
#[cold]
#[inline(never)]
pub unsafe fn lend_again<T: Scalar>(
    call: &mut ServerCall<'_>,
    length: usize,
    room: usize,
    object: *mut c_void,
    stub: StubFn,
) -> Answer {
    let made = lent_bytes::<T>(length, room).and_then(|bytes| call.reply_in_area(bytes));
    if made.is_none() {
        return Answer::fault(Status::REMOTE_NO_MEMORY);
    }
    // SAFETY: the caller's promise.
    unsafe { stub(object, call) }
}

impl StubCall<'_, '_> {
    /// The bytes of a reply's block of `length` bytes, and how long the reply is: the method has lent so many elements, which lie in
    /// the `room` that [`lend`] gave, or elsewhere.
    ///
    /// # Safety
    ///
    /// `given` must be what [`lend`] gave for this reply; `first` must be that, or readable for `count` elements and no part of
    /// the reply.
    ///
    /// # Errors
    ///
    /// As [`lend_again`]; and bad stub data for what cannot be a number of elements.
    #[inline(always)]
    pub unsafe fn lent<T: Scalar>(
        &mut self,
        length: usize,
        (given, room): (*mut T, usize),
        first: *const T,
        count: Option<usize>,
    ) -> Result<(&mut [u8], usize), Status> {
        let block = aligned(length);
        let count = count.ok_or(Status::BAD_STUB_DATA)?;
        if !std::ptr::eq(first, given) {
            // SAFETY: the caller's promise.
            return unsafe { self.lent_from_elsewhere(block, first, count) };
        }
        if count > room {
            return Err(Status::BAD_STUB_DATA);
        }
        // SAFETY: the reply's block is before what was given.
        let start = unsafe { given.cast::<u8>().sub(block) };
        // SAFETY: as above; nothing else refers to it, and &mut self.
        let frame = unsafe { std::slice::from_raw_parts_mut(start, block) };
        frame.fill(0);
        Ok((frame, block + count * size_of::<T>()))
    }

    /// # Safety
    ///
    /// `first` must be readable for `count` elements, and no part of the reply.
    #[cold]
    #[inline(never)]
    unsafe fn lent_from_elsewhere<T: Scalar>(
        &mut self,
        block: usize,
        first: *const T,
        count: usize,
    ) -> Result<(&mut [u8], usize), Status> {
        let bytes = lent_bytes::<T>(block, count).ok_or(Status::REMOTE_NO_MEMORY)?;
        let frame = self.call.reply_in_area(bytes).ok_or(Status::REMOTE_NO_MEMORY)?;
        let (results, array) = frame.split_at_mut(block);
        if count > 0 {
            // SAFETY: the caller's promise; the frame has as many bytes.
            unsafe { first.copy_to_nonoverlapping(array.as_mut_ptr().cast(), count) };
        }
        results.fill(0);
        Ok((results, bytes))
    }
}
