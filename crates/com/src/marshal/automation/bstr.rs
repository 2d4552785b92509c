//! BSTR: a string of UTF-16 with its length, in memory of the C library's allocator.

use crate::types::error::{Error, Result, code};
use crate::types::memory::{allocate, release, slice};
use std::fmt;

/// The number of bytes before the characters. The last four of these bytes contain the string's
/// length in bytes. The characters are aligned to 8 bytes.
const PREFIX: usize = 8;
/// The greatest length of a string in bytes. With the prefix and the terminating zero, an
/// allocation has at most `i32::MAX` bytes.
const BYTES_MAX: usize = i32::MAX as usize - PREFIX - 2;

/// A string of Automation: 16-bit units, any of which may be zero, with their length before them
/// and a terminating zero.
///
/// A null pointer counts as an empty string. Only C code can tell a null pointer and an empty
/// string apart.
#[repr(transparent)]
pub struct Bstr(
    // Invariant: null, or a string from `alloc` that this value owns.
    *mut u16,
);

// SAFETY: the string is memory with one owner, and the memory does not belong to a thread.
unsafe impl Send for Bstr {}
// SAFETY: the string is memory that does not belong to a thread, and that is not changed through a
// shared reference.
unsafe impl Sync for Bstr {}

/// Allocates a string of `bytes` bytes that begins with a copy of `from` and is filled with zeros.
///
/// # Errors
///
/// E_OUTOFMEMORY where the string is too long or no memory is left.
pub(crate) fn alloc(from: &[u8], bytes: usize) -> Result<*mut u16> {
    if bytes > BYTES_MAX || from.len() > bytes {
        return Err(Error::new(code::E_OUTOFMEMORY, "the string is too long for a BSTR"));
    }
    let start = allocate(PREFIX + bytes + 2)?.cast::<u8>();
    let text = start.wrapping_add(PREFIX);
    // SAFETY: the allocation has room for the length before the text, at an aligned address.
    unsafe { text.cast::<u32>().wrapping_sub(1).write(bytes as u32) };
    // SAFETY: the allocation has room for the text, and is new, so it does not overlap `from`.
    unsafe { text.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
    // SAFETY: the allocation has room for the text and for two more bytes, the terminating zero.
    unsafe { text.wrapping_add(from.len()).write_bytes(0, bytes - from.len() + 2) };
    Ok(text.cast())
}

/// Frees a string.
///
/// # Safety
///
/// `text` must be null, or from [`alloc`] and not be used again.
pub(crate) unsafe fn free(text: *mut u16) {
    if !text.is_null() {
        // SAFETY: the caller promises that `text` is from `alloc`, so its allocation begins
        // `PREFIX` bytes earlier.
        let start = unsafe { text.cast::<u8>().sub(PREFIX) };
        // SAFETY: `start` is the start of an allocation that, as the caller promises, is not used
        // again.
        unsafe { release(start.cast()) };
    }
}

/// Returns the length of a string in bytes.
///
/// # Safety
///
/// `text` must be null, or from [`alloc`].
pub(crate) unsafe fn byte_length(text: *const u16) -> usize {
    if text.is_null() {
        return 0;
    }
    // SAFETY: the caller promises that `text` is from `alloc`, so its length precedes the
    // characters.
    let length = unsafe { text.cast::<u32>().sub(1) };
    // SAFETY: `length` leads to the length that `alloc` has written.
    unsafe { length.read() as usize }
}

impl Bstr {
    /// Returns a null string.
    pub const fn new() -> Self {
        Self(std::ptr::null_mut())
    }

    /// Makes a string of these units.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY where the string is too long or no memory is left.
    pub fn from_wide(units: &[u16]) -> Result<Self> {
        if units.is_empty() {
            return Ok(Self::new());
        }
        // SAFETY: the bytes are those of the units.
        let bytes = unsafe { std::slice::from_raw_parts(units.as_ptr().cast::<u8>(), size_of_val(units)) };
        Self::from_bytes(bytes)
    }

    /// Makes a string of arbitrary bytes, to which the programs that exchange the string give a
    /// meaning.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY where the string is too long or no memory is left.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Self(alloc(bytes, bytes.len())?))
    }

    /// Returns a copy of the string.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY where the string is too long or no memory is left.
    pub(crate) fn copy(&self) -> Result<Self> {
        if self.0.is_null() { Ok(Self::new()) } else { Self::from_bytes(self.as_bytes()) }
    }

    /// Returns the units without the terminating zero. The last byte of an odd number of bytes is
    /// left out.
    pub fn as_wide(&self) -> &[u16] {
        // SAFETY: by the invariant of the field, the string is null or from `alloc`.
        let count = unsafe { byte_length(self.0) } / 2;
        // SAFETY: by the invariant of the field, the string has `count` units, or is null and has
        // none.
        unsafe { slice(self.0, count) }
    }

    /// Returns the bytes of the string without the terminating zero.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: by the invariant of the field, the string is null or from `alloc`.
        let count = unsafe { byte_length(self.0) };
        // SAFETY: by the invariant of the field, the string has `count` bytes, or is null and has
        // none.
        unsafe { slice(self.0.cast(), count) }
    }

    /// Whether the string has no bytes.
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    /// Takes ownership of a string.
    ///
    /// # Safety
    ///
    /// `text` must be null, or made by this library and owned by the caller.
    pub const unsafe fn from_raw(text: *mut u16) -> Self {
        Self(text)
    }

    /// Releases ownership of the string to the caller.
    pub fn into_raw(self) -> *mut u16 {
        std::mem::ManuallyDrop::new(self).0
    }

    /// Returns the address of the units.
    pub const fn as_ptr(&self) -> *const u16 {
        self.0
    }
}

impl Drop for Bstr {
    fn drop(&mut self) {
        // SAFETY: by the invariant of the field, the string is null, or from `alloc` and owned. It
        // is not used after this.
        unsafe { free(self.0) };
    }
}

impl Default for Bstr {
    fn default() -> Self {
        Self::new()
    }
}

/// # Panics
///
/// If memory is exhausted.
impl Clone for Bstr {
    fn clone(&self) -> Self {
        self.copy().expect("memory for a string")
    }
}

/// # Panics
///
/// If memory is exhausted.
impl From<&str> for Bstr {
    fn from(text: &str) -> Self {
        Self::from_wide(&text.encode_utf16().collect::<Vec<_>>()).expect("memory for a string")
    }
}

impl PartialEq for Bstr {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Bstr {}

impl PartialEq<str> for Bstr {
    fn eq(&self, other: &str) -> bool {
        self.as_wide().iter().copied().eq(other.encode_utf16())
    }
}

impl fmt::Display for Bstr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf16_lossy(self.as_wide()))
    }
}

impl fmt::Debug for Bstr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bstr_has_its_length_and_a_terminating_zero() {
        let text = Bstr::from("a\0ö");
        assert_eq!(text.as_wide(), [0x61, 0, 0xf6]);
        assert_eq!(text, *"a\0ö");
        // SAFETY: four bytes lie before the text.
        let length = unsafe { text.as_ptr().cast::<u32>().wrapping_sub(1).read() };
        // SAFETY: two bytes follow the text.
        let end = unsafe { text.as_ptr().wrapping_add(3).read() };
        assert_eq!((length, end), (6, 0));
        assert_eq!(text.as_ptr().addr() % 8, 0);
        assert_eq!(text.clone(), text);
    }

    #[test]
    fn the_null_bstr_equals_the_empty_string() {
        let none = Bstr::new();
        assert!(none.is_empty() && none.as_ptr().is_null());
        assert_eq!(none, Bstr::from_bytes(&[]).unwrap());
        assert_eq!(none, Bstr::from(""));
        assert_eq!(none.clone().to_string(), "");
    }

    #[test]
    fn a_bstr_can_have_an_odd_number_of_bytes() {
        let bytes = Bstr::from_bytes(b"abc").unwrap();
        assert_eq!(bytes.as_bytes(), b"abc");
        assert_eq!(bytes.as_wide(), [u16::from_le_bytes(*b"ab")]);
        // SAFETY: the string was just released by `into_raw`.
        let moved = unsafe { Bstr::from_raw(bytes.into_raw()) };
        assert_eq!(moved.as_bytes(), b"abc");
    }

    #[test]
    fn bstr_lengths_over_the_limit_are_refused() {
        assert_eq!(alloc(&[], usize::MAX).unwrap_err().code(), code::E_OUTOFMEMORY);
        assert_eq!(alloc(&[], BYTES_MAX + 1).unwrap_err().code(), code::E_OUTOFMEMORY);
        assert_eq!(alloc(b"ab", 1).unwrap_err().code(), code::E_OUTOFMEMORY);
    }
}
