//! The state of a thread: the limits and the canceller of its calls, and its channels.

pub(crate) mod channels;

use crate::error::Result;
use obvia_rpc::vi_call::TargetId;
use obvia_via::provider::shm::Interrupter;
use obvia_via::window::Alarm;
use obvia_via::{Deadline, Limit};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The default limit on the time of a call.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const UNSAID: Deadline = Deadline::Within(DEFAULT_TIMEOUT);

thread_local! {
    /// The limit that the thread has set, if any.
    static DEADLINE: Cell<Option<Deadline>> = const { Cell::new(None) };
    /// The deadline of the call that this thread performs, if its caller sent one.
    static INHERITED: Cell<Option<Instant>> = const { Cell::new(None) };
    static CANCELLER: RefCell<Option<Canceller>> = const { RefCell::new(None) };
    /// The object of this process that was unmarshaled last, with the references that came with it.
    static RETURNED: Cell<Option<(TargetId, u64)>> = const { Cell::new(None) };
}

/// Runs `calls` with another limit on the time of each call of this thread. Calls made by a method
/// end by [`caller_deadline`] even where the limit is later.
///
/// # Example
///
/// ```
/// let answer = obvia::with_timeout(std::time::Duration::from_millis(200), || 6 * 7);
/// assert_eq!(answer, 42);
/// ```
pub fn with_timeout<R>(timeout: Duration, calls: impl FnOnce() -> R) -> R {
    with(Deadline::Within(timeout), calls)
}

/// Runs `calls`, all of which together must end by `deadline`.
pub fn with_deadline<R>(deadline: std::time::Instant, calls: impl FnOnce() -> R) -> R {
    with(Deadline::At(deadline), calls)
}

/// Sets the limit on the time of this thread's further calls; `None` restores the default. Returns
/// the previous limit, if it was a length of time.
pub(crate) fn set_timeout(timeout: Option<Duration>) -> Option<Duration> {
    match replace(timeout.map(Deadline::Within)) {
        Some(Deadline::Within(before)) => Some(before),
        _ => None,
    }
}

/// Returns the deadline of the method that runs on this thread, as its caller has set it by
/// [`with_timeout`] or [`with_deadline`]. Calls that the method makes end by then even where their
/// own limit is later. `None` where the caller sent no deadline or does not wait, and where the
/// thread performs no call.
pub fn caller_deadline() -> Option<Instant> {
    INHERITED.get()
}

/// Sets the deadline that the performed call imposes on all calls of this thread.
pub(crate) fn limit_to(end: Option<Instant>) {
    if INHERITED.replace(end) != end {
        channels::prepare_again();
    }
}

/// Replaces the thread's own limit and returns the previous one.
fn replace(deadline: Option<Deadline>) -> Option<Deadline> {
    let before = DEADLINE.replace(deadline);
    if before != deadline {
        channels::prepare_again();
    }
    before
}

/// Runs `calls` with a limit on each of them or on all of them together.
pub(crate) fn with<R>(deadline: Deadline, calls: impl FnOnce() -> R) -> R {
    struct Restore(Option<Deadline>);
    impl Drop for Restore {
        fn drop(&mut self) {
            replace(self.0);
        }
    }
    let _restore = Restore(replace(Some(deadline)));
    calls()
}

/// Returns the deadline of the calls that this thread makes now.
#[inline]
pub(crate) fn deadline() -> Deadline {
    match (DEADLINE.get(), INHERITED.get()) {
        (own, None) => own.unwrap_or(UNSAID),
        (own, Some(end)) => sooner(own.unwrap_or(UNSAID), end),
    }
}

/// Returns the deadline that calls of this thread tell their callees: that of [`with_timeout`] or
/// [`with_deadline`], or that of the caller of the method that runs. [`DEFAULT_TIMEOUT`] limits
/// each call here and is never told.
#[inline]
pub(crate) fn said_deadline() -> Option<Deadline> {
    match (DEADLINE.get(), INHERITED.get()) {
        (own, None) => own,
        (None, Some(end)) => Some(Deadline::At(end)),
        (Some(own), Some(end)) => Some(sooner(own, end)),
    }
}

fn sooner(own: Deadline, end: Instant) -> Deadline {
    match own.start() {
        Deadline::At(own) if own < end => Deadline::At(own),
        _ => Deadline::At(end),
    }
}

/// Records that an object of this process was unmarshaled here, with the references that its sender
/// gave up.
pub(crate) fn note_return(target: TargetId, refs: u64) {
    RETURNED.set(Some((target, refs)));
}

/// Returns the object of the last [`note_return`], once.
pub(crate) fn take_return() -> Option<(TargetId, u64)> {
    RETURNED.take()
}

/// The limit of the current thread, evaluated when a wait begins.
#[derive(Clone, Copy)]
pub(crate) struct ThreadLimit;

impl Limit for ThreadLimit {
    #[inline]
    fn deadline(self) -> Deadline {
        deadline()
    }
}

#[derive(Debug, Default)]
struct CancelState {
    cancelled: AtomicBool,
    waiting: Mutex<Option<Bell>>,
}

/// A handle that ends a wait of the thread whose calls can be cancelled.
#[derive(Debug)]
pub(crate) enum Bell {
    /// The wait for a message on a connection.
    Alarm(Alarm),
    /// The wait for a server's greeting.
    Greeting(Interrupter),
}

impl From<Alarm> for Bell {
    fn from(alarm: Alarm) -> Self {
        Self::Alarm(alarm)
    }
}

impl From<Interrupter> for Bell {
    fn from(interrupter: Interrupter) -> Self {
        Self::Greeting(interrupter)
    }
}

impl Bell {
    fn ring(&self) {
        match self {
            Self::Alarm(alarm) => alarm.ring(),
            Self::Greeting(interrupter) => interrupter.ring(),
        }
    }
}

/// Cancels calls of another thread: see [`Canceller::run`].
#[derive(Clone, Debug, Default)]
pub struct Canceller(Arc<CancelState>);

impl Canceller {
    /// Returns an unused canceller.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `calls` on this thread so that [`Self::cancel`] ends the current one and all later ones
    /// with RPC_E_CALL_CANCELED.
    ///
    /// In nested calls of this function, the innermost canceller applies. Methods in other
    /// processes are not interrupted; they can poll [`crate::is_cancelled`].
    pub fn run<R>(&self, calls: impl FnOnce() -> R) -> R {
        struct Restore(Option<Canceller>);
        impl Drop for Restore {
            fn drop(&mut self) {
                set_canceller(self.0.take());
            }
        }
        let _restore = Restore(set_canceller(Some(self.clone())));
        calls()
    }

    /// Cancels the calls. The function may be called from any thread, any number of times.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        let waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bell) = waiting.as_ref() {
            bell.ring();
        }
    }

    fn is_used(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Sets the bell that a cancellation rings, and returns the previous one.
    fn set_waiting(&self, bell: Option<Bell>) -> Option<Bell> {
        std::mem::replace(&mut *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner), bell)
    }
}

/// Sets the canceller of this thread's further calls, and returns the previous one.
pub(crate) fn set_canceller(canceller: Option<Canceller>) -> Option<Canceller> {
    // A thread that is ending has no canceller, and its calls cannot be cancelled.
    let before = CANCELLER.try_with(|current| current.replace(canceller)).ok().flatten();
    if let Some(before) = &before {
        drop(before.set_waiting(None));
    }
    channels::change_canceller(before.as_ref().is_some_and(Canceller::is_used));
    before
}

/// Registers the alarm of a beginning call with the thread's canceller.
///
/// # Errors
///
/// If the canceller was used.
fn register(alarm: Alarm) -> Result<()> {
    let canceller = CANCELLER.try_with(|canceller| canceller.borrow().clone()).ok().flatten();
    let Some(canceller) = canceller else { return Ok(()) };
    drop(canceller.set_waiting(Some(alarm.into())));
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
/// its bell may have been rung.
pub(crate) fn cancellable<R>(bell: impl Into<Bell>, work: impl FnOnce() -> Result<R>) -> Result<R> {
    let canceller = CANCELLER.try_with(|canceller| canceller.borrow().clone()).ok().flatten();
    let Some(canceller) = canceller else { return work() };
    let before = canceller.set_waiting(Some(bell.into()));
    // The flag is read while the bell is in place, as in `register`.
    let outcome = if canceller.is_used() { Err(obvia_via::Error::Cancelled.into()) } else { work() };
    drop(canceller.set_waiting(before));
    // The bell was rung under the lock of its place, after the flag was set.
    if canceller.is_used() { Err(obvia_via::Error::Cancelled.into()) } else { outcome }
}

/// Whether the thread's calls can be cancelled now.
fn is_cancellable() -> bool {
    // A thread that is ending has no canceller.
    CANCELLER.try_with(|canceller| canceller.borrow().is_some()).unwrap_or(false)
}
