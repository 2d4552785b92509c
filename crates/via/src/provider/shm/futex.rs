//! Sleeping on a shared word, and waking its sleepers.

use crate::sync::AtomicU32;
use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use rustix::time::Timespec;
use std::time::Duration;

/// Sleeps while `word` holds `value`, at most `span`. The return tells nothing: callers look again.
pub(super) fn wait(word: &AtomicU32, value: u32, span: Duration) {
    let timeout =
        Timespec { tv_sec: i64::try_from(span.as_secs()).unwrap_or(i64::MAX), tv_nsec: span.subsec_nanos().into() };
    // Callers look again after every outcome: woken, changed, timed out, interrupted.
    let outcome = futex::wait(word, Flags::empty(), value, Some(&timeout));
    debug_assert!(matches!(outcome, Ok(()) | Err(Errno::AGAIN | Errno::TIMEDOUT | Errno::INTR)), "{outcome:?}");
}

/// Wakes all threads that sleep on `word`.
pub(super) fn wake(word: &AtomicU32) {
    let outcome = futex::wake(word, Flags::empty(), i32::MAX as u32);
    debug_assert!(outcome.is_ok(), "{outcome:?}");
}
