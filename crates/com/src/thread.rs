//! What belongs to a thread: how long its calls may take, who may cancel them, and its channels.

use crate::error::{Error, Result};
use crate::link::Link;
use obvia_rpc::vi_call::{Channel, TargetId};
use obvia_via::window::Alarm;
use obvia_via::{Deadline, Limit};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// How long a call may take where nobody says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

thread_local! {
    static DEADLINE: Cell<Deadline> = const { Cell::new(Deadline::Within(DEFAULT_TIMEOUT)) };
    static CANCELLER: RefCell<Option<Arc<CancelState>>> = const { RefCell::new(None) };
    static CANCELLABLE: Cell<bool> = const { Cell::new(false) };
    /// An object of this process that came home, and the references that came with it.
    static RETURNED: Cell<Option<(TargetId, u64)>> = const { Cell::new(None) };
    static CHANNELS: Channels = const { Channels(RefCell::new(Vec::new())) };
    static LAST: Last = const { Last { oxid: Cell::new(0), owned: Cell::new(std::ptr::null_mut()) } };
}

/// Runs `calls` with another limit on how long each call of this thread may take.
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

fn with<R>(deadline: Deadline, calls: impl FnOnce() -> R) -> R {
    struct Restore(Deadline);
    impl Drop for Restore {
        fn drop(&mut self) {
            DEADLINE.set(self.0);
        }
    }
    let _restore = Restore(DEADLINE.replace(deadline));
    calls()
}

/// The limit that calls of this thread have now.
#[inline]
pub(crate) fn deadline() -> Deadline {
    DEADLINE.get()
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
    /// Methods in this process are not interrupted: they look at [`crate::is_cancelled`] if they care.
    pub fn run<R>(&self, calls: impl FnOnce() -> R) -> R {
        struct Restore(Option<Arc<CancelState>>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CANCELLABLE.set(self.0.is_some());
                CANCELLER.set(self.0.take());
            }
        }
        let _restore = Restore(CANCELLER.replace(Some(Arc::clone(&self.0))));
        CANCELLABLE.set(true);
        // Calls find their channel the slow way now, where they are registered.
        if let Some(owned) = take_last() {
            put_last(owned);
        }
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
}

/// Whether a call may begin.
fn check(canceller: Option<&Arc<CancelState>>) -> Result<()> {
    let is_cancelled = canceller.is_some_and(|state| state.cancelled.load(Ordering::SeqCst));
    if is_cancelled { Err(obvia_via::Error::Cancelled.into()) } else { Ok(()) }
}

impl CancelState {
    fn set_waiting(&self, alarm: Option<Alarm>) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = alarm;
    }
}

/// A channel that this thread has taken from a link's pool. It goes back when the thread ends.
struct Owned {
    oxid: u64,
    link: Weak<Link>,
    channel: Option<Channel>,
    /// While it is lent the long way: see [`Lent::other`].
    loan: Option<Loan>,
}

/// What a channel is lent for that is not the one used last.
struct Loan {
    /// What the call is registered with.
    canceller: Option<Arc<CancelState>>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let (Some(link), Some(channel)) = (self.link.upgrade(), self.channel.take()) {
            link.give_back(channel);
        }
    }
}

/// The thread's channels but for the one in [`LAST`].
#[expect(clippy::vec_box, reason = "the boxes move between here and LAST")]
struct Channels(RefCell<Vec<Box<Owned>>>);

impl Drop for Channels {
    fn drop(&mut self) {
        drop(take_last());
    }
}

/// The channel that the thread used last, where the next call finds it without a borrow count or a destructor's flag.
struct Last {
    oxid: Cell<u64>,
    // Invariant: null, or a leaked box that belongs to this place; whoever uses it takes it out first.
    owned: Cell<*mut Owned>,
}

fn take_last() -> Option<Box<Owned>> {
    let owned = LAST.with(|last| last.owned.replace(std::ptr::null_mut()));
    // SAFETY: by the invariant a leaked box, and it is no longer in its place.
    (!owned.is_null()).then(|| unsafe { Box::from_raw(owned) })
}

/// Puts a channel where the next call looks first; among the others when that place is taken.
fn put_last(owned: Box<Owned>) {
    if CANCELLABLE.get() || LAST.with(|last| !last.owned.get().is_null()) {
        return CHANNELS.with(|channels| channels.0.borrow_mut().push(owned));
    }
    LAST.with(|last| {
        last.oxid.set(owned.oxid);
        last.owned.set(Box::into_raw(owned));
    });
}

/// Closes the channel used last, if the call just made broke it: the server learns that nobody waits any more.
#[cold]
pub(crate) fn close_broken(error: &Error) {
    let Some(owned) = take_last() else { return };
    if owned.channel.as_ref().is_some_and(|channel| !channel.is_broken()) {
        return put_last(owned);
    }
    if let Some(link) = owned.link.upgrade() {
        link.note_failure(error);
    }
}

/// Lends this thread's channel of a link to `work`, taking one from the link's pool where there is none yet.
///
/// # Errors
///
/// When the peer cannot be reached, or the thread's canceller was used.
#[inline(always)]
pub(crate) fn with_channel<R>(link: &Arc<Link>, work: impl FnOnce(&mut Channel) -> Result<R>) -> Result<R> {
    let mut lent = Lent::last(link);
    let channel = match lent.channel() {
        Some(channel) => channel,
        None => lent.other(link)?,
    };
    let outcome = work(channel);
    if let Err(error) = &outcome
        && lent.is_other()
    {
        link.note_failure(error);
    }
    outcome
}

/// A channel taken out of its place for a call; dropping this puts it back, also when the call panics. Taken out, not
/// borrowed: what a call does may itself make calls on this thread.
struct Lent {
    // Invariant: null, or a leaked box that nobody else finds.
    owned: *mut Owned,
}

impl Lent {
    /// The channel used last, if it is of this link. Never in the scope of a canceller: see [`put_last`].
    #[inline(always)]
    fn last(link: &Link) -> Self {
        let owned = LAST.with(|last| {
            if last.oxid.get() == link.oxid() { last.owned.replace(std::ptr::null_mut()) } else { std::ptr::null_mut() }
        });
        Self { owned }
    }

    /// The channel, if there is one and it works.
    #[inline(always)]
    fn channel(&mut self) -> Option<&mut Channel> {
        // SAFETY: by the invariant.
        let owned = unsafe { self.owned.as_mut() }?;
        owned.channel.as_mut().filter(|channel| !channel.is_broken())
    }

    /// Whether it was not the channel used last.
    #[inline(always)]
    fn is_other(&self) -> bool {
        // SAFETY: by the invariant.
        unsafe { self.owned.as_ref() }.is_some_and(|owned| owned.loan.is_some())
    }

    /// Another channel of the link: one of this thread's, one of the link's pool, or a new one.
    #[cold]
    #[inline(never)]
    fn other(&mut self, link: &Arc<Link>) -> Result<&mut Channel> {
        // What does not work goes back first: among the others it is found out.
        drop(std::mem::replace(self, Self { owned: std::ptr::null_mut() }));
        let canceller = if CANCELLABLE.get() { CANCELLER.with_borrow(Clone::clone) } else { None };
        check(canceller.as_ref())?;
        let found = CHANNELS.with(|channels| {
            let mut channels = channels.0.borrow_mut();
            channels.extend(take_last());
            channels.retain(|owned| owned.link.strong_count() > 0);
            let at = channels.iter().position(|owned| owned.oxid == link.oxid())?;
            Some(channels.swap_remove(at))
        });
        let found = found.filter(|owned| owned.channel.as_ref().is_some_and(|channel| !channel.is_closed()));
        let mut owned = match found {
            Some(owned) => owned,
            None => Box::new(Owned {
                oxid: link.oxid(),
                link: Arc::downgrade(link),
                channel: Some(link.take_channel(deadline())?),
                loan: None,
            }),
        };
        if let (Some(state), Some(channel)) = (&canceller, &owned.channel) {
            state.set_waiting(Some(channel.alarm()));
        }
        owned.loan = Some(Loan { canceller: canceller.clone() });
        self.owned = Box::into_raw(owned);
        // Looked at after the alarm is in place, so that a cancel between the two rings it.
        check(canceller.as_ref())?;
        self.channel().ok_or_else(|| crate::code::E_UNEXPECTED.into())
    }

    /// Puts another channel back where it belongs, or closes it.
    #[cold]
    #[inline(never)]
    fn put_back(&mut self) {
        // SAFETY: by the invariant; not used again.
        let mut owned = unsafe { Box::from_raw(self.owned) };
        let canceller = owned.loan.take().and_then(|loan| loan.canceller);
        if let Some(state) = &canceller {
            state.set_waiting(None);
        }
        if check(canceller.as_ref()).is_err() {
            // The alarm may have been rung too late for this call. Another call must not be taken for it.
            owned.channel = None;
        } else if owned.channel.as_ref().is_some_and(|channel| !channel.is_broken()) {
            put_last(owned);
        }
    }
}

impl Drop for Lent {
    #[inline(always)]
    fn drop(&mut self) {
        if self.owned.is_null() {
            return;
        }
        if self.is_other() {
            return self.put_back();
        }
        LAST.with(|last| {
            if last.owned.get().is_null() {
                last.owned.set(self.owned);
            } else {
                put_aside(self.owned);
            }
        });
    }
}

/// A call within a call has taken the place meanwhile: the outer call's channel goes among the others.
#[cold]
fn put_aside(owned: *mut Owned) {
    let inner = take_last();
    LAST.with(|last| {
        last.owned.set(owned);
    });
    // SAFETY: the leaked box just put in place.
    let oxid = unsafe { (*owned).oxid };
    LAST.with(|last| last.oxid.set(oxid));
    if let Some(inner) = inner {
        CHANNELS.with(|channels| channels.0.borrow_mut().push(inner));
    }
}
