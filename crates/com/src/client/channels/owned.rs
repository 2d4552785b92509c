//! The channels of a thread that are not at hand, and those that a call has taken out.

use super::{Calls, has_to_prepare};
use crate::client::canceller::{self, Canceller, is_cancellable, register};
use crate::client::link::Link;
use crate::client::shared;
use crate::orpc::CallContext;
use crate::protocol::call_context;
use crate::protocol::own_calls;
use crate::types::deadline::{self, set_prepare};
use crate::types::error::Result;
use obvia_rpc::vi_call::Channel;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::{Arc, Weak};

thread_local! {
    static OTHERS: Others = const { Others(RefCell::new(Vec::new())) };
    /// The channels of calls that a thread makes while it ends, after `OTHERS` is destroyed.
    static LAST: Others = const { Others(RefCell::new(Vec::new())) };
    /// The number of used cancellers that were removed from this thread.
    static REMOVED: Cell<u64> = const { Cell::new(0) };
    /// Whether a call of this thread has found no channel, or a full one, since [`sending`] began.
    static IS_UNSENT: Cell<bool> = const { Cell::new(false) };
}

/// A channel from a link's pool. The channel is returned when the thread ends.
pub(crate) struct OwnedChannel {
    // The weak reference keeps the link's address from being reused.
    pub(super) link: Weak<Link>,
    pub(crate) channel: Channel,
    /// Whether the channel was registered with the thread's cancellers. Each of these cancellers
    /// may have interrupted the channel too late: after the end of the channel's call.
    pub(super) alarmed: Cell<bool>,
}

impl OwnedChannel {
    fn is_of(&self, link: &Link) -> bool {
        ptr::eq(self.link.as_ptr(), link)
    }

    /// Registers the channel for its next call with the thread's cancellers, if there are any.
    ///
    /// # Errors
    ///
    /// RPC_E_CALL_CANCELED if one of the cancellers was used.
    pub(crate) fn register(&self) -> Result<()> {
        if !is_cancellable() {
            return Ok(());
        }
        self.alarmed.set(true);
        register(self.channel.alarm())
    }

    /// Whether the thread may use the channel for further calls after its cancellers have changed.
    /// If `was_cancelled`, a removed canceller was used. Such a canceller may have interrupted the
    /// channel too late, and the interruption would end another call in place of the cancelled one.
    fn outlasts(&self, was_cancelled: bool) -> bool {
        if was_cancelled {
            return !self.alarmed.get();
        }
        self.alarmed.set(self.alarmed.get() && is_cancellable());
        true
    }

    /// Returns the channel to its link's pool.
    fn give_back(self) {
        if let Some(link) = self.link.upgrade() {
            link.return_channel(self.channel);
        }
    }
}

/// The thread's channels except the one at hand.
#[expect(clippy::vec_box, reason = "the boxes move between here and CALLS")]
pub(super) struct Others(RefCell<Vec<Box<OwnedChannel>>>);

impl Drop for Others {
    fn drop(&mut self) {
        let at_hand = Calls::with(Calls::take_from_hand);
        Calls::with(|calls| shared::leave(&calls.regions));
        let all = self.0.take().into_iter().chain(at_hand);
        // The thread's remaining cancellers may still interrupt the channels that were registered
        // with them. So these channels are closed.
        all.filter(|owned| !owned.alarmed.get()).for_each(|owned| owned.give_back());
    }
}

impl Others {
    /// Runs `work` with the thread's own channels. `None` where the thread is ending and has
    /// returned all channels. A channel at hand is then closed only when the process ends.
    pub(super) fn with<R>(work: impl FnOnce(&RefCell<Vec<Box<OwnedChannel>>>) -> R) -> Option<R> {
        let mut work = Some(work);
        let mut run = |others: &Self| work.take().map(|work| work(&others.0));
        let outcome = OTHERS.try_with(&mut run).or_else(|_| LAST.try_with(&mut run));
        outcome.ok().flatten()
    }
}

/// Takes out a channel of the link for a call of the program: one of this thread's, one of the
/// link's pool, or a new one.
///
/// # Errors
///
/// If the peer cannot be reached, if the call's deadline has passed, or if one of the thread's
/// cancellers was used.
pub(super) fn obtain(link: &Arc<Link>) -> Result<Box<OwnedChannel>> {
    select(link).inspect_err(|_| note_unsent())
}

/// Notes that a call of this thread found no channel, or a full one, and was not sent.
pub(super) fn note_unsent() {
    IS_UNSENT.set(true);
}

/// Runs `calls`. Returns the result, and whether a call was not sent because it found no channel or
/// a full one. A call within a nested `sending` does not count.
pub(crate) fn sending<R>(calls: impl FnOnce() -> R) -> (R, bool) {
    let before = IS_UNSENT.replace(false);
    (calls(), IS_UNSENT.replace(before))
}

fn select(link: &Arc<Link>) -> Result<Box<OwnedChannel>> {
    let in_time = || deadline::check_in_time(deadline::of_thread());
    in_time()?;
    let at_hand = Calls::with(Calls::take_from_hand);
    let found = match at_hand {
        Some(owned) if owned.is_of(link) => Some(owned),
        other => Others::with(|others| {
            let mut others = others.borrow_mut();
            others.extend(other);
            others.retain(|owned| owned.link.strong_count() > 0);
            let at = others.iter().position(|owned| owned.is_of(link))?;
            Some(others.swap_remove(at))
        })
        .flatten(),
    };
    let mut owned = match found.filter(|owned| !owned.channel.is_closed()) {
        Some(owned) => owned,
        None => {
            let channel = link.take_channel(deadline::of_thread())?;
            set_prepare(prepare_again);
            Box::new(OwnedChannel { link: Arc::downgrade(link), channel, alarmed: Cell::new(false) })
        }
    };
    // The deadline may have passed while connecting.
    if let Err(error) = in_time().and_then(|()| owned.register()).and_then(|()| say_context(&mut owned.channel)) {
        Link::note_failure(&error);
        Others::with(|others| others.borrow_mut().push(owned));
        return Err(error);
    }
    Ok(owned)
}

/// Sends the context of the next call to the peer. If the next call has no context, an empty one is
/// sent, but only to a peer that still has an earlier context. A relay's requests carry the context
/// themselves.
fn say_context(channel: &mut Channel) -> Result<()> {
    let is_set = call_context::is_set();
    if !is_set && !*channel.has_context() || channel.is_relayed() {
        return Ok(());
    }
    own_calls::say_context(channel, &if is_set { call_context::current() } else { CallContext::NONE })?;
    // The flag changes only after a success: if the call fails, the peer keeps the earlier context.
    *channel.has_context() = is_set;
    Ok(())
}

impl Canceller {
    /// Runs `calls` on this thread so that [`Self::cancel`] ends the current call and all later
    /// calls with RPC_E_CALL_CANCELED.
    ///
    /// In nested calls of this function, each of the cancellers ends the calls. Methods in other
    /// processes are not interrupted; they can poll [`crate::is_cancelled`]. Three waits cannot be
    /// cancelled: the resolution of a host's name, the wait for a host to accept a connection, and
    /// the wait, at most ten seconds, for a file system to open the directory of names.
    pub fn run<R>(&self, calls: impl FnOnce() -> R) -> R {
        struct Scope<'a>(&'a Canceller);
        impl Drop for Scope<'_> {
            fn drop(&mut self) {
                self.0.remove();
            }
        }
        self.add();
        let _scope = Scope(self);
        calls()
    }

    /// Adds this canceller to the cancellers of this thread, which can end the thread's further
    /// calls.
    pub(crate) fn add(&self) {
        canceller::add(self);
        change_cancellers(false);
    }

    /// Reverts one [`Self::add`] of this thread.
    pub(crate) fn remove(&self) {
        change_cancellers(canceller::remove(self));
    }
}

/// Makes the next call of this thread prepare and send its changed context.
fn prepare_again() {
    Calls::with(|calls| {
        calls.link.set(0);
        if calls.lease.get() != 0 {
            // If the leased channel stayed at hand, the end of the lease would restore `link`, and
            // the next call would not prepare. So the channel is taken from hand.
            let leased = calls.take_from_hand();
            debug_assert!(leased.is_none());
        }
    });
}

/// Reacts to a change of the thread's cancellers: the next call prepares and registers its channel,
/// and channels that a used canceller may have interrupted too late are dropped.
fn change_cancellers(was_cancelled: bool) {
    let at_hand = Calls::with(Calls::take_from_hand);
    Others::with(|others| {
        let mut others = others.borrow_mut();
        others.extend(at_hand);
        others.retain(|owned| owned.outlasts(was_cancelled));
    });
    if was_cancelled {
        REMOVED.set(REMOVED.get() + 1);
    }
}

/// As [`take_out`], for work that runs no foreign code.
///
/// # Errors
///
/// As for [`take_out`].
pub(crate) fn with_channel<R>(link: &Arc<Link>, work: impl FnOnce(&mut Channel) -> Result<R>) -> Result<R> {
    take_out(link, |owned| work(&mut owned.channel))
}

/// Lends a channel of a link to `work`: one of this thread's, one of the link's pool, or a new one.
///
/// # Errors
///
/// If the peer cannot be reached, if the call's deadline has passed, if one of the thread's
/// cancellers was used, or if `work` fails.
pub(crate) fn take_out<R>(link: &Arc<Link>, work: impl FnOnce(&mut OwnedChannel) -> Result<R>) -> Result<R> {
    let removed = REMOVED.get();
    let mut taken = Taken { owned: Some(obtain(link)?), removed };
    let owned = taken.owned.as_mut().ok_or(crate::code::E_UNEXPECTED)?;
    let outcome = work(owned);
    if let Err(error) = &outcome
        && owned.channel.is_broken()
    {
        Link::note_failure(error);
    }
    outcome
}

/// A channel that was taken out. The drop puts the channel at hand, or closes it if it must not be
/// used again.
struct Taken {
    owned: Option<Box<OwnedChannel>>,
    /// The value of [`REMOVED`] before the channel was taken out.
    removed: u64,
}

impl Drop for Taken {
    fn drop(&mut self) {
        // A broken channel is closed. A channel is also closed after a panic, because the call's
        // response may still arrive; the end of the connection tells the server that the caller no
        // longer waits.
        if let Some(owned) = self.owned.take()
            && !owned.channel.is_broken()
            && !std::thread::panicking()
            && owned.outlasts(REMOVED.get() != self.removed)
        {
            let slot = owned.channel.request_slot().filter(|_| !has_to_prepare());
            Calls::with(|calls| calls.put_at_hand(owned, slot));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::error::{Error, code};

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn calls_that_fail_before_they_are_sent_are_noted() {
        let link = Arc::new(Link::to_itself());
        let call = || with_channel(&link, |channel| own_calls::settle(channel, deadline::of_thread()));
        let refused = |_: &mut OwnedChannel| -> Result<()> { Err(Error::new(code::RPC_E_TIMEOUT, "it was sent")) };
        assert!(matches!(sending(call), (Ok(()), false)));
        assert!(matches!(sending(|| take_out(&link, refused)), (Err(_), false)));
        let (nested, is_unsent) = sending(|| {
            let late = deadline::with_deadline(std::time::Instant::now(), || take_out(&link, |_| Ok(())));
            (late.unwrap_err().code(), sending(call).1)
        });
        assert_eq!((nested, is_unsent), ((code::RPC_E_TIMEOUT, false), true));
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_channel_that_was_interrupted_while_taken_out_is_not_used_again() {
        let link = Arc::new(Link::to_itself());
        // If the response of a call arrives before the thread waits, a pending interruption ends a
        // later call instead. So the test makes many calls.
        let settle = || {
            (0..100).try_for_each(|_| with_channel(&link, |channel| own_calls::settle(channel, deadline::of_thread())))
        };
        for is_registered_before in [true, false] {
            let canceller = Canceller::new();
            if is_registered_before {
                canceller.add();
            }
            let interrupt = |owned: &mut OwnedChannel| {
                if !is_registered_before {
                    canceller.add();
                    owned.register()?;
                }
                canceller.cancel();
                canceller.remove();
                Ok(())
            };
            take_out(&link, interrupt).unwrap();
            settle().unwrap();
        }
        // The next call is not cancelled either if the canceller is removed only after the channel
        // was put back.
        let canceller = Canceller::new();
        let interrupt = |owned: &mut OwnedChannel| {
            canceller.add();
            owned.register()?;
            canceller.cancel();
            Ok(())
        };
        take_out(&link, interrupt).unwrap();
        canceller.remove();
        settle().unwrap();
    }
}
