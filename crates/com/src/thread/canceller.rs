//! The canceller of a thread's calls.

use crate::error::Result;
use obvia_via::window::Alarm;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    static CANCELLER: RefCell<Option<Canceller>> = const { RefCell::new(None) };
}

#[derive(Debug, Default)]
struct CancelState {
    cancelled: AtomicBool,
    waiting: Mutex<Option<Alarm>>,
}

/// Cancels calls of another thread: see [`Canceller::run`].
#[derive(Clone, Debug, Default)]
pub struct Canceller(Arc<CancelState>);

impl Canceller {
    /// Returns an unused canceller.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the calls. The function may be called from any thread, any number of times.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        let waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(alarm) = waiting.as_ref() {
            alarm.ring();
        }
    }

    pub(super) fn is_used(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Sets the alarm that a cancellation rings, and returns the previous one.
    fn set_waiting(&self, alarm: Option<Alarm>) -> Option<Alarm> {
        std::mem::replace(&mut *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner), alarm)
    }
}

/// Replaces the canceller of this thread. Returns the previous one, which has no alarm any more.
pub(super) fn replace(canceller: Option<Canceller>) -> Option<Canceller> {
    // A thread that is ending has no canceller, and its calls cannot be cancelled.
    let before = CANCELLER.try_with(|current| current.replace(canceller)).ok().flatten();
    if let Some(before) = &before {
        drop(before.set_waiting(None));
    }
    before
}

/// Registers the alarm of a beginning call with the thread's canceller.
///
/// # Errors
///
/// If the canceller was used.
pub(super) fn register(alarm: Alarm) -> Result<()> {
    let canceller = CANCELLER.try_with(|canceller| canceller.borrow().clone()).ok().flatten();
    let Some(canceller) = canceller else { return Ok(()) };
    drop(canceller.set_waiting(Some(alarm)));
    // The flag is read after the alarm is in place, so that a cancellation in between rings the
    // alarm.
    if canceller.is_used() { Err(obvia_via::Error::Cancelled.into()) } else { Ok(()) }
}

/// Runs the first exchanges on a new connection so that the thread's canceller ends them. A call
/// that the thread is about to make on another connection can be cancelled again afterwards.
///
/// # Errors
///
/// The errors of `work`, and if the canceller was used: the connection must not be used then, since
/// its alarm may have been rung.
pub(crate) fn cancellable<R>(alarm: Alarm, work: impl FnOnce() -> Result<R>) -> Result<R> {
    let canceller = CANCELLER.try_with(|canceller| canceller.borrow().clone()).ok().flatten();
    let Some(canceller) = canceller else { return work() };
    let before = canceller.set_waiting(Some(alarm));
    // The flag is read while the alarm is in place, as in `register`.
    let outcome = if canceller.is_used() { Err(obvia_via::Error::Cancelled.into()) } else { work() };
    drop(canceller.set_waiting(before));
    // The alarm was rung under the lock of its place, after the flag was set.
    if canceller.is_used() { Err(obvia_via::Error::Cancelled.into()) } else { outcome }
}

/// Whether the thread's calls can be cancelled now.
pub(super) fn is_cancellable() -> bool {
    // A thread that is ending has no canceller.
    CANCELLER.try_with(|canceller| canceller.borrow().is_some()).unwrap_or(false)
}
