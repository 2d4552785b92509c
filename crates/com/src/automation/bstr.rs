//! BSTR: a string of UTF-16 that knows its length, in memory that the C library allocates.

use crate::error::{Error, Result, code};
use crate::marshal::{allocate, release};
use std::fmt;

/// Bytes before the characters: the length in bytes is in the last four, so that the characters lie at a multiple of 8.
const PREFIX: usize = 8;
/// The length is a u32 of bytes, with room for the zero behind them.
const BYTES_MAX: usize = i32::MAX as usize - PREFIX - 2;

/// A string as Automation has it: 16-bit units, any of which may be zero, with their length before them and a zero behind.
///
/// No string at all is an empty one: what allocates it makes no difference to anybody but C.
#[repr(transparent)]
pub struct Bstr(
    // Invariant: null, or from `alloc` and owned.
    *mut u16,
);

// SAFETY: plain memory with one owner.
unsafe impl Send for Bstr {}
// SAFETY: as above; it is not changed through a shared reference.
unsafe impl Sync for Bstr {}

/// Allocates a string of so many bytes, which begins with a copy of `from`, and has zeros behind.
///
/// # Errors
///
/// E_OUTOFMEMORY.
pub(crate) fn alloc(from: &[u8], bytes: usize) -> Result<*mut u16> {
    if bytes > BYTES_MAX || from.len() > bytes {
        return Err(Error::new(code::E_OUTOFMEMORY, "no string is that long"));
    }
    let start = allocate(PREFIX + bytes + 2)?.cast::<u8>();
    let text = start.wrapping_add(PREFIX);
    // SAFETY: as many bytes were allocated; aligned, as the allocation is.
    unsafe { text.cast::<u32>().wrapping_sub(1).write(bytes as u32) };
    // SAFETY: as above; fresh memory.
    unsafe { text.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
    // SAFETY: as above.
    unsafe { text.wrapping_add(from.len()).write_bytes(0, bytes - from.len() + 2) };
    Ok(text.cast())
}

/// Frees a string.
///
/// # Safety
///
/// It must be null, or from [`alloc`] and not be used again.
pub(crate) unsafe fn free(text: *mut u16) {
    if !text.is_null() {
        // SAFETY: the caller's promise: the allocation begins there.
        let start = unsafe { text.cast::<u8>().sub(PREFIX) };
        // SAFETY: as above.
        unsafe { release(start.cast()) };
    }
}

/// How many bytes a string has.
///
/// # Safety
///
/// It must be null, or from [`alloc`].
pub(crate) unsafe fn byte_length(text: *const u16) -> usize {
    if text.is_null() {
        return 0;
    }
    // SAFETY: the caller's promise: the length lies before the characters.
    let length = unsafe { text.cast::<u32>().sub(1) };
    // SAFETY: as above.
    unsafe { length.read() as usize }
}

impl Bstr {
    /// No string.
    pub const fn new() -> Self {
        Self(std::ptr::null_mut())
    }

    /// A string of these units.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY.
    pub fn from_wide(units: &[u16]) -> Result<Self> {
        if units.is_empty() {
            return Ok(Self::new());
        }
        // SAFETY: the units' own bytes.
        let bytes = unsafe { std::slice::from_raw_parts(units.as_ptr().cast::<u8>(), size_of_val(units)) };
        Self::from_bytes(bytes)
    }

    /// Bytes that go as a string: what they mean is known to those who exchange them.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Self(alloc(bytes, bytes.len())?))
    }

    /// A copy.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY.
    pub(crate) fn copy(&self) -> Result<Self> {
        if self.0.is_null() { Ok(Self::new()) } else { Self::from_bytes(self.as_bytes()) }
    }

    /// The units, without the zero behind them. Of an odd number of bytes the last one is left out.
    pub fn as_wide(&self) -> &[u16] {
        // SAFETY: by the invariant.
        let count = unsafe { byte_length(self.0) } / 2;
        // SAFETY: as above.
        unsafe { crate::rt::slice(self.0, count) }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: by the invariant.
        let count = unsafe { byte_length(self.0) };
        // SAFETY: as above.
        unsafe { crate::rt::slice(self.0.cast(), count) }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    /// Takes over a string.
    ///
    /// # Safety
    ///
    /// It must be null, or made by this library, and the caller's.
    pub const unsafe fn from_raw(text: *mut u16) -> Self {
        Self(text)
    }

    /// Hands the string over to whoever frees it.
    pub fn into_raw(self) -> *mut u16 {
        std::mem::ManuallyDrop::new(self).0
    }

    /// The string's address.
    pub const fn as_ptr(&self) -> *const u16 {
        self.0
    }
}

impl Drop for Bstr {
    fn drop(&mut self) {
        // SAFETY: by the invariant.
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
/// When there is no memory, as with every clone.
impl Clone for Bstr {
    fn clone(&self) -> Self {
        self.copy().expect("memory for a string")
    }
}

/// # Panics
///
/// When there is no memory, as with every string.
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
    fn knows_its_length_and_ends_in_a_zero() {
        let text = Bstr::from("a\0ö");
        assert_eq!(text.as_wide(), [0x61, 0, 0xf6]);
        assert_eq!(text, *"a\0ö");
        // SAFETY: four bytes lie before the text.
        let length = unsafe { text.as_ptr().cast::<u32>().wrapping_sub(1).read() };
        // SAFETY: two bytes lie behind it.
        let end = unsafe { text.as_ptr().wrapping_add(3).read() };
        assert_eq!((length, end), (6, 0));
        assert_eq!(text.as_ptr().addr() % 8, 0);
        assert_eq!(text.clone(), text);
    }

    #[test]
    fn no_string_is_an_empty_one() {
        let none = Bstr::new();
        assert!(none.is_empty() && none.as_ptr().is_null());
        assert_eq!(none, Bstr::from_bytes(&[]).unwrap());
        assert_eq!(none, Bstr::from(""));
        assert_eq!(none.clone().to_string(), "");
    }

    #[test]
    fn bytes_may_be_odd_in_number() {
        let bytes = Bstr::from_bytes(b"abc").unwrap();
        assert_eq!(bytes.as_bytes(), b"abc");
        assert_eq!(bytes.as_wide(), [u16::from_le_bytes(*b"ab")]);
        // SAFETY: what a string of C's would read.
        let moved = unsafe { Bstr::from_raw(bytes.into_raw()) };
        assert_eq!(moved.as_bytes(), b"abc");
    }

    #[test]
    fn no_memory_is_asked_for_what_has_no_length() {
        assert_eq!(alloc(&[], usize::MAX).unwrap_err().code(), code::E_OUTOFMEMORY);
        assert_eq!(alloc(&[], BYTES_MAX + 1).unwrap_err().code(), code::E_OUTOFMEMORY);
        assert_eq!(alloc(b"ab", 1).unwrap_err().code(), code::E_OUTOFMEMORY);
    }
}
