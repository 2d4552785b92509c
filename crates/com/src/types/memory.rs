//! Memory and parameters of callers in the same process: the allocator of COM, and pointers as
//! slices, strings and vtables.

use crate::types::error::{Result, code};
use std::ffi::{CStr, c_void};
use widestring::U16CStr;

// SAFETY: the declarations are those of the C library.
unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// The least size of an allocation in bytes. The C library need not align a smaller allocation for
/// every type.
const LEAST: usize = 16;

/// Allocates memory for a value that one side of a call allocates and the other side frees. The
/// memory comes from the C library, which every language can use.
///
/// # Errors
///
/// E_OUTOFMEMORY.
pub fn allocate(bytes: usize) -> Result<*mut c_void> {
    // SAFETY: malloc may be called with any size.
    let memory = unsafe { malloc(bytes.max(LEAST)) };
    if memory.is_null() { Err(code::E_OUTOFMEMORY.into()) } else { Ok(memory) }
}

/// Allocates zeroed memory of the C library. Pages that are never written cost no memory.
///
/// # Errors
///
/// E_OUTOFMEMORY.
pub(crate) fn allocate_zeroed(bytes: usize) -> Result<*mut c_void> {
    // SAFETY: calloc may be called with any size.
    let memory = unsafe { calloc(bytes.max(LEAST), 1) };
    if memory.is_null() { Err(code::E_OUTOFMEMORY.into()) } else { Ok(memory) }
}

/// Frees memory of the C library.
///
/// # Safety
///
/// `memory` must be null, or come from the C library's allocator and not be used again.
pub unsafe fn release(memory: *mut c_void) {
    // SAFETY: the caller promises that the memory is null or comes from the C library's allocator,
    // and is not used again.
    unsafe { free(memory) };
}

/// Returns the vtable of an interface pointer.
///
/// # Safety
///
/// `object` must be a live interface pointer whose vtable is a `V`.
#[inline(always)]
pub unsafe fn vtable<'a, V>(object: *mut c_void) -> &'a V {
    // SAFETY: the caller promises that `object` is a live interface pointer, so it points to a
    // pointer to its vtable.
    let vtable = unsafe { *object.cast::<*const V>() };
    // SAFETY: the caller promises that the vtable is a `V`; vtables outlive their objects.
    unsafe { &*vtable }
}

/// Returns an array parameter as a slice. A null pointer is an empty array.
///
/// # Safety
///
/// `first` must be null, or readable for `count` elements for `'a`, and no code may write them
/// during `'a`.
#[inline(always)]
pub unsafe fn slice<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the pointer is not null. The caller promises that `count` elements are readable for
    // `'a`, and that no code writes them during `'a`.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// Returns an array parameter as a mutable slice. A null pointer is an empty array.
///
/// # Safety
///
/// `first` must be null, or exclusively writable for `count` elements for `'a`.
#[inline(always)]
pub unsafe fn slice_mut<'a, T>(first: *mut T, count: usize) -> &'a mut [T] {
    if first.is_null() || count == 0 {
        return &mut [];
    }
    // SAFETY: the pointer is not null. The caller promises that `count` elements are exclusively
    // writable for `'a`.
    unsafe { std::slice::from_raw_parts_mut(first, count) }
}

/// Returns a string parameter. `None` for a null pointer.
///
/// # Safety
///
/// `text` must be null or end in a zero, and stay valid for `'a`.
pub unsafe fn text<'a>(text: *const u8) -> Option<&'a CStr> {
    // SAFETY: the pointer is not null. The caller promises that the string ends in a zero and stays
    // valid for `'a`.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text.cast()) })
}

/// Returns a string parameter of 16-bit characters. `None` for a null pointer.
///
/// # Safety
///
/// As for [`text`].
pub unsafe fn wide<'a>(text: *const u16) -> Option<&'a U16CStr> {
    // SAFETY: the pointer is not null. The caller promises that the string ends in a zero and stays
    // valid for `'a`.
    (!text.is_null()).then(|| unsafe { U16CStr::from_ptr_str(text) })
}

/// Writes a result through a pointer of the caller.
///
/// # Safety
///
/// `to` must be null or writable.
///
/// # Errors
///
/// E_POINTER for a null pointer.
pub(crate) unsafe fn put<T>(to: *mut T, value: T) -> Result<()> {
    if to.is_null() {
        return Err(code::E_POINTER.into());
    }
    // SAFETY: the pointer is not null, so the caller promises that it is writable.
    unsafe { to.write(value) };
    Ok(())
}
