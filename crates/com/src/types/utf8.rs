//! Strings of `[utf8]` parameters: `&str` and `String` for programs, and bytes that end in a zero
//! in vtables.

use super::error::{Error, Result, code, invalid_reply};
use super::memory::{release, text};
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;

/// The greatest length in bytes, including the final zero, of an argument that is copied to the
/// stack.
const SMALL_MAX: usize = 256;

/// The room for a copy of a string argument. The copy ends in a zero.
pub struct Utf8Room {
    small: [MaybeUninit<u8>; SMALL_MAX],
    /// The copy, if it is too long for `small`.
    large: Vec<u8>,
}

impl Utf8Room {
    /// Makes room.
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "only generated code makes room")]
    pub const fn new() -> Self {
        Self { small: [MaybeUninit::uninit(); SMALL_MAX], large: Vec::new() }
    }

    /// Copies an argument, and returns the address of the copy. The copy is valid until the room is
    /// used again or dropped. `name` is the parameter's name.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG if the text contains a zero, and E_OUTOFMEMORY.
    pub fn put(&mut self, text: &str, name: &str) -> Result<*const u8> {
        refuse_zero(text, name)?;
        let length = text.len();
        if length < SMALL_MAX {
            self.small[..length].write_copy_of_slice(text.as_bytes());
            self.small[length].write(0);
            return Ok(self.small.as_ptr().cast());
        }
        self.large.clear();
        self.large.try_reserve_exact(length + 1).map_err(|_| code::E_OUTOFMEMORY)?;
        self.large.extend_from_slice(text.as_bytes());
        self.large.push(0);
        Ok(self.large.as_ptr())
    }
}

/// Verifies that a string does not contain a zero. For the receiver, the string would end there.
/// `name` is the parameter's name.
///
/// # Errors
///
/// E_INVALIDARG if the string contains a zero.
pub fn refuse_zero(text: &str, name: &str) -> Result<()> {
    if text.as_bytes().contains(&0) {
        return Err(contains_zero(name));
    }
    Ok(())
}

#[cold]
fn contains_zero(name: &str) -> Error {
    Error::new(code::E_INVALIDARG, format!("the string `{name}` contains a zero, which would end it"))
}

/// Returns a string parameter. `None` for a null pointer. `name` is the parameter's name.
///
/// # Errors
///
/// E_INVALIDARG if the string is not in UTF-8.
///
/// # Safety
///
/// `first` must be null or end in a zero, and be valid for `'a`, and no code may write the string
/// during `'a`.
pub unsafe fn utf8_argument<'a>(first: *const u8, name: &str) -> Result<Option<&'a str>> {
    // SAFETY: the caller promises that `first` is null or ends in a zero, and that no code writes
    // the string during `'a`. Peers cannot write it either: stubs copy strings from shared memory
    // to memory of this process before they call a method.
    let bytes = unsafe { text(first) };
    bytes.map(CStr::to_str).transpose().map_err(|wrong| not_utf8(name, wrong))
}

#[cold]
fn not_utf8(name: &str, wrong: std::str::Utf8Error) -> Error {
    let place = wrong.valid_up_to();
    Error::new(code::E_INVALIDARG, format!("the string `{name}` is not in UTF-8: the byte at {place} is wrong"))
}

/// Takes a string that a method returned, and frees its memory. A null pointer becomes an empty
/// string.
///
/// # Errors
///
/// RPC_E_INVALID_DATA if the string is not in UTF-8.
///
/// # Safety
///
/// As for [`take_text`](crate::rt::take_text).
pub unsafe fn take_utf8(first: *mut u8) -> Result<String> {
    // SAFETY: the caller promises that `first` is null or ends in a zero.
    let bytes = unsafe { text(first) }.map(CStr::to_bytes).unwrap_or_default();
    let taken = std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| invalid_reply());
    // SAFETY: the caller promises that it owns this memory of the C library, which is not used
    // again.
    unsafe { release(first.cast::<c_void>()) };
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rt;

    /// Returns the string that an argument becomes in a vtable.
    fn sent(text: &str) -> Vec<u8> {
        let mut room = Utf8Room::new();
        let first = room.put(text, "name").expect("no zero");
        // SAFETY: the room has a string that ends in a zero.
        unsafe { CStr::from_ptr(first.cast()) }.to_bytes().to_vec()
    }

    #[test]
    fn texts_of_every_length_end_in_a_zero() {
        for length in [0, 1, 254, 255, 256, 257, 5000] {
            let text = "x".repeat(length);
            assert_eq!(sent(&text), text.as_bytes(), "{length}");
            // In turn, a character of three bytes begins at each position near the end of the room.
            let text = format!("{text}\u{20ac}");
            assert_eq!(sent(&text), text.as_bytes(), "{length} and 3");
        }
    }

    #[test]
    fn a_room_can_be_used_again() {
        let mut room = Utf8Room::new();
        for text in ["a".repeat(300), "b".to_owned(), "c".repeat(400), String::new()] {
            let first = room.put(&text, "name").expect("no zero");
            // SAFETY: the room has a string that ends in a zero.
            assert_eq!(unsafe { CStr::from_ptr(first.cast()) }.to_bytes(), text.as_bytes());
        }
    }

    #[test]
    fn a_zero_in_a_text_is_refused_by_name() {
        for text in ["\0", "a\0b", &("x".repeat(300) + "\0")] {
            let refused = Utf8Room::new().put(text, "title").expect_err("a zero");
            assert_eq!(refused.code(), code::E_INVALIDARG);
            assert!(refused.to_string().contains("`title`"), "{refused}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused_by_name() {
        for bytes in [&b"\xff\0"[..], b"a\x80\0", b"\xe2\x82\0", b"\xed\xa0\x80\0", b"\xc0\x80\0"] {
            // SAFETY: the bytes end in a zero, and are static.
            let refused = unsafe { utf8_argument(bytes.as_ptr(), "title") }.expect_err("no UTF-8");
            assert_eq!(refused.code(), code::E_INVALIDARG);
            assert!(refused.to_string().contains("`title`"), "{refused}");
        }
        // SAFETY: the pointer is null, which is permitted.
        assert_eq!(unsafe { utf8_argument(std::ptr::null(), "title") }, Ok(None));
        // SAFETY: the bytes end in a zero, and are static.
        assert_eq!(unsafe { utf8_argument(c"\u{20ac}uro".as_ptr().cast(), "title") }, Ok(Some("\u{20ac}uro")));
    }

    #[test]
    fn results_are_taken_and_checked() {
        for text in ["", "a", "\u{20ac}\u{1f980}", &"x".repeat(1000)] {
            // SAFETY: the string was just allocated.
            assert_eq!(unsafe { take_utf8(rt::give_utf8(text.to_owned())) }.as_deref(), Ok(text));
        }
        // SAFETY: the pointer is null, which is permitted.
        assert_eq!(unsafe { take_utf8(std::ptr::null_mut()) }.as_deref(), Ok(""));
        let wrong = rt::give_text(c"\xff".to_owned());
        // SAFETY: the string was just allocated.
        let refused = unsafe { take_utf8(wrong) }.expect_err("no UTF-8");
        assert_eq!(refused.code(), code::RPC_E_INVALID_DATA);
    }
}
