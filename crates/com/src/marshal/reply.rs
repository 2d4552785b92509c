//! The reply of a call in its proxy: checks, and copies to the caller.

use crate::client::channels::RawReply;
use crate::client::link::Link;
use crate::client::proxy::Wanted;
use crate::marshal::parameters::{self, OwnedArray, OwnedObject, OwnedText};
use crate::protocol::frame::{Arrays, Scalar, Value, aligned, ends_in_its_only_zero};
use crate::runtime::Runtime;
use crate::runtime::returned::{self, Sender};
use crate::types::error::{Failed, Result, forget, invalid_reply, recall};
use obvia_rpc::vi_call::Reply;
use obvia_via::RegionView;
use windows_core::HRESULT;

/// A reply in the peer's memory.
pub struct ReplyView<'a> {
    frame: RegionView<'a>,
    status: u32,
    // The link to the server, if the results may be objects.
    link: Option<&'a Link>,
}

impl<'a> ReplyView<'a> {
    pub(crate) fn of_object(reply: Reply<'a>, link: &'a Link) -> Self {
        Self { frame: reply.frame, status: reply.status, link: Some(link) }
    }

    /// # Safety
    ///
    /// `raw` must be the result of an exchange, and its frame must stay valid for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(raw: RawReply) -> Self {
        // SAFETY: the caller promises the result of an exchange. So `raw.frame` has that length, or
        // the length is 0 and the address is aligned.
        let frame = unsafe { RegionView::new(raw.frame, (raw.word >> 32) as usize) };
        Self { frame, status: raw.word as u32, link: None }
    }

    /// Returns the method's HRESULT.
    #[inline(always)]
    pub fn result(&self) -> HRESULT {
        HRESULT(self.status.cast_signed())
    }

    /// Whether the method failed, so that there are no results.
    #[inline]
    pub fn failed(&self) -> bool {
        self.status.cast_signed() < 0
    }

    /// Returns the server as the sender of the references in the results.
    pub(crate) fn sender(&self) -> Sender<'a> {
        Sender::Callee(self.link)
    }

    /// Returns the frame without any check.
    pub(crate) fn whole(&self) -> RegionView<'a> {
        self.frame
    }

    /// Returns the frame of results that consist of a block of `length` bytes.
    ///
    /// # Errors
    ///
    /// The error of a method that failed; RPC_E_INVALID_DATA when the frame has another length.
    #[inline(always)]
    pub fn block(&self, length: usize) -> std::result::Result<RegionView<'a>, Failed> {
        if self.frame.len() == aligned(length) { Ok(self.frame) } else { Err(refusal(self.frame, self.status)) }
    }

    /// Returns the frame of results with arrays after a block of `length` bytes.
    ///
    /// # Errors
    ///
    /// The error of a method that failed; RPC_E_INVALID_DATA when the frame is shorter than the
    /// block.
    #[inline(always)]
    pub fn frame(&self, length: usize) -> std::result::Result<RegionView<'a>, Failed> {
        if self.frame.len() >= aligned(length) { Ok(self.frame) } else { Err(refusal(self.frame, self.status)) }
    }

    /// Returns the address of the array that the method lends. The array follows a block of
    /// `length` bytes.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when the number of elements is not exactly `count`.
    #[inline(always)]
    pub fn lent<T: Scalar>(&self, length: usize, count: Option<usize>) -> Result<*mut T> {
        let block = aligned(length);
        let bytes = count.and_then(|count| count.checked_mul(size_of::<T>())).ok_or_else(invalid_reply)?;
        if bytes != self.frame.len().wrapping_sub(block) {
            return Err(invalid_reply());
        }
        // SAFETY: the frame has at least the block's length.
        Ok(unsafe { self.frame.as_ptr().add(block) }.cast::<T>().cast_mut())
    }

    /// Copies a returned array to the caller's memory.
    ///
    /// # Safety
    ///
    /// `into` must be writable for `count` elements.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when the array does not agree with its slot and count.
    #[inline]
    pub unsafe fn copy_out<T: Scalar>(
        &self,
        arrays: &mut Arrays,
        slot: usize,
        kind: u32,
        count: usize,
        into: *mut T,
    ) -> Result<()> {
        let body = arrays.find(self.frame, slot, kind, count, size_of::<T>()).ok_or_else(invalid_reply)?;
        // SAFETY: the caller promises that `into` is writable for `count` elements. Any bytes are
        // valid scalars. The pointer may be null if there are no elements.
        unsafe { self.frame.copy_to_raw(body, into.cast(), count * size_of::<T>()) }.ok_or_else(invalid_reply)
    }

    /// Loads a returned array of values that must be checked individually.
    ///
    /// # Safety
    ///
    /// `into` must be writable for `count` elements.
    ///
    /// # Errors
    ///
    /// As [`Self::copy_out`], and when an element is not a valid value.
    pub unsafe fn copy_values<T: Value>(
        &self,
        arrays: &mut Arrays,
        slot: usize,
        kind: u32,
        count: usize,
        into: *mut T,
    ) -> Result<()> {
        let frame = self.frame;
        let body = arrays.find(frame, slot, kind, count, T::SIZE).ok_or_else(invalid_reply)?;
        for at in 0..count {
            let value = T::load(frame, body + at * T::SIZE).ok_or_else(invalid_reply)?;
            // SAFETY: the caller promises room for `count` elements at `into`, and `at` is less
            // than `count`.
            let place = unsafe { into.add(at) };
            // SAFETY: `place` is in the room for `count` elements that the caller promises.
            unsafe { place.write(value) };
        }
        Ok(())
    }

    /// Copies a returned string to memory of the C library.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when the method failed, when the slot leads to no string, or when the
    /// string's only zero is not its last character.
    pub fn take_text<T: Scalar + Value + PartialEq + Default>(
        &self,
        arrays: &mut Arrays,
        slot: usize,
        kind: u32,
    ) -> Result<OwnedText<T>> {
        let array = self.take_counted::<T>(arrays, slot, kind)?;
        if !array.is_null() && !ends_in_its_only_zero(array.as_slice()) {
            return Err(invalid_reply());
        }
        Ok(OwnedText(array))
    }

    /// Copies a returned array to memory of the C library. `count` is the number of elements, as
    /// another result states it; `None` if that number is invalid.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when the method failed, or the array does not agree with its slot and
    /// count.
    pub fn take_array<T: Value>(
        &self,
        arrays: &mut Arrays,
        slot: usize,
        kind: u32,
        count: Option<usize>,
    ) -> Result<OwnedArray<T>> {
        let array = self.take_counted::<T>(arrays, slot, kind)?;
        if count.is_none_or(|count| count != array.count()) {
            return Err(invalid_reply());
        }
        Ok(array)
    }

    fn take_counted<T: Value>(&self, arrays: &mut Arrays, slot: usize, kind: u32) -> Result<OwnedArray<T>> {
        self.check_success()?;
        let frame = self.frame;
        let found = arrays.find_counted(frame, slot, kind, T::SIZE).ok_or_else(invalid_reply)?;
        let Some((body, count)) = found else {
            return Ok(OwnedArray::null());
        };
        OwnedArray::from_iter(count, |at| T::load(frame, body + at * T::SIZE).ok_or_else(invalid_reply))
    }

    /// Unmarshals a returned reference. A null slot becomes a null pointer.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when the method failed; the error of a reference that is malformed, or
    /// whose object cannot be reached.
    pub fn take_object(&self, arrays: &mut Arrays, slot: usize, kind: u32, wanted: Wanted) -> Result<OwnedObject> {
        self.check_success()?;
        let frame = self.frame;
        let found = arrays.find_counted(frame, slot, kind, 1).ok_or_else(invalid_reply)?;
        let Some((body, count)) = found else {
            return Ok(OwnedObject(None));
        };
        let object = parameters::receive(frame, (body, count), wanted, self.sender());
        settle_return(self.sender());
        Ok(OwnedObject(Some(object?)))
    }

    /// Refuses to take results of a failed method. The caller of a failed method does not free
    /// results, so results that need freeing would leak.
    fn check_success(&self) -> Result<()> {
        if self.failed() { Err(invalid_reply()) } else { Ok(()) }
    }

    /// Verifies that the arrays end where the frame ends.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when they do not.
    #[inline]
    pub fn end(&self, arrays: Arrays) -> Result<()> {
        if arrays.end() == self.frame.len() { Ok(()) } else { Err(invalid_reply()) }
    }
}

/// Returns the reason why a frame does not have the length of the results. The function takes no
/// reference to the reply, so that replies stay in registers.
#[cold]
#[inline(never)]
pub(crate) fn refusal(frame: RegionView<'_>, status: u32) -> Failed {
    let result = HRESULT(status.cast_signed());
    if frame.as_ptr() == RawReply::NO_FRAME {
        recall(result).into()
    } else if result.0 < 0 && frame.is_empty() {
        // The method left no error text. The text of an earlier call must not be taken for the text
        // of this call.
        forget();
        result.into()
    } else {
        invalid_reply().into()
    }
}

/// Releases the references that `sender` gave up when it sent an object of this process back. The
/// references kept the object alive until it was unmarshaled here.
pub(crate) fn settle_return(sender: Sender<'_>) {
    if let Some((target, refs)) = returned::take_return()
        && let Some(giver) = sender.giver()
        && let Ok(runtime) = Runtime::current()
    {
        runtime.exports().release(giver, [(target, refs)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_ndr::flat::KIND_FIRST;

    #[test]
    fn callers_may_pass_null_for_an_array_without_elements() {
        // A slot, and the header of the array.
        let frame = [16, u64::from(KIND_FIRST)];
        let raw = RawReply { frame: frame.as_ptr().cast(), word: 16 << 32 };
        // SAFETY: the frame has this length.
        let reply = unsafe { ReplyView::from_raw(raw) };
        let mut arrays = Arrays::after(8);
        // SAFETY: no element is written.
        unsafe { reply.copy_out::<u32>(&mut arrays, 0, KIND_FIRST, 0, std::ptr::null_mut()) }.unwrap();
    }
}
