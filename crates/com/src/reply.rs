//! A reply in its proxy: checked, and handed to the caller.

use crate::error::{Error, Failed, Result, code, forget, recall};
use crate::frame::{Arrays, Scalar, Value, aligned};
use crate::marshal::{self, OwnedArray, OwnedObject, OwnedText, Wanted};
use crate::orpc::Client;
use crate::runtime::Runtime;
use crate::thread;
use crate::thread::channels::RawReply;
use obvia_rpc::vi_call::Reply;
use obvia_via::RegionView;
use windows_core::HRESULT;

/// A reply in the peer's memory.
pub struct ReplyView<'a> {
    frame: RegionView<'a>,
    status: u32,
    // Where the results may be objects: whose.
    oxid: u64,
}

impl<'a> ReplyView<'a> {
    pub(crate) fn of_object(reply: Reply<'a>, oxid: u64) -> Self {
        Self { frame: reply.frame, status: reply.status, oxid }
    }

    /// # Safety
    ///
    /// `raw` must be what an exchange returned, and stay for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(raw: RawReply) -> Self {
        // SAFETY: the caller's promise: a frame of that length, or nothing at an aligned address.
        let frame = unsafe { RegionView::new(raw.frame, (raw.word >> 32) as usize) };
        Self { frame, status: raw.word as u32, oxid: 0 }
    }

    /// What the method returned.
    #[inline(always)]
    pub fn result(&self) -> HRESULT {
        HRESULT(self.status.cast_signed())
    }

    /// Whether the method failed; then there are no results.
    #[inline]
    pub fn failed(&self) -> bool {
        self.status.cast_signed() < 0
    }

    /// The process that answered.
    pub(crate) fn peer(&self) -> u64 {
        self.oxid
    }

    /// The frame, whatever is in it.
    pub(crate) fn whole(&self) -> RegionView<'a> {
        self.frame
    }

    /// The frame of results that lie in a block of `length` bytes and nowhere else.
    ///
    /// # Errors
    ///
    /// What the method failed with; RPC_E_INVALID_DATA when the frame has another length.
    #[inline(always)]
    pub fn block(&self, length: usize) -> std::result::Result<RegionView<'a>, Failed> {
        if self.frame.len() == aligned(length) { Ok(self.frame) } else { Err(refusal(self.frame, self.status)) }
    }

    /// The frame of results with arrays behind a block of `length` bytes.
    ///
    /// # Errors
    ///
    /// What the method failed with; RPC_E_INVALID_DATA when the frame is shorter.
    #[inline(always)]
    pub fn frame(&self, length: usize) -> std::result::Result<RegionView<'a>, Failed> {
        if self.frame.len() >= aligned(length) { Ok(self.frame) } else { Err(refusal(self.frame, self.status)) }
    }

    /// An array that the method lends, behind a block of `length` bytes.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when there are not just so many elements.
    #[inline(always)]
    pub fn lent<T: Scalar>(&self, length: usize, count: Option<usize>) -> Result<*mut T> {
        let block = aligned(length);
        let bytes = count.and_then(|count| count.checked_mul(size_of::<T>())).ok_or_else(invalid_reply)?;
        if bytes != self.frame.len().wrapping_sub(block) {
            return Err(invalid_reply());
        }
        // SAFETY: the frame ends there, or behind it.
        Ok(unsafe { self.frame.as_ptr().add(block) }.cast::<T>().cast_mut())
    }

    /// Copies a returned array to where the caller wants it.
    ///
    /// # Safety
    ///
    /// `into` must be writable for `count` elements.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when the array is not what slot and count say.
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
        // SAFETY: the caller's promise; bytes have no validity of their own, and any bytes make a valid scalar.
        let bytes = unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>(), count * size_of::<T>()) };
        self.frame.copy_to(body, bytes).ok_or_else(invalid_reply)
    }

    /// Loads a returned array of values that have to be checked one by one.
    ///
    /// # Safety
    ///
    /// `into` must be writable for `count` elements.
    ///
    /// # Errors
    ///
    /// As [`Self::copy_out`], and when an element is no value of its type.
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
            // SAFETY: the caller's promise.
            let place = unsafe { into.add(at) };
            // SAFETY: as above.
            unsafe { place.write(value) };
        }
        Ok(())
    }

    /// Copies a returned string to memory of the caller's.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when the slot names no string, or the string does not end in zero.
    pub fn take_text<T: Scalar + Value + PartialEq + Default>(
        &self,
        arrays: &mut Arrays,
        slot: usize,
        kind: u32,
    ) -> Result<OwnedText<T>> {
        let array = self.take_counted::<T>(arrays, slot, kind)?;
        if !array.is_null() && array.as_slice().last() != Some(&T::default()) {
            return Err(invalid_reply());
        }
        Ok(OwnedText(array))
    }

    /// Copies a returned array to memory of the caller's. `count` is what another result says.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when the array is not what slot and count say.
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
        let frame = self.frame;
        let found = arrays.find_counted(frame, slot, kind, T::SIZE).ok_or_else(invalid_reply)?;
        let Some((body, count)) = found else {
            return Ok(OwnedArray::null());
        };
        OwnedArray::from_iter(count, |at| T::load(frame, body + at * T::SIZE).ok_or_else(invalid_reply))
    }

    /// Makes an interface pointer of a returned reference.
    ///
    /// # Errors
    ///
    /// When the reference is none, or its object cannot be reached.
    pub fn take_object(&self, arrays: &mut Arrays, slot: usize, kind: u32, wanted: Wanted) -> Result<OwnedObject> {
        let frame = self.frame;
        let found = arrays.find_counted(frame, slot, kind, 1).ok_or_else(invalid_reply)?;
        let Some((body, count)) = found else {
            return Ok(OwnedObject(None));
        };
        let object = marshal::receive(frame, body, count, wanted);
        settle_return(|| Some(Client::Process(self.oxid)));
        Ok(OwnedObject(Some(object?)))
    }

    /// Checks that the arrays end where the frame ends.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when they do not.
    #[inline]
    pub fn end(&self, arrays: Arrays) -> Result<()> {
        if arrays.end() == self.frame.len() { Ok(()) } else { Err(invalid_reply()) }
    }
}

/// Why a frame is not as long as the results. Takes no reference, so that replies stay in registers.
#[cold]
#[inline(never)]
pub(crate) fn refusal(frame: RegionView<'_>, status: u32) -> Failed {
    let result = HRESULT(status.cast_signed());
    if frame.as_ptr() == RawReply::NO_FRAME {
        recall(result).into()
    } else if result.0 < 0 && frame.is_empty() {
        // The method said no words, and those of an earlier call are none of this one's.
        forget();
        result.into()
    } else {
        invalid_reply().into()
    }
}

/// Takes back the references that `sender` gave up when it sent an object home. They lasted until the object was here.
pub(crate) fn settle_return(sender: impl FnOnce() -> Option<Client>) {
    if let Some((target, refs)) = thread::take_return()
        && let Some(sender) = sender()
        && let Ok(runtime) = Runtime::of_process()
    {
        runtime.exports().release(sender, [(target, refs)]);
    }
}

#[cold]
pub(crate) fn invalid_reply() -> Error {
    Error::new(code::RPC_E_INVALID_DATA, "the reply's frame is not what the interface says")
}
