//! The limits on the time of a thread's calls.

use super::error::{Error, Result, code};
use obvia_via::{Deadline, Limit};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The default limit on the time of a call.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The limit on the time of a call that releases resources.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(5);
const UNSAID: Deadline = Deadline::Within(DEFAULT_TIMEOUT);

thread_local! {
    /// The time limit that was set for calls of this thread, if any.
    static DEADLINE: Cell<Option<Deadline>> = const { Cell::new(None) };
    /// Whether the program has set the limit in `DEADLINE`, or the runtime has set it while a limit
    /// of the program was in effect. Only such limits are sent to callees.
    static IS_SAID: Cell<bool> = const { Cell::new(false) };
    /// The deadline that the caller of the call that this thread performs has sent, if any.
    static INHERITED: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The function that makes this thread's next call take the slow path through `prepare`. The
    /// initial function does nothing: the thread has no channel yet.
    static PREPARE: Cell<fn()> = const { Cell::new(|| {}) };
}

/// Runs `calls` with another limit on the time of each call of this thread. If a method makes the
/// calls, they end by [`caller_deadline`] even if this limit ends later.
///
/// # Example
///
/// ```
/// let answer = obvia::with_timeout(std::time::Duration::from_millis(200), || 6 * 7);
/// assert_eq!(answer, 42);
/// ```
pub fn with_timeout<R>(timeout: Duration, calls: impl FnOnce() -> R) -> R {
    say(Deadline::Within(timeout), calls)
}

/// Runs `calls`, all of which together must end by `deadline`. A call after the deadline fails with
/// RPC_E_TIMEOUT, and is not sent.
pub fn with_deadline<R>(deadline: std::time::Instant, calls: impl FnOnce() -> R) -> R {
    say(Deadline::At(deadline), calls)
}

/// Sets the limit on the time of this thread's further calls; `None` restores the default. Returns
/// the previous limit if it was a duration; otherwise `None`.
pub(crate) fn set_timeout(timeout: Option<Duration>) -> Option<Duration> {
    match replace((timeout.map(Deadline::Within), timeout.is_some())) {
        (Some(Deadline::Within(before)), _) => Some(before),
        _ => None,
    }
}

/// Returns the deadline that the caller of the method on this thread has sent: see [`with_timeout`]
/// and [`with_deadline`]. Calls that the method makes end by this deadline even if their own limit
/// is later. `None` if the caller sent no deadline or does not wait, or if the thread performs no
/// call.
pub fn caller_deadline() -> Option<Instant> {
    INHERITED.get()
}

/// Sets the function that [`prepare_again`] calls on this thread. It makes the next call take the
/// slow path through `prepare`.
pub(crate) fn set_prepare(prepare: fn()) {
    PREPARE.set(prepare);
}

/// Makes this thread's next call take the slow path, which sends the changed context.
pub(crate) fn prepare_again() {
    PREPARE.get()();
}

/// Sets the deadline that the performed call imposes on all calls of this thread; `None` for no
/// deadline.
pub(crate) fn limit_to(end: Option<Instant>) {
    if INHERITED.replace(end) != end {
        prepare_again();
    }
}

/// Replaces the time limit for calls of this thread, and the flag whether the program has set it.
/// Returns the previous values.
fn replace(own: (Option<Deadline>, bool)) -> (Option<Deadline>, bool) {
    let before = (DEADLINE.replace(own.0), IS_SAID.replace(own.1));
    if before != own {
        prepare_again();
    }
    before
}

/// Runs `calls` with a limit that the runtime sets: `Within` limits each call, and `At` limits all
/// calls together. The limit is sent to callees only if the previous limit came from the program.
pub(crate) fn with<R>(deadline: Deadline, calls: impl FnOnce() -> R) -> R {
    limited(deadline, IS_SAID.get(), calls)
}

/// Runs `calls` with a limit that the program sets: `Within` limits each call, and `At` limits all
/// calls together.
fn say<R>(deadline: Deadline, calls: impl FnOnce() -> R) -> R {
    limited(deadline, true, calls)
}

fn limited<R>(deadline: Deadline, is_said: bool, calls: impl FnOnce() -> R) -> R {
    struct Restore((Option<Deadline>, bool));
    impl Drop for Restore {
        fn drop(&mut self) {
            replace(self.0);
        }
    }
    let _restore = Restore(replace((Some(deadline), is_said)));
    calls()
}

/// Runs calls that release resources. Each may take [`CLEANUP_TIMEOUT`], even after the deadline of
/// the program or of the performed method's caller.
pub(crate) fn to_clean_up<R>(calls: impl FnOnce() -> R) -> R {
    struct Restore(Option<Instant>);
    impl Drop for Restore {
        fn drop(&mut self) {
            limit_to(self.0);
        }
    }
    let _restore = Restore(INHERITED.get());
    limit_to(None);
    with(Deadline::Within(CLEANUP_TIMEOUT), calls)
}

/// Runs the steps of one operation under one deadline, which begins now.
pub(crate) fn for_all_steps<R>(steps: impl FnOnce() -> R) -> R {
    with(of_thread().start(), steps)
}

/// Returns the deadline of the calls that this thread makes now.
#[inline]
pub(crate) fn of_thread() -> Deadline {
    match (DEADLINE.get(), INHERITED.get()) {
        (own, None) => own.unwrap_or(UNSAID),
        (own, Some(end)) => sooner(own.unwrap_or(UNSAID), end),
    }
}

/// Verifies, before a call is sent, that its deadline has not passed. The transport reads the clock
/// only while it waits for a response. A quick response would thus hide that the deadline had
/// passed.
///
/// # Errors
///
/// RPC_E_TIMEOUT if the deadline has passed.
pub(crate) fn check_in_time(deadline: Deadline) -> Result<()> {
    if deadline.is_over() {
        return Err(Error::new(code::RPC_E_TIMEOUT, "the call was not sent, because its deadline had passed"));
    }
    Ok(())
}

/// Returns the deadline that calls of this thread send to their callees: the limit set by
/// [`with_timeout`] or [`with_deadline`], or the deadline of the call that this thread performs,
/// whichever is earlier. `None` if neither is set. [`DEFAULT_TIMEOUT`] limits calls of this
/// process, but is never sent.
#[inline]
pub(crate) fn said_deadline() -> Option<Deadline> {
    match (DEADLINE.get().filter(|_| IS_SAID.get()), INHERITED.get()) {
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

/// The time limit of the thread that waits. It is determined when the wait begins.
#[derive(Clone, Copy)]
pub(crate) struct ThreadLimit;

impl Limit for ThreadLimit {
    #[inline]
    fn deadline(self) -> Deadline {
        of_thread()
    }
}
