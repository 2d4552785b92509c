//! What belongs to a thread: how long its calls may take, who may cancel them, and its channels.

use crate::error::Result;
use crate::link::Link;
use obvia_rpc::vi_call::Channel;
use obvia_via::Deadline;
use obvia_via::provider::shm::Alarm;
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
    static CHANNELS: RefCell<Vec<Owned>> = const { RefCell::new(Vec::new()) };
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
        calls()
    }

    /// Cancels. May be called from any thread, any number of times.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        let waiting = self
            .0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(alarm) = waiting.as_ref() {
            alarm.ring();
        }
    }
}

/// Registers a channel with the thread's canceller for the time of a call.
#[cold]
fn make_cancellable(channel: &Channel) -> Result<Cancellable> {
    let state = CANCELLER.with_borrow(Clone::clone);
    if let Some(state) = &state {
        *state.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(channel.alarm());
        // Looked at after the alarm is in place, so that a cancel between the two rings it.
        if state.cancelled.load(Ordering::SeqCst) {
            return Err(obvia_via::Error::Cancelled.into());
        }
    }
    Ok(Cancellable(state))
}

struct Cancellable(Option<Arc<CancelState>>);

impl Drop for Cancellable {
    fn drop(&mut self) {
        if let Some(state) = &self.0 {
            *state.waiting.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

/// A channel that this thread has taken from a link's pool. It goes back when the thread ends.
struct Owned {
    oxid: u64,
    link: Weak<Link>,
    channel: Option<Channel>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let (Some(link), Some(channel)) = (self.link.upgrade(), self.channel.take()) {
            link.give_back(channel);
        }
    }
}

/// Lends this thread's channel of a link to `work`, taking one from the link's pool where there is none yet.
///
/// # Errors
///
/// When the peer cannot be reached, or the thread's canceller was used.
#[inline]
pub(crate) fn with_channel<R>(
    link: &Arc<Link>,
    work: impl FnOnce(&mut Channel) -> Result<R>,
) -> Result<R> {
    let cancellable = CANCELLABLE.get();
    CHANNELS.with(|channels| {
        if let Ok(mut channels) = channels.try_borrow_mut()
            && let Some(first) = channels.first_mut()
            && first.oxid == link.oxid()
            && let Some(channel) = &mut first.channel
            && !channel.is_broken()
            && !cancellable
        {
            return work(channel);
        }
        with_channel_slow(channels, link, work)
    })
}

#[cold]
fn with_channel_slow<R>(
    channels: &RefCell<Vec<Owned>>,
    link: &Arc<Link>,
    work: impl FnOnce(&mut Channel) -> Result<R>,
) -> Result<R> {
    // Taken out, not borrowed: what `work` does may itself make calls on this thread.
    let found = channels.try_borrow_mut().ok().and_then(|mut channels| {
        channels.retain(|owned| owned.link.strong_count() > 0);
        let at = channels
            .iter()
            .position(|owned| owned.oxid == link.oxid())?;
        channels.remove(at).channel.take()
    });
    let mut channel = match found.filter(|channel| !channel.is_closed()) {
        Some(channel) => channel,
        None => link.take_channel(deadline())?,
    };
    let outcome = {
        let _registered = if CANCELLABLE.get() {
            Some(make_cancellable(&channel)?)
        } else {
            None
        };
        work(&mut channel)
    };
    if !channel.is_broken() {
        match channels.try_borrow_mut() {
            // In front: the next call is likely to go there too.
            Ok(mut channels) => {
                let owned = Owned {
                    oxid: link.oxid(),
                    link: Arc::downgrade(link),
                    channel: Some(channel),
                };
                channels.insert(0, owned);
            }
            // A call within a call: the outer one has this thread's place.
            Err(_) => link.give_back(channel),
        }
    }
    outcome
}

/// Gives this thread's channels of one link up: the link is going away.
pub(crate) fn forget_channels(oxid: u64) {
    let _ = CHANNELS.try_with(|channels| {
        if let Ok(mut channels) = channels.try_borrow_mut() {
            channels.retain(|owned| owned.oxid != oxid);
        }
    });
}
