//! Errors: an HRESULT, and words that wait for who asks; and memory that goes from hand to hand.

use com::{Error, HRESULT, Result, abi, code};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// What the last question for words was answered with.
    static TEXT: RefCell<CString> = RefCell::default();
}

/// Runs what an entry point does. No panic leaves it.
pub(crate) fn guarded(work: impl FnOnce() -> Result<()>) -> HRESULT {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => code::S_OK,
        Ok(Err(error)) => abi::fail(error),
        Err(_) => code::E_UNEXPECTED,
    }
}

/// A string that a program passed.
///
/// # Safety
///
/// `text` must be null or end in NUL, and stay for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return Err(code::E_POINTER.into());
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Error::new(code::E_INVALIDARG, "a string is not UTF-8"))
}

/// `obvia_error_text` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_error_text(result: HRESULT) -> *const c_char {
    let text = CString::new(abi::text(result).replace('\0', " ")).unwrap_or_default();
    let keep = |kept: &RefCell<CString>| {
        *kept.borrow_mut() = text;
        kept.borrow().as_ptr()
    };
    // A thread that ends keeps no words any more.
    TEXT.try_with(keep).unwrap_or(c"".as_ptr())
}

/// `obvia_fail` in obvia.h.
///
/// # Safety
///
/// `words` must be null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_fail(result: HRESULT, words: *const c_char) -> HRESULT {
    // SAFETY: the caller's promise.
    match unsafe { text(words) } {
        Ok(words) => abi::fail(Error::new(result, words)),
        Err(_) => result,
    }
}

/// `obvia_alloc` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_alloc(bytes: usize) -> *mut c_void {
    abi::allocate(bytes).unwrap_or(std::ptr::null_mut())
}

/// `obvia_free` in obvia.h.
///
/// # Safety
///
/// `memory` must be null, or come from the C library's allocator and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_free(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { abi::release(memory) };
}
