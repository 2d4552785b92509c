//! Cancelling calls of other threads, and detecting it in methods: obvia.h.

use com::{Canceller, abi};
use std::cell::Cell;

thread_local! {
    /// The canceller that this thread has set last.
    static SET: Cell<*const Canceller> = const { Cell::new(std::ptr::null()) };
}

/// `obvia_new_canceller` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_new_canceller() -> *const Canceller {
    Box::into_raw(Box::default())
}

/// `obvia_free_canceller` in obvia.h.
///
/// # Safety
///
/// `canceller` must be null, or come from [`obvia_new_canceller`] and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_free_canceller(canceller: *const Canceller) {
    if !canceller.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(canceller.cast_mut()) });
    }
}

/// `obvia_set_canceller` in obvia.h.
///
/// # Safety
///
/// `canceller` must be null, or come from [`obvia_new_canceller`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_set_canceller(canceller: *const Canceller) -> *const Canceller {
    // SAFETY: the caller's promise.
    abi::set_canceller(unsafe { canceller.as_ref() }.cloned());
    SET.replace(canceller)
}

/// `obvia_cancel` in obvia.h.
///
/// # Safety
///
/// `canceller` must be null, or come from [`obvia_new_canceller`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_cancel(canceller: *const Canceller) {
    // SAFETY: the caller's promise.
    if let Some(canceller) = unsafe { canceller.as_ref() } {
        canceller.cancel();
    }
}

/// `obvia_is_cancelled` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_is_cancelled() -> i32 {
    i32::from(com::is_cancelled())
}
