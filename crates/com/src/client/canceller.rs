//! The canceller of a thread's calls.

use crate::types::error::{Result, code};
use crate::types::threads::lock;
use obvia_via::provider::shm::Interrupter;
use obvia_via::stream::Stream;
use obvia_via::window::Alarm;
use obvia_via::{Deadline, Error as ViError};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The time limit of each attempt to get a connection that can be cancelled.
const ATTEMPT: Duration = Duration::from_millis(20);

thread_local! {
    static CANCELLER: RefCell<Option<Canceller>> = const { RefCell::new(None) };
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
    /// The wait for bytes of a stream.
    Stream(Arc<Stream>),
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

impl From<Arc<Stream>> for Bell {
    fn from(stream: Arc<Stream>) -> Self {
        Self::Stream(stream)
    }
}

impl Bell {
    fn ring(&self) {
        match self {
            Self::Alarm(alarm) => alarm.ring(),
            Self::Greeting(interrupter) => interrupter.interrupt(),
            Self::Stream(stream) => stream.interrupt(),
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

    /// Cancels the calls. The function may be called from any thread, any number of times.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        if let Some(bell) = lock(&self.0.waiting).as_ref() {
            bell.ring();
        }
    }

    pub(crate) fn is_used(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    fn check(&self) -> Result<()> {
        if self.is_used() { Err(ViError::Cancelled.into()) } else { Ok(()) }
    }

    /// Sets the bell that a cancellation rings, and returns the previous one.
    fn set_waiting(&self, bell: Option<Bell>) -> Option<Bell> {
        std::mem::replace(&mut *lock(&self.0.waiting), bell)
    }
}

/// Returns the canceller of this thread. A thread that is ending has none.
fn current() -> Option<Canceller> {
    CANCELLER.try_with(|canceller| canceller.borrow().clone()).ok().flatten()
}

/// Replaces the canceller of this thread. Returns the previous one, which has no bell any more.
pub(crate) fn replace(canceller: Option<Canceller>) -> Option<Canceller> {
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
pub(crate) fn register(alarm: Alarm) -> Result<()> {
    let Some(canceller) = current() else { return Ok(()) };
    drop(canceller.set_waiting(Some(alarm.into())));
    // The flag is read after the alarm is in place, so that a cancellation in between rings the
    // alarm.
    canceller.check()
}

/// Fails if the thread's canceller was used.
pub(crate) fn check_canceller() -> Result<()> {
    current().map_or(Ok(()), |canceller| canceller.check())
}

/// Runs the exchanges on a new connection so that the thread's canceller ends them. A call that the
/// thread is about to make on another connection can be cancelled again afterwards.
///
/// # Errors
///
/// The errors of `work`, and if the canceller was used: the connection must not be used then, since
/// its bell may have been rung.
pub(crate) fn cancellable<R>(bell: impl Into<Bell>, work: impl FnOnce() -> Result<R>) -> Result<R> {
    match interruptible(bell, work) {
        (_, true) => Err(ViError::Cancelled.into()),
        (outcome, false) => outcome,
    }
}

/// Runs an exchange on a connection so that the thread's canceller ends it. Returns the outcome,
/// which may be a success even after a cancellation, and whether the bell may have been rung: the
/// connection must not be used then.
pub(crate) fn interruptible<R>(bell: impl Into<Bell>, work: impl FnOnce() -> Result<R>) -> (Result<R>, bool) {
    let Some(canceller) = current() else { return (work(), false) };
    let bells = Bells { canceller: &canceller, before: canceller.set_waiting(Some(bell.into())) };
    // The flag is read while the bell is in place, as in `register`.
    let outcome = canceller.check().and_then(|()| work());
    drop(bells);
    // The bell was rung under the lock of its place, after the flag was set.
    let is_used = canceller.is_used();
    if is_used {
        // The cancellation is also for the call of which this exchange is a part.
        canceller.cancel();
    }
    (outcome, is_used)
}

/// A guard whose drop restores a canceller's previous bell, also when the exchange panics.
struct Bells<'a> {
    canceller: &'a Canceller,
    before: Option<Bell>,
}

impl Drop for Bells<'_> {
    fn drop(&mut self) {
        drop(self.canceller.set_waiting(self.before.take()));
    }
}

/// Tries to connect, each time for [`ATTEMPT`] at most, until `deadline` or until the thread's
/// canceller is used.
///
/// # Errors
///
/// The errors of `attempt`, and if the canceller was used.
pub(crate) fn in_attempts<R>(deadline: Deadline, attempt: impl Fn(Deadline) -> Result<R>) -> Result<R> {
    let Some(canceller) = current() else { return attempt(deadline) };
    let deadline = deadline.start();
    loop {
        canceller.check()?;
        match attempt(Deadline::Within(deadline.remaining().min(ATTEMPT)).start()) {
            Err(error) if error.code() == code::RPC_E_TIMEOUT && !deadline.is_over() => {}
            outcome => return outcome,
        }
    }
}

/// Whether the thread's calls can be cancelled now.
pub(crate) fn is_cancellable() -> bool {
    // A thread that is ending has no canceller.
    CANCELLER.try_with(|canceller| canceller.borrow().is_some()).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_via::stream::StreamListener;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_panic_leaves_no_bell_behind() {
        let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
        let port = listener.endpoint().parse().unwrap();
        let stream = Arc::new(Stream::connect("127.0.0.1", port, Deadline::Within(ground::LATEST)).unwrap());
        let canceller = Canceller::new();
        let work = || -> Result<()> { panic!("the transport panics") };
        let outcome = canceller.run(|| {
            let outcome = catch_unwind(AssertUnwindSafe(|| interruptible(Arc::clone(&stream), work)));
            assert!(lock(&canceller.0.waiting).is_none());
            outcome
        });
        assert!(outcome.is_err());
    }
}
