//! Arrays that methods lend: they follow the reply's block, in memory that the caller reads.

use super::StubCall;
use crate::protocol::frame::{Scalar, aligned};
use crate::types::registry::StubFn;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use std::ffi::c_void;

/// Returns the length of a reply with a block of `length` bytes and `count` lent elements.
#[inline(always)]
fn lent_bytes<T>(length: usize, count: usize) -> Option<usize> {
    count.checked_mul(size_of::<T>())?.checked_add(aligned(length))
}

/// Returns room for `room` lent elements after a reply's block of `length` bytes; `None` where the
/// room must be made by [`lend_again`].
#[inline(always)]
pub fn lend<T: Scalar>(call: &mut ServerCall<'_>, length: usize, room: usize) -> Option<*mut T> {
    let frame = call.reply_at_hand(lent_bytes::<T>(length, room)?)?;
    Some(frame[aligned(length)..].as_mut_ptr().cast())
}

/// Makes the room that [`lend`] has not found, and runs the stub again. The first run has had no
/// effect. Returns a fault where the caller is gone, or its memory is too small for the frame.
///
/// # Safety
///
/// `object` must be the object with which the stub was called.
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
    // SAFETY: the caller promises the object with which the stub was called.
    unsafe { stub(object, call) }
}

impl StubCall<'_, '_> {
    /// Completes the reply of a method that has lent `count` elements, in the room of [`lend`] or
    /// in other memory. Returns the bytes of the reply's block, which has `length` bytes, and the
    /// length of the reply.
    ///
    /// # Safety
    ///
    /// `given` must be the result of [`lend`] for this reply; `first` must be the same pointer, or
    /// readable for `count` elements outside of the reply.
    ///
    /// # Errors
    ///
    /// REMOTE_NO_MEMORY where the caller is gone, or its memory is too small for the frame;
    /// BAD_STUB_DATA for an invalid number of elements.
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
            // SAFETY: `first` is not the pointer from `lend`, so the caller promises that it is
            // readable for `count` elements outside of the reply.
            return unsafe { self.lent_from_elsewhere(block, first, count) };
        }
        if count > room {
            return Err(Status::BAD_STUB_DATA);
        }
        // SAFETY: the reply's block precedes the room.
        let start = unsafe { given.cast::<u8>().sub(block) };
        // SAFETY: the reply's block begins at `start` and has `block` bytes. It is exclusive
        // through `&mut self`.
        let frame = unsafe { std::slice::from_raw_parts_mut(start, block) };
        frame.fill(0);
        Ok((frame, block + count * size_of::<T>()))
    }

    /// # Safety
    ///
    /// `first` must be readable for `count` elements outside of the reply.
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
            // SAFETY: the caller promises that `first` is readable for `count` elements outside of
            // the reply, and the frame has room for them.
            unsafe { first.copy_to_nonoverlapping(array.as_mut_ptr().cast(), count) };
        }
        results.fill(0);
        Ok((results, bytes))
    }
}
