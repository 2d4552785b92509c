//! What belongs to a thread: how long its calls may take, who may cancel them, and its channels.

pub(crate) mod channels;

use crate::error::Result;
use obvia_rpc::vi_call::TargetId;
use obvia_via::window::Alarm;
use obvia_via::{Deadline, Limit};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a call may take where nobody says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const UNSAID: Deadline = Deadline::Within(DEFAULT_TIMEOUT);

thread_local! {
    /// What the thread says itself, if anything.
    static DEADLINE: Cell<Option<Deadline>> = const { Cell::new(None) };
    /// By when the call that this thread performs must have ended, if its caller has said so.
    static INHERITED: Cell<Option<Instant>> = const { Cell::new(None) };
    static CANCELLER: RefCell<Option<Canceller>> = const { RefCell::new(None) };
    /// An object of this process that came home, and the references that came with it.
    static RETURNED: Cell<Option<(TargetId, u64)>> = const { Cell::new(None) };
}

/// Runs `calls` with another limit on how long each call of this thread may take. Calls of a method end by [`caller_deadline`] even where the limit is
/// later.
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

/// Sets how long calls of this thread may take from now on; with `None` nobody has said so. Returns what it was, if it was a length of time.
pub(crate) fn set_timeout(timeout: Option<Duration>) -> Option<Duration> {
    match replace(timeout.map(Deadline::Within)) {
        Some(Deadline::Within(before)) => Some(before),
        _ => None,
    }
}

/// By when the method that runs on this thread must have answered, as its caller has said by [`with_timeout`] or [`with_deadline`]. Calls that
/// it makes end by then, whatever it says itself. `None` where the caller has not said so or does not wait, and where the thread performs no call.
pub fn caller_deadline() -> Option<Instant> {
    INHERITED.get()
}

/// Sets by when calls of this thread must end at the latest, whatever it says itself: what is left of the call that it performs.
pub(crate) fn limit_to(end: Option<Instant>) {
    if INHERITED.replace(end) != end {
        channels::prepare_again();
    }
}

/// Sets what the thread says itself.
fn replace(deadline: Option<Deadline>) -> Option<Deadline> {
    let before = DEADLINE.replace(deadline);
    if before != deadline {
        channels::prepare_again();
    }
    before
}

/// Runs `calls`, each of which, or all of which together, are limited like this.
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
/// [`with_deadline`], or that of the caller of the method that runs. [`DEFAULT_TIMEOUT`] limits each
/// call here and is never told.
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

/// An object of this process came home, with references that its sender gave up.
pub(crate) fn note_return(target: TargetId, refs: u64) {
    RETURNED.set(Some((target, refs)));
}

/// The object that came home last, once.
pub(crate) fn take_return() -> Option<(TargetId, u64)> {
    RETURNED.take()
}

/// That limit, looked up when a wait asks for it.
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
    waiting: Mutex<Option<Alarm>>,
}

/// Cancels calls of another thread: see [`Canceller::run`].
#[derive(Clone, Debug, Default)]
pub struct Canceller(Arc<CancelState>);

impl Canceller {
    /// A canceller that nobody has used yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `calls` on this thread so that [`Self::cancel`] ends them, now and later ones, with RPC_E_CALL_CANCELED.
    ///
    /// Where one runs within another, the calls are the inner one's. Methods are not interrupted: those in other processes look
    /// at [`crate::is_cancelled`] if they care.
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

    /// Cancels. May be called from any thread, any number of times.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        let waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(alarm) = waiting.as_ref() {
            alarm.ring();
        }
    }

    fn is_used(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    fn set_waiting(&self, alarm: Option<Alarm>) {
        *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner) = alarm;
    }
}

/// Sets who can cancel calls of this thread from now on, and returns who could.
pub(crate) fn set_canceller(canceller: Option<Canceller>) -> Option<Canceller> {
    // A thread that ends has none any more, and its calls cannot be cancelled.
    let before = CANCELLER.try_with(|current| current.replace(canceller)).ok().flatten();
    if let Some(before) = &before {
        before.set_waiting(None);
    }
    channels::change_canceller(before.as_ref().is_some_and(Canceller::is_used));
    before
}

/// A call of this thread begins that `alarm` interrupts: it is registered with the thread's canceller.
///
/// # Errors
///
/// When the canceller was used.
fn register(alarm: Alarm) -> Result<()> {
    let canceller = CANCELLER.try_with(|canceller| canceller.borrow().clone()).ok().flatten();
    let Some(canceller) = canceller else { return Ok(()) };
    canceller.set_waiting(Some(alarm));
    // Looked at after the alarm is in place, so that a cancel between the two rings it.
    if canceller.is_used() { Err(obvia_via::Error::Cancelled.into()) } else { Ok(()) }
}

/// Whether the thread's calls can be cancelled now.
fn is_cancellable() -> bool {
    // A thread that ends has none any more.
    CANCELLER.try_with(|canceller| canceller.borrow().is_some()).unwrap_or(false)
}
