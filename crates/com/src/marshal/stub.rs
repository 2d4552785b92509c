//! The server's end of a call: the support for generated stubs.
//!
//! A stub checks the request's frame once, copies the arguments from the caller's memory, calls the
//! method through the object's vtable, and writes the results to memory that the caller reads. [in,
//! out] arrays are copied from the request straight into the reply, which only this process can
//! write, and the method works on them there.

mod call;
mod lent;
mod referred;

pub use crate::server::own_call::{no_results, results, results_unpadded};
pub use call::{StubCall, serve};
pub use lent::{lend, lend_again};

use crate::client::proxy::Wanted;
use crate::marshal::parameters;
use crate::marshal::reply::settle_return;
use crate::protocol::frame::{Arrays, Measure, Scalar, Value, aligned, ends_in_its_only_zero};
use crate::runtime::returned::Sender;
use crate::types::error::fault_of;
use crate::types::scratch;
use obvia_rpc::status::Status;
use obvia_via::RegionView;
use obvia_via::layout::INLINE_MAX;
use std::ffi::c_void;
use windows_core::{IUnknown, Interface};

impl<'a, 'b> StubCall<'a, 'b> {
    /// Verifies that the arrays end where the frame ends.
    ///
    /// # Errors
    ///
    /// BAD_STUB_DATA when they do not.
    #[inline]
    pub fn end(&self, arrays: Arrays) -> Result<(), Status> {
        if arrays.end() == self.call.frame.len() { Ok(()) } else { Err(Status::BAD_STUB_DATA) }
    }

    /// Copies an `[in]` array from the caller's memory. The copy is valid until the call has been
    /// answered.
    ///
    /// # Errors
    ///
    /// BAD_STUB_DATA when the array does not agree with its slot and count.
    #[inline]
    pub fn copy_in<T: Scalar>(
        &mut self,
        arrays: &mut Arrays,
        slot: usize,
        kind: u32,
        count: usize,
    ) -> Result<*const T, Status> {
        let frame = self.call.frame;
        let body = arrays.find(frame, slot, kind, count, size_of::<T>()).ok_or(Status::BAD_STUB_DATA)?;
        if count == 0 {
            return Ok(std::ptr::dangling());
        }
        let bytes = self.scratch(count * size_of::<T>());
        frame.copy_to(body, bytes).ok_or(Status::BAD_STUB_DATA)?;
        Ok(bytes.as_ptr().cast())
    }

    /// Copies an [in, out] array from the caller's memory, for the method to change.
    ///
    /// # Errors
    ///
    /// As [`Self::copy_in`].
    pub fn copy_in_mut<T: Scalar>(
        &mut self,
        arrays: &mut Arrays,
        slot: usize,
        kind: u32,
        count: usize,
    ) -> Result<*mut T, Status> {
        Ok(self.copy_in::<T>(arrays, slot, kind, count)?.cast_mut())
    }

    /// Loads an array of values that must be checked individually.
    ///
    /// # Errors
    ///
    /// As [`Self::copy_in`], and when an element is not a valid value.
    pub fn values_in<T: Value>(
        &mut self,
        arrays: &mut Arrays,
        slot: usize,
        kind: u32,
        count: usize,
    ) -> Result<Vec<T>, Status> {
        let frame = self.call.frame;
        let body = arrays.find(frame, slot, kind, count, T::SIZE).ok_or(Status::BAD_STUB_DATA)?;
        (0..count).map(|at| T::load(frame, body + at * T::SIZE).ok_or(Status::BAD_STUB_DATA)).collect()
    }

    /// Loads an optional value. `None` for a null slot.
    ///
    /// # Errors
    ///
    /// As [`Self::values_in`].
    pub fn optional_in<T: Value>(&mut self, arrays: &mut Arrays, slot: usize, kind: u32) -> Result<Option<T>, Status> {
        if self.call.frame.load_u64(slot).ok_or(Status::BAD_STUB_DATA)? == 0 {
            return Ok(None);
        }
        Ok(self.values_in(arrays, slot, kind, 1)?.pop())
    }

    /// Unmarshals a reference. A null slot becomes a null pointer.
    ///
    /// # Errors
    ///
    /// If the reference is malformed, or its object cannot be reached.
    pub fn object_in(
        &mut self,
        arrays: &mut Arrays,
        slot: usize,
        kind: u32,
        wanted: Wanted,
    ) -> Result<Received, Status> {
        let frame = self.call.frame;
        let found = arrays.find_counted(frame, slot, kind, 1).ok_or(Status::BAD_STUB_DATA)?;
        let Some((body, count)) = found else {
            return Ok(Received(None));
        };
        let object = parameters::receive(frame, (body, count), wanted, Sender::Caller);
        settle_return(Sender::Caller);
        object.map(|object| Received(Some(object))).map_err(|error| fault_of(&error))
    }

    /// Returns zeroed memory for an array that the method fills.
    ///
    /// # Errors
    ///
    /// REMOTE_NO_MEMORY when the array exceeds the longest reply, so that a small request cannot
    /// make this process allocate gigabytes.
    pub fn room<T: Value>(&self, count: usize) -> Result<Vec<T>, Status> {
        if count.saturating_mul(T::SIZE) > self.reply_max() {
            return Err(Status::REMOTE_NO_MEMORY);
        }
        Ok(vec![crate::protocol::frame::zero(); count])
    }

    /// Copies a NUL-terminated string from the caller's memory; a null pointer for a null slot.
    ///
    /// # Errors
    ///
    /// BAD_STUB_DATA when the slot leads to no string, or its only NUL is not its last character.
    pub fn text_in<T: Scalar + Default + PartialEq>(
        &mut self,
        arrays: &mut Arrays,
        slot: usize,
        kind: u32,
    ) -> Result<*const T, Status> {
        let frame = self.call.frame;
        let bad = Status::BAD_STUB_DATA;
        if frame.load_u64(slot).ok_or(bad)? == 0 {
            return Ok(std::ptr::null());
        }
        let count = frame.load_u32(arrays.end() + 4).ok_or(bad)? as usize;
        if count == 0 {
            return Err(bad);
        }
        let text: *const T = self.copy_in(arrays, slot, kind, count)?;
        // SAFETY: `copy_in` returned the address of `count` elements in the scratch memory, which
        // outlives the call; any bit pattern is a valid scalar.
        let characters = unsafe { std::slice::from_raw_parts(text, count) };
        if ends_in_its_only_zero(characters) { Ok(text) } else { Err(bad) }
    }

    /// Returns the greatest length of the reply's frame.
    pub fn reply_max(&self) -> usize {
        self.call.reply_max()
    }

    /// Returns `bytes` bytes of private memory for this call.
    fn scratch(&mut self, bytes: usize) -> &mut [u8] {
        let start = self.used;
        let end = start + bytes.div_ceil(8);
        // The first copy makes the memory longer than the frame. The copies of all arguments
        // together are no longer than the frame, because each copy is rounded up by fewer bytes
        // than the array's header has in the frame. So the memory does not move during the call.
        let first = scratch::words(start, end, || self.call.frame.len());
        self.used = end;
        // SAFETY: the range consists of `end - start` words of this thread's memory, which the
        // thread uses for one call at a time. This call uses the range for one array only. The
        // memory does not move until the thread waits for its next call. Bytes have no alignment or
        // validity requirements.
        unsafe { std::slice::from_raw_parts_mut(first.cast::<u8>(), bytes) }
    }

    /// Returns the memory for the reply's frame.
    ///
    /// # Safety
    ///
    /// The frame may be used only until the call has been answered, or until this function is
    /// called again.
    ///
    /// # Errors
    ///
    /// REMOTE_NO_MEMORY when the reply is longer than the connection allows.
    #[inline]
    pub unsafe fn reply(&mut self, measure: Measure) -> Result<ReplyFrame, Status> {
        let frame = self.call.reply(measure.length(), measure.bulk()).map_err(|_| Status::REMOTE_NO_MEMORY)?;
        Ok(ReplyFrame { start: frame.as_mut_ptr(), length: frame.len() })
    }

    /// Returns the memory of the slot, for a reply's frame that fits in the slot.
    #[inline(always)]
    pub fn inline_reply(&mut self) -> &mut [u8; INLINE_MAX] {
        // SAFETY: the slot belongs to this call until it has been answered, and is lent only
        // through `&mut self`.
        unsafe { self.call.reply_slot().as_mut() }
    }
}

/// The reply's frame while the method runs, in memory that only this process can write.
pub struct ReplyFrame {
    // Invariant: `length` bytes of this process's send segment, exclusive for as long as the value
    // may be used.
    start: *mut u8,
    length: usize,
}

impl ReplyFrame {
    /// Returns the bytes of the frame.
    #[inline]
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: by the invariant, `start` has `length` bytes. The shared memory is initialised,
        // and exclusive through `&mut self`. The method uses the pointers that it received only
        // while this value is not used.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }

    /// Places an `[out]` array, and returns its address. The method fills the array in place.
    #[inline]
    pub fn array<T: Scalar>(&mut self, arrays: &mut Arrays, slot: usize, kind: u32, count: usize) -> *mut T {
        let body = arrays.place(self.bytes(), slot, kind, count, count * size_of::<T>());
        self.bytes()[body..].as_mut_ptr().cast()
    }

    /// Places an [in, out] array, copies it from the request, and returns its address. The method
    /// changes the array in place.
    ///
    /// # Errors
    ///
    /// BAD_STUB_DATA when the request's array does not agree with its slot and count.
    #[inline]
    pub fn array_through<T: Scalar>(
        &mut self,
        arrays: &mut Arrays,
        slot: usize,
        kind: u32,
        count: usize,
        request: (RegionView<'_>, &mut Arrays, usize),
    ) -> Result<*mut T, Status> {
        let (frame, from, from_slot) = request;
        let source = from.find(frame, from_slot, kind, count, size_of::<T>()).ok_or(Status::BAD_STUB_DATA)?;
        let bytes = count * size_of::<T>();
        let body = arrays.place(self.bytes(), slot, kind, count, bytes);
        frame.copy_to(source, &mut self.bytes()[body..body + bytes]).ok_or(Status::BAD_STUB_DATA)?;
        Ok(self.bytes()[body..].as_mut_ptr().cast())
    }
}

impl ReplyFrame {
    /// Shortens the last array of the frame, whose first element is at `first`, to `count` elements
    /// of `size` bytes. Returns the new length of the frame.
    #[inline]
    pub fn shorten(&mut self, first: *mut u8, count: usize, size: usize) -> usize {
        let body = first.addr() - self.start.addr();
        let end = body + count * size;
        let length = aligned(end);
        let frame = self.bytes();
        (count as u32).store(frame, body - 4);
        frame[end..length].fill(0);
        length
    }
}

/// An interface pointer that was received as an argument.
pub struct Received(Option<IUnknown>);

impl Received {
    /// Returns the pointer for the method.
    pub fn as_raw(&self) -> *mut c_void {
        self.0.as_ref().map_or(std::ptr::null_mut(), Interface::as_raw)
    }
}

/// The stand-in for an object in a call of a generated stub, where the marshaled methods differ
/// from the methods that programs call. `V` is the vtable with the marshaled methods.
#[repr(C)]
pub(crate) struct Adapter<V: 'static> {
    vtable: &'static V,
    object: *mut c_void,
}

impl<V> Adapter<V> {
    pub(crate) fn new(vtable: &'static V, object: *mut c_void) -> Self {
        Self { vtable, object }
    }

    /// Returns the pointer that the stub uses as the object.
    pub(crate) fn as_raw(&mut self) -> *mut c_void {
        (&raw mut *self).cast()
    }

    /// Returns the object.
    ///
    /// # Safety
    ///
    /// `this` must come from [`Self::as_raw`], and the adapter must be alive.
    pub(crate) unsafe fn object(this: *mut c_void) -> *mut c_void {
        // SAFETY: the caller promises that `this` comes from `as_raw`, and that the adapter is
        // alive.
        unsafe { (*this.cast::<Self>()).object }
    }
}
