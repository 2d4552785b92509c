//! Errors: an HRESULT, with a text that the program can query. Also memory whose ownership passes
//! between caller and callee.

use com::{Error, HRESULT, Result, abi, code};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// The last result of `obvia_error_text`.
    static TEXT: RefCell<CString> = RefCell::default();
    /// The last result of `obvia_get_error_info`: description, source and help file.
    static INFO: RefCell<[CString; 3]> = RefCell::default();
}

/// `obvia_error_info` in obvia.h.
#[derive(Debug)]
#[repr(C)]
pub struct ErrorInfo {
    description: *const c_char,
    source: *const c_char,
    help_file: *const c_char,
    help_context: u32,
}

/// Runs the body of an entry point. A panic does not leave this function but becomes E_UNEXPECTED.
pub(crate) fn guarded(work: impl FnOnce() -> Result<()>) -> HRESULT {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => code::S_OK,
        Ok(Err(error)) => abi::fail(error),
        Err(_) => code::E_UNEXPECTED,
    }
}

/// Drops a value that the program owns. A panic of the value's destructor does not leave this
/// function.
///
/// # Safety
///
/// `owned` must be null, or come from [`Box::into_raw`] and not be used again.
pub(crate) unsafe fn release<T>(owned: *mut T) {
    if !owned.is_null() {
        // The entry points that call this function have no result for errors.
        let _ = guarded(|| {
            // SAFETY: the caller promises a pointer of `Box::into_raw`.
            drop(unsafe { Box::from_raw(owned) });
            Ok(())
        });
    }
}

/// Takes a string from the program.
///
/// # Safety
///
/// `text` must be null or end in NUL, and stay valid for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return Err(code::E_POINTER.into());
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Error::new(code::E_INVALIDARG, "a string is not UTF-8"))
}

fn to_c(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// `obvia_error_text` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_error_text(result: HRESULT) -> *const c_char {
    let text = to_c(&abi::text(result));
    let keep = |kept: &RefCell<CString>| {
        *kept.borrow_mut() = text;
        kept.borrow().as_ptr()
    };
    // A thread that is ending cannot keep a text.
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
        // The failure gets no text. Without this call, `obvia_error_text` would return the text of
        // an earlier failure.
        Err(_) => abi::fail(result.into()),
    }
}

/// `obvia_fail_unforeseen` in obvia.h.
///
/// # Safety
///
/// `words` must be null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_fail_unforeseen(result: HRESULT, words: *const c_char, by_default: c_int) -> HRESULT {
    // SAFETY: the caller's promise.
    match unsafe { text(words) } {
        Ok(words) => abi::unforeseen(result, words, by_default != 0),
        Err(_) => abi::fail(result.into()),
    }
}

/// `obvia_set_exception_texts` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_set_exception_texts(are_told: c_int) {
    com::set_panic_texts(are_told != 0);
}

/// `obvia_get_error_info` in obvia.h.
///
/// # Safety
///
/// `info` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_get_error_info(result: HRESULT, info: *mut ErrorInfo) {
    let error = abi::error(result);
    let (help_file, help_context) = error.help().unwrap_or_default();
    let texts = [error.detail(), error.source_name(), Some(help_file)].map(|text| to_c(text.unwrap_or_default()));
    let keep = |kept: &RefCell<[CString; 3]>| {
        *kept.borrow_mut() = texts;
        kept.borrow().each_ref().map(|text| text.as_ptr())
    };
    // A thread that is ending cannot keep texts.
    let [description, source, help_file] = INFO.try_with(keep).unwrap_or([c"".as_ptr(); 3]);
    if !info.is_null() {
        // SAFETY: the caller's promise.
        unsafe { info.write(ErrorInfo { description, source, help_file, help_context }) };
    }
}

/// `obvia_fail_with` in obvia.h.
///
/// # Safety
///
/// `info` must be null, or its texts must be null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_fail_with(result: HRESULT, info: *const ErrorInfo) -> HRESULT {
    // SAFETY: the caller's promise.
    let Some(info) = (unsafe { info.as_ref() }) else { return abi::fail(result.into()) };
    // SAFETY: as above. A text that is null or not UTF-8 is left out.
    let word = |words: *const c_char| unsafe { text(words) }.unwrap_or_default();
    let error = match word(info.description) {
        "" => result.into(),
        description => Error::new(result, description),
    };
    abi::fail(error.with_source(word(info.source)).with_help(word(info.help_file), info.help_context))
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
