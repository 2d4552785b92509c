//! Cancelling calls of other threads, and detecting a cancellation in methods: obvia.h.

use crate::errors::release;
use com::{Canceller, abi};

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
    // SAFETY: the caller's promise.
    unsafe { release(canceller.cast_mut()) };
}

/// `obvia_add_canceller` in obvia.h.
///
/// # Safety
///
/// `canceller` must be null, or come from [`obvia_new_canceller`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_add_canceller(canceller: *const Canceller) {
    // SAFETY: the caller's promise.
    if let Some(canceller) = unsafe { canceller.as_ref() } {
        abi::add_canceller(canceller);
    }
}

/// `obvia_remove_canceller` in obvia.h.
///
/// # Safety
///
/// `canceller` must be null, or come from [`obvia_new_canceller`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_remove_canceller(canceller: *const Canceller) {
    // SAFETY: the caller's promise.
    if let Some(canceller) = unsafe { canceller.as_ref() } {
        abi::remove_canceller(canceller);
    }
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
