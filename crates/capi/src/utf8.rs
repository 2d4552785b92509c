//! The check of strings that have to be in UTF-8.

use std::ffi::{CStr, c_char, c_int};

/// `obvia_is_utf8` in obvia_stub.h.
///
/// # Safety
///
/// `text` must be null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_is_utf8(text: *const c_char) -> c_int {
    // SAFETY: the caller's promise; not null.
    let is_utf8 = text.is_null() || unsafe { CStr::from_ptr(text) }.to_str().is_ok();
    c_int::from(is_utf8)
}
