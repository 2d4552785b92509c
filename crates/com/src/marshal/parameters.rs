//! Moves arrays, strings and object references between frames and the caller's memory.

use crate::client::proxy::Wanted;
use crate::orpc::ObjRef as Any;
use crate::protocol::frame::{Arrays, Scalar, Value};
use crate::protocol::objref::{ObjRef, REFERENCE_MAX, parse};
use crate::runtime::data::with_handler;
use crate::runtime::marshaling::unmarshal_custom;
use crate::runtime::returned::Sender;
use crate::runtime::{Runtime, response};
use crate::server::caller;
use crate::types::error::{Error, Result, code, fault_of};
use crate::types::memory::{allocate, release};
use obvia_ndr::flat::{FRAME_MAX, OBJECT_HEADER};
use obvia_rpc::status::Status;
use obvia_via::RegionView;
use std::ffi::c_void;
use windows_core::{HRESULT, IUnknown, Interface};

/// Marshals a reference for the process whose call is being answered. The reference is empty for a
/// null pointer, and if the method failed.
///
/// The function takes ownership of the pointer's reference.
///
/// # Safety
///
/// `object` must be null or an interface pointer that the caller owns.
///
/// # Errors
///
/// The fault for an object that cannot be passed.
pub unsafe fn reference_for_caller(
    object: *mut c_void,
    wanted: Wanted,
    result: HRESULT,
) -> std::result::Result<Vec<u8>, Status> {
    if object.is_null() {
        return Ok(Vec::new());
    }
    // SAFETY: the pointer is not null, so the caller promises an interface pointer that the caller
    // owns.
    let object = unsafe { IUnknown::from_raw(object) };
    if result.0 < 0 {
        return Ok(Vec::new());
    }
    let made = (|| {
        let caller = caller().ok_or(code::E_UNEXPECTED)?;
        response::reference(&caller, &object, wanted.info()?)
    })();
    made.map_err(|error: Error| fault_of(&error))
}

/// Unmarshals a reference in a frame.
pub(crate) fn receive(
    frame: RegionView<'_>,
    (body, count): (usize, usize),
    wanted: Wanted,
    sender: Sender<'_>,
) -> Result<IUnknown> {
    if count > REFERENCE_MAX {
        return Err(Error::new(code::RPC_E_INVALID_OBJREF, "an object reference is too long"));
    }
    let mut bytes = vec![0; count];
    frame.copy_to(body, &mut bytes).ok_or(code::RPC_E_INVALID_OBJREF)?;
    unmarshal(Runtime::current()?, &bytes, wanted, sender)
}

/// Unmarshals an OBJREF.
pub(crate) fn unmarshal(
    runtime: &'static Runtime,
    bytes: &[u8],
    wanted: Wanted,
    sender: Sender<'_>,
) -> Result<IUnknown> {
    let any = parse(bytes)?;
    // If the interface is unknown, the reference is given back.
    let info = wanted.info().inspect_err(|_| runtime.refuse(&any))?;
    match any {
        Any::Custom { clsid, data, .. } => unmarshal_custom(&clsid, data, info),
        any => with_handler(&any, runtime.unmarshal(&ObjRef::from_any(&any)?, info, sender)?, info),
    }
}

/// Writes an array of numbers after a block.
///
/// # Safety
///
/// `from` must be readable for `count` elements.
#[inline]
pub unsafe fn put_array<T: Scalar>(
    frame: &mut [u8],
    arrays: &mut Arrays,
    slot: usize,
    kind: u32,
    count: usize,
    from: *const T,
) {
    let bytes = count * size_of::<T>();
    let body = arrays.place(frame, slot, kind, count, bytes);
    if count > 0 {
        // SAFETY: the caller promises that `from` is readable for `count` elements. Scalars have no
        // padding, so all bytes are initialised.
        let elements = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), bytes) };
        frame[body..body + bytes].copy_from_slice(elements);
    }
}

/// Writes an array of values after a block.
///
/// # Safety
///
/// As for [`put_array`].
pub unsafe fn put_values<T: Value>(
    frame: &mut [u8],
    arrays: &mut Arrays,
    slot: usize,
    kind: u32,
    count: usize,
    from: *const T,
) {
    let body = arrays.place(frame, slot, kind, count, count * T::SIZE);
    // SAFETY: the caller promises that `from` is readable for `count` elements.
    let values = unsafe { crate::types::memory::slice(from, count) };
    for (at, value) in values.iter().enumerate() {
        value.store(frame, body + at * T::SIZE);
    }
}

/// Writes an optional value after a block. A null pointer becomes a null slot.
///
/// # Safety
///
/// `from` must be null or readable.
pub unsafe fn put_optional<T: Value>(frame: &mut [u8], arrays: &mut Arrays, slot: usize, kind: u32, from: *const T) {
    if from.is_null() {
        return Arrays::skip(frame, slot);
    }
    // SAFETY: the pointer is not null, so the caller promises that it is readable.
    unsafe { put_values(frame, arrays, slot, kind, 1, from) };
}

/// Writes a string of `count` characters, including the terminating zero, after a block. A null
/// pointer becomes a null slot.
///
/// # Safety
///
/// `from` must be null or readable for `count` characters.
pub unsafe fn put_text<T: Scalar>(
    frame: &mut [u8],
    arrays: &mut Arrays,
    slot: usize,
    kind: u32,
    count: usize,
    from: *const T,
) {
    if from.is_null() {
        return Arrays::skip(frame, slot);
    }
    // SAFETY: the pointer is not null, so the caller promises that it is readable for `count`
    // characters.
    unsafe { put_array(frame, arrays, slot, kind, count, from) };
}

/// Writes a reference after a block. An empty reference becomes a null slot.
pub fn put_reference(frame: &mut [u8], arrays: &mut Arrays, slot: usize, kind: u32, reference: &[u8]) {
    if reference.is_empty() {
        return Arrays::skip(frame, slot);
    }
    let body = arrays.place(frame, slot, kind, reference.len(), reference.len());
    frame[body..body + reference.len()].copy_from_slice(reference);
}

/// Returns the number of characters of a string, including the terminating zero; 0 for a null
/// pointer.
///
/// # Safety
///
/// `text` must be null or end in a zero.
///
/// # Errors
///
/// E_POINTER for a null pointer where the string is not optional.
pub unsafe fn text_count<T: Value + Default + PartialEq>(text: *const T, optional: bool) -> Result<usize> {
    if text.is_null() {
        return if optional { Ok(0) } else { Err(code::E_POINTER.into()) };
    }
    let mut count = 0;
    loop {
        // SAFETY: the caller promises a string that ends in a zero. No zero has been found yet, so
        // there is another character.
        let place = unsafe { text.add(count) };
        count += 1;
        // SAFETY: `place` leads to a character of the string.
        if unsafe { place.read() } == T::default() {
            return Ok(count);
        }
    }
}

/// An array in memory of the C library, which the receiver of the array frees.
pub struct OwnedArray<T: Value> {
    // Invariant: null, or from the C library, with `count` initialised elements.
    first: *mut T,
    count: usize,
}

impl<T: Value> OwnedArray<T> {
    pub(crate) const fn null() -> Self {
        Self { first: std::ptr::null_mut(), count: 0 }
    }

    /// Takes ownership of an array that a method allocated.
    ///
    /// # Safety
    ///
    /// `first` must be null, or come from the C library's allocator with `count` elements that the
    /// caller owns.
    pub unsafe fn adopt(first: *mut T, count: usize) -> Self {
        Self { first, count: if first.is_null() { 0 } else { count } }
    }

    pub(crate) fn from_iter(count: usize, mut element: impl FnMut(usize) -> Result<T>) -> Result<Self> {
        debug_assert!(count.saturating_mul(T::SIZE) <= FRAME_MAX, "the elements fit a frame");
        let first = allocate(count * size_of::<T>())?.cast::<T>();
        let mut array = Self { first, count: 0 };
        for at in 0..count {
            let value = element(at)?;
            // SAFETY: `count` elements were allocated.
            let place = unsafe { array.first.add(at) };
            // SAFETY: `count` elements were allocated, and malloc's memory is aligned for every
            // value type.
            unsafe { place.write(value) };
            array.count += 1;
        }
        Ok(array)
    }

    /// Returns the number of elements.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether the array is null.
    pub fn is_null(&self) -> bool {
        self.first.is_null()
    }

    /// Returns the elements.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: by its invariant, `first` is null or has `count` initialised elements.
        unsafe { crate::types::memory::slice(self.first, self.count) }
    }

    /// Releases ownership of the array.
    pub fn into_raw(self) -> *mut T {
        let first = self.first;
        std::mem::forget(self);
        first
    }

    /// Writes the array after a block.
    pub fn place(&self, frame: &mut [u8], arrays: &mut Arrays, slot: usize, kind: u32) {
        if self.first.is_null() {
            return Arrays::skip(frame, slot);
        }
        // SAFETY: by its invariant, `first` is null or has `count` initialised elements.
        unsafe { put_values(frame, arrays, slot, kind, self.count, self.first) };
    }
}

impl<T: Value> Drop for OwnedArray<T> {
    fn drop(&mut self) {
        // SAFETY: by its invariant, `first` is null or from the C library. Values have
        // nothing to drop.
        unsafe { release(self.first.cast()) };
    }
}

/// A string in memory of the C library, which the receiver of the string frees.
pub struct OwnedText<T: Value>(pub(crate) OwnedArray<T>);

impl<T: Value + Default + PartialEq> OwnedText<T> {
    /// Takes ownership of a string that a method allocated.
    ///
    /// # Safety
    ///
    /// `text` must be null, or come from the C library's allocator and end in a zero, and the
    /// caller must own it.
    pub unsafe fn adopt(text: *mut T) -> Self {
        // SAFETY: the caller promises null or a string that ends in a zero. Null is allowed, so
        // there is no error.
        let count = unsafe { text_count(text, true) }.unwrap_or(0);
        // SAFETY: the caller promises to own the string, which is null, or from the C library's
        // allocator with `count` characters.
        Self(unsafe { OwnedArray::adopt(text, count) })
    }

    /// Returns the number of characters, including the terminating zero.
    pub fn count(&self) -> usize {
        self.0.count()
    }

    /// Whether the string is null.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Releases ownership of the string.
    pub fn into_raw(self) -> *mut T {
        self.0.into_raw()
    }

    /// Writes the string after a block.
    pub fn place(&self, frame: &mut [u8], arrays: &mut Arrays, slot: usize, kind: u32) {
        self.0.place(frame, arrays, slot, kind);
    }
}

/// An interface pointer that was received as a result.
pub struct OwnedObject(pub(crate) Option<IUnknown>);

impl OwnedObject {
    /// Releases ownership of the pointer with its reference.
    pub fn into_raw(self) -> *mut c_void {
        self.0.map_or(std::ptr::null_mut(), Interface::into_raw)
    }
}

/// Verifies before sending that an argument is within its `[range]`.
///
/// # Errors
///
/// E_INVALIDARG for an argument outside of its range.
#[inline]
pub fn given_in_range(value: i64, least: i64, most: i64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::new(code::E_INVALIDARG, format!("the argument {value} is not between {least} and {most}")))
}

const _: () = assert!(OBJECT_HEADER == 8);
