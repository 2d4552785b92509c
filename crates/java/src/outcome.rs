//! The results of functions: an HRESULT, a description that can be fetched, and bytes of any
//! length.

use com::{Error, HRESULT, Result, abi, code};
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of a function. A panic does not leave this function but becomes E_UNEXPECTED.
pub(crate) fn guarded(work: impl FnOnce() -> Result<HRESULT>) -> HRESULT {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => abi::fail(error),
        Err(_) => code::E_UNEXPECTED,
    }
}

/// Runs the body of a function that reports no errors. Returns `otherwise` if the body panics.
pub(crate) fn guarded_or<R>(otherwise: R, work: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

/// Returns a string from Java.
///
/// # Safety
///
/// `text` must be null or NUL-terminated, and valid for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return Err(code::E_POINTER.into());
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Error::new(code::E_INVALIDARG, "a string is not UTF-8"))
}

/// Returns bytes from Java.
///
/// # Safety
///
/// `first` must be readable for `length` bytes for `'a`, or `length` must be 0.
pub(crate) unsafe fn bytes<'a>(first: *const u8, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(first, length) }
}

/// Writes a result to the caller's variable.
///
/// # Safety
///
/// `place` must be null or writable.
pub(crate) unsafe fn give<T>(place: *mut T, value: T) -> Result<HRESULT> {
    if place.is_null() {
        return Err(code::E_POINTER.into());
    }
    // SAFETY: the caller promises that `place` is writable unless it is null, and it is not null
    // here.
    unsafe { place.write(value) };
    Ok(code::S_OK)
}

/// Bytes for the caller. They are in the caller's buffer if they fit. If not, they are kept until
/// the caller fetches them by [`obvia_java_take`].
#[derive(Debug)]
#[repr(C)]
pub struct Bytes {
    /// The caller's buffer.
    buffer: *mut u8,
    /// The capacity of the buffer in bytes.
    capacity: usize,
    /// The number of bytes.
    length: usize,
    /// The bytes that did not fit, or null.
    rest: *mut Vec<u8>,
}

/// Passes bytes to the caller: see [`Bytes`].
///
/// # Safety
///
/// `to` must be null, or refer to a structure whose buffer is writable for its capacity.
pub(crate) unsafe fn give_bytes(to: *mut Bytes, bytes: Vec<u8>) -> Result<()> {
    // SAFETY: the caller's promise.
    let to = unsafe { to.as_mut() }.ok_or(code::E_POINTER)?;
    to.length = bytes.len();
    if bytes.len() > to.capacity {
        to.rest = Box::into_raw(Box::new(bytes));
        return Ok(());
    }
    to.rest = std::ptr::null_mut();
    // SAFETY: the caller promises that the buffer is writable for its capacity. The bytes fit, and
    // `bytes` does not overlap the buffer.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.buffer, bytes.len()) };
    Ok(())
}

/// Copies bytes that did not fit to `buffer`, and frees them. If `buffer` is null, only frees them.
///
/// # Safety
///
/// `rest` must come from a [`Bytes`] or from [`obvia_java_room`], and must not be used again;
/// `buffer` must be null, or writable for the number of the bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_take(rest: *mut Vec<u8>, buffer: *mut u8) {
    // SAFETY: the caller's promise.
    let bytes = unsafe { Box::from_raw(rest) };
    if buffer.is_null() {
        return;
    }
    // SAFETY: as above.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer, bytes.len()) };
}

/// Allocates zeroed bytes, and stores the address of the first byte in `*first`. Returns the owner
/// of the bytes, or null if there is not enough memory. [`obvia_java_take`] frees the bytes.
///
/// # Safety
///
/// `first` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_room(length: usize, first: *mut *mut u8) -> *mut Vec<u8> {
    guarded_or(std::ptr::null_mut(), || {
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(length).is_err() {
            return std::ptr::null_mut();
        }
        bytes.resize(length, 0);
        // SAFETY: the caller's promise.
        unsafe { first.write(bytes.as_mut_ptr()) };
        Box::into_raw(Box::new(bytes))
    })
}

/// Returns the description of this thread's last failure, if that failure had the HRESULT `result`,
/// in the format of a fault's frame.
///
/// # Safety
///
/// `frame` must meet the conditions of [`give_bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_words(result: HRESULT, frame: *mut Bytes) {
    guarded_or((), || {
        // SAFETY: the caller's promise. A null pointer means that the caller wants no description.
        let _ = unsafe { give_bytes(frame, abi::words_frame(result)) };
    });
}
