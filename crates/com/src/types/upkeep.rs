//! The signal of the janitor: any part of the runtime wakes the janitor when there is something to
//! clean up.

use crate::types::threads::lock;
use std::sync::{Condvar, Mutex, Once, OnceLock, PoisonError};
use std::time::Duration;

static PENDING: Mutex<bool> = Mutex::new(false);
static SIGNAL: Condvar = Condvar::new();
static START: Once = Once::new();
/// The janitor's work. Not set before the process has a runtime.
static WORK: OnceLock<fn()> = OnceLock::new();

/// Sets the janitor's work. Only the first call has an effect.
pub(crate) fn set_work(work: fn()) {
    WORK.get_or_init(|| work);
}

/// Starts the janitor unless it runs. Does nothing before the process has a runtime, since there is
/// nothing to clean up.
pub(crate) fn start() {
    let Some(work) = WORK.get() else { return };
    START.call_once(|| {
        // If the thread cannot be started, references are given back only when the process ends.
        let _ = std::thread::Builder::new().name("obvia-janitor".to_owned()).spawn(work);
    });
}

/// Wakes the janitor, since there is work for it: references are to be given back, or a peer has
/// ended.
pub(crate) fn wake() {
    start();
    let mut pending = lock(&PENDING);
    if !*pending {
        *pending = true;
        SIGNAL.notify_one();
    }
}

/// Waits until the janitor is woken, or the time has passed. Returns whether it was woken.
pub(crate) fn wait(span: Duration) -> bool {
    let waited = SIGNAL.wait_timeout_while(lock(&PENDING), span, |pending| !*pending);
    let (mut pending, outcome) = waited.unwrap_or_else(PoisonError::into_inner);
    *pending = false;
    !outcome.timed_out()
}
