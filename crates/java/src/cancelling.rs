//! How long calls may take, and ending them from another thread.

use com::{Result, with_timeout};
use std::time::Duration;

/// What ends calls that are made with it.
#[derive(Debug, Default)]
pub struct Canceller(com::Canceller);

/// Runs calls of this thread, all of which together are limited.
///
/// # Safety
///
/// `canceller` must be null or one of this library's, and stay for the call.
pub(crate) unsafe fn within<R>(
    nanoseconds: u64,
    canceller: *const Canceller,
    calls: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let limited = || with_timeout(Duration::from_nanos(nanoseconds), calls);
    // SAFETY: the caller's promise.
    match unsafe { canceller.as_ref() } {
        Some(canceller) => canceller.0.run(limited),
        None => limited(),
    }
}

/// Makes a canceller.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_canceller() -> *mut Canceller {
    Box::into_raw(Box::default())
}

/// Ends the calls that are made with a canceller, now and later ones.
///
/// # Safety
///
/// `canceller` must be one of this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_cancel(canceller: *const Canceller) {
    // SAFETY: the caller's promise.
    let canceller = unsafe { &*canceller };
    crate::outcome::guarded_or((), || canceller.0.cancel());
}

/// Frees a canceller.
///
/// # Safety
///
/// `canceller` must be one of this library's, and nobody use it again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_free_canceller(canceller: *mut Canceller) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(canceller) });
}
