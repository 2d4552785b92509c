//! The cancellers of a thread's calls.

use crate::types::error::{Result, code};
use crate::types::threads::lock;
use obvia_via::provider::shm::Interrupter;
use obvia_via::stream::Stream;
use obvia_via::window::Alarm;
use obvia_via::{Deadline, Error as ViError};
use std::cell::{LazyCell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The time limit of one attempt of [`in_attempts`]. A cancellation takes effect between two
/// attempts.
const ATTEMPT: Duration = Duration::from_millis(20);

thread_local! {
    static SCOPES: Scopes =
        const { Scopes { cancellers: RefCell::new(Vec::new()), wait: LazyCell::new(Arc::default) } };
}

/// The cancellers of a thread, and the thread's wait. Each of the cancellers can end the thread's
/// calls.
struct Scopes {
    cancellers: RefCell<Vec<Canceller>>,
    wait: LazyCell<Arc<Wait>>,
}

impl Scopes {
    /// Runs `work` with the scopes of this thread. `None` if the thread has no canceller or is
    /// ending, so that its calls cannot be cancelled.
    fn with<R>(work: impl FnOnce(&Self) -> R) -> Option<R> {
        let cancellable = |scopes: &Self| {
            let is_empty = scopes.cancellers.borrow().is_empty();
            (!is_empty).then(|| work(scopes))
        };
        SCOPES.try_with(cancellable).ok().flatten()
    }

    fn check(&self) -> Result<()> {
        let is_used = self.cancellers.borrow().iter().any(Canceller::is_used);
        if is_used { Err(ViError::Cancelled.into()) } else { Ok(()) }
    }
}

impl Drop for Scopes {
    fn drop(&mut self) {
        self.cancellers.take().iter().for_each(|canceller| canceller.forget(&self.wait));
    }
}

/// The wait of a thread, with the bell that ends it.
#[derive(Debug, Default)]
struct Wait(Mutex<Option<Bell>>);

impl Wait {
    /// Sets the bell that a cancellation rings; `None` means no bell. Returns the previous bell.
    fn set(&self, bell: Option<Bell>) -> Option<Bell> {
        std::mem::replace(&mut *lock(&self.0), bell)
    }

    fn end(&self) {
        if let Some(bell) = lock(&self.0).as_ref() {
            bell.ring();
        }
    }
}

/// The state of a canceller: whether it was used, and the waits that it ends.
#[derive(Debug, Default)]
struct CancelState {
    cancelled: AtomicBool,
    /// The waits of the threads whose calls the canceller ends. A thread's wait occurs once for
    /// each time that the thread has added the canceller.
    waits: Mutex<Vec<Arc<Wait>>>,
}

/// A bell: the handle by which a cancellation ends the current wait of a thread. The variants are
/// the kinds of waits.
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

/// A handle that cancels calls of other threads: see [`Canceller::run`].
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
        // Bells ring under the lock that a scope takes when it ends, so no bell rings after the end
        // of the scope.
        lock(&self.0.waits).iter().for_each(|wait| wait.end());
    }

    fn is_used(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    fn forget(&self, wait: &Arc<Wait>) {
        let mut waits = lock(&self.0.waits);
        if let Some(at) = waits.iter().position(|known| Arc::ptr_eq(known, wait)) {
            waits.swap_remove(at);
        }
    }
}

/// Adds a canceller to those of this thread. Does nothing on a thread that is ending, because the
/// calls of such a thread cannot be cancelled.
pub(crate) fn add(canceller: &Canceller) {
    let _ = SCOPES.try_with(|scopes| {
        // The new canceller must not ring the bell of an earlier call.
        drop(scopes.wait.set(None));
        lock(&canceller.0.waits).push(Arc::clone(&scopes.wait));
        scopes.cancellers.borrow_mut().push(canceller.clone());
    });
}

/// Removes a canceller from those of this thread. Returns whether the thread had the canceller and
/// the canceller was used. If so, the canceller may have rung bells of the thread.
pub(crate) fn remove(canceller: &Canceller) -> bool {
    let remove = |scopes: &Scopes| {
        let at = scopes.cancellers.borrow().iter().position(|known| Arc::ptr_eq(&known.0, &canceller.0))?;
        let removed = scopes.cancellers.borrow_mut().swap_remove(at);
        removed.forget(&scopes.wait);
        drop(scopes.wait.set(None));
        // `cancel` sets the flag, then rings under the lock that `forget` has just held. So if a
        // bell was rung, the flag is seen here.
        Some(removed.is_used())
    };
    SCOPES.try_with(remove).ok().flatten().unwrap_or(false)
}

/// Registers the alarm of a new call with the thread's cancellers.
///
/// # Errors
///
/// RPC_E_CALL_CANCELED if one of the cancellers was used.
pub(crate) fn register(alarm: Alarm) -> Result<()> {
    let register = |scopes: &Scopes| {
        drop(scopes.wait.set(Some(alarm.into())));
        // The flags are read after the alarm is in place. So every cancellation is either seen
        // here, or rings the alarm.
        scopes.check()
    };
    Scopes::with(register).unwrap_or(Ok(()))
}

/// Fails if one of the thread's cancellers was used.
pub(crate) fn check_cancellers() -> Result<()> {
    Scopes::with(Scopes::check).unwrap_or(Ok(()))
}

/// Runs `work`, the exchanges on a new connection. The thread's cancellers can end the exchanges.
/// Afterwards the thread's wait has its previous bell again: the bell of the call for which the
/// exchanges are made.
///
/// # Errors
///
/// The errors of `work`, and RPC_E_CALL_CANCELED if a canceller was used. After a cancellation the
/// connection must not be used further, since its bell may have been rung.
pub(crate) fn cancellable<R>(bell: impl Into<Bell>, work: impl FnOnce() -> Result<R>) -> Result<R> {
    match interruptible(bell, work) {
        (_, true) => Err(ViError::Cancelled.into()),
        (outcome, false) => outcome,
    }
}

/// Runs an exchange on a connection so that the thread's cancellers end it. Returns the outcome,
/// which may be a success even after a cancellation, and whether the bell may have been rung. A
/// connection whose bell may have been rung must not be used further.
pub(crate) fn interruptible<R>(bell: impl Into<Bell>, work: impl FnOnce() -> Result<R>) -> (Result<R>, bool) {
    let Some(wait) = Scopes::with(|scopes| Arc::clone(&scopes.wait)) else { return (work(), false) };
    let bells = Bells { wait: &wait, before: wait.set(Some(bell.into())) };
    // The flags are read while the bell is in place, as in `register`.
    let outcome = check_cancellers().and_then(|()| work());
    drop(bells);
    // A cancellation sets the flag before it rings, and this bell is no longer in `wait`. So if no
    // flag is set here, this bell was not rung and never will be.
    let is_used = check_cancellers().is_err();
    if is_used {
        // The exchange is a part of a call, and the cancellation ends that call, too.
        wait.end();
    }
    (outcome, is_used)
}

/// A guard whose drop restores a wait's previous bell, also when the exchange panics.
struct Bells<'a> {
    wait: &'a Wait,
    before: Option<Bell>,
}

impl Drop for Bells<'_> {
    fn drop(&mut self) {
        drop(self.wait.set(self.before.take()));
    }
}

/// Repeats `attempt` while it times out, each time for [`ATTEMPT`] at most, until `deadline` or
/// until one of the thread's cancellers is used. A thread without cancellers makes one attempt
/// until `deadline`.
///
/// # Errors
///
/// The errors of `attempt`, and RPC_E_CALL_CANCELED if a canceller was used.
pub(crate) fn in_attempts<R>(deadline: Deadline, attempt: impl Fn(Deadline) -> Result<R>) -> Result<R> {
    if !is_cancellable() {
        return attempt(deadline);
    }
    let deadline = deadline.start();
    loop {
        check_cancellers()?;
        match attempt(Deadline::Within(deadline.remaining().min(ATTEMPT)).start()) {
            Err(error) if error.code() == code::RPC_E_TIMEOUT && !deadline.is_over() => {}
            outcome => return outcome,
        }
    }
}

/// Whether the thread's calls can be cancelled now.
pub(crate) fn is_cancellable() -> bool {
    Scopes::with(|_| ()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_via::stream::StreamListener;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_panic_in_a_call_leaves_no_cancel_bell() {
        let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
        let port = listener.endpoint().parse().unwrap();
        let stream = Arc::new(Stream::connect("127.0.0.1", port, Deadline::Within(ground::LATEST)).unwrap());
        let canceller = Canceller::new();
        let work = || -> Result<()> { panic!("the transport panics") };
        let outcome = canceller.run(|| {
            let outcome = catch_unwind(AssertUnwindSafe(|| interruptible(Arc::clone(&stream), work)));
            assert!(Scopes::with(|scopes| lock(&scopes.wait.0).is_none()).unwrap());
            outcome
        });
        assert!(outcome.is_err());
    }
}
