//! The channels of a thread: taken from the pools of links, kept from call to call.
//!
//! The one used last lies at hand, with the place for the next request: a call over it begins with one comparison, and no
//! count is taken, as no code but the transport's runs before its reply is there. Calls whose arguments or results are objects
//! run code of others in between, which may make calls itself; they take the channel out for themselves.

use super::{ThreadLimit, deadline, is_cancellable, register};
use crate::call_context;
use crate::error::{Error, Result, leave};
use crate::link::Link;
use crate::orpc::CallContext;
use crate::shared::{self, Hands};
use crate::system;
use obvia_rpc::vi_call::{CallError, Channel, TargetId};
use obvia_via::layout::INLINE_MAX;
use obvia_via::window::{Hand, hand_at};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Weak};
use windows_core::HRESULT;

/// The channel at hand. One for each thread; C code sees its first fields.
#[repr(C)]
pub struct Calls {
    /// The link whose channel it is, by its address; 0 where a call has to prepare first.
    link: Cell<usize>,
    // Invariant: while `link` is not 0, the slot of the next request, nobody else's until that is published.
    slot: Cell<*mut [u8; INLINE_MAX]>,
    // Invariant: each is empty, or of a region that the peer of the channel at hand has mapped; those of the second half of one
    // that it may write.
    regions: Hands,
    // Invariant: null, or a leaked box that belongs to this place. Never null while `link` is not 0.
    owned: Cell<*mut Owned>,
    /// Whether it is at hand for one call only: see [`has_to_prepare`].
    once: Cell<bool>,
    /// The lease on the last reply of the channel at hand, which makes no call meanwhile; 0 where there is none.
    lease: Cell<u64>,
    /// The number of the last lease.
    leases: Cell<u64>,
}

thread_local! {
    static CALLS: Calls =
        const {
            Calls {
                link: Cell::new(0),
                slot: Cell::new(ptr::null_mut()),
                regions: shared::NO_HANDS,
                owned: Cell::new(ptr::null_mut()),
                once: Cell::new(false),
                lease: Cell::new(0),
                leases: Cell::new(0),
            }
        };
    static OTHERS: Others = const { Others(RefCell::new(Vec::new())) };
    /// The same, for calls that are made when the thread ends, and has given `OTHERS` up.
    static LAST: Others = const { Others(RefCell::new(Vec::new())) };
    static LEASED: Leased = const { Leased(RefCell::new(Vec::new())) };
}

/// A channel that this thread has taken from a link's pool. It goes back when the thread ends.
struct Owned {
    // Keeps the link's address from being another's.
    link: Weak<Link>,
    channel: Channel,
    /// Whether a canceller may have interrupted it by mistake, after its call.
    alarmed: bool,
}

impl Owned {
    fn is_of(&self, link: &Link) -> bool {
        ptr::eq(self.link.as_ptr(), link)
    }

    /// The thread does not need it any more.
    fn give_back(self) {
        if let Some(link) = self.link.upgrade() {
            link.give_back(self.channel);
        }
    }
}

/// The thread's channels but for the one at hand.
#[expect(clippy::vec_box, reason = "the boxes move between here and CALLS")]
struct Others(RefCell<Vec<Box<Owned>>>);

impl Drop for Others {
    fn drop(&mut self) {
        let at_hand = Calls::with(Calls::take_from_hand);
        Calls::with(|calls| shared::leave(&calls.regions));
        let all = self.0.take().into_iter().chain(at_hand);
        // Where the thread ends with a canceller set, that may yet interrupt what the thread has used.
        all.filter(|owned| !owned.alarmed).for_each(|owned| owned.give_back());
    }
}

impl Others {
    /// Runs `work` with the thread's own. `None` where the thread ends, and has given all of its channels back: what is at hand then is closed with
    /// the process.
    fn with<R>(work: impl FnOnce(&RefCell<Vec<Box<Owned>>>) -> R) -> Option<R> {
        let mut work = Some(work);
        let mut run = |others: &Self| work.take().map(|work| work(&others.0));
        let outcome = OTHERS.try_with(&mut run).or_else(|_| LAST.try_with(&mut run));
        outcome.ok().flatten()
    }
}

/// The thread's channels whose last replies are leased, by lease, when they are no longer at hand.
struct Leased(RefCell<Vec<(u64, Box<Owned>)>>);

impl Drop for Leased {
    fn drop(&mut self) {
        // Whoever outlives the thread's channels still reads there.
        self.0.take().into_iter().for_each(std::mem::forget);
    }
}

/// A call that has been published: when the transport panics, its channel is no longer at hand.
struct Unanswered<'a>(&'a Calls);

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        self.0.link.set(0);
    }
}

/// What a reply is, before anybody has looked at it. C sees it, too.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawReply {
    /// The results' frame; [`RawReply::NO_FRAME`] where the call failed on its way.
    pub frame: *const u8,
    /// The method's or the failed call's HRESULT below, the length of the frame above.
    pub word: u64,
}

impl RawReply {
    /// No memory, but aligned like a frame.
    pub const NO_FRAME: *const u8 = ptr::without_provenance(8);

    fn failed(result: HRESULT) -> Self {
        Self { frame: Self::NO_FRAME, word: u64::from(result.0.cast_unsigned()) }
    }
}

impl Calls {
    /// Runs `work` with the thread's own.
    #[inline(always)]
    pub(crate) fn with<R>(work: impl FnOnce(&Self) -> R) -> R {
        CALLS.with(work)
    }

    /// Whether the channel at hand is of this link.
    #[inline(always)]
    pub(crate) fn has(&self, link: usize) -> bool {
        self.link.get() == link
    }

    /// The place for the next request's frame, if it fits a slot.
    #[inline(always)]
    pub(crate) fn slot(&self) -> *mut [u8; INLINE_MAX] {
        self.slot.get()
    }

    /// Puts a channel of `link` at hand, for one call at least, and makes its slot free.
    ///
    /// # Errors
    ///
    /// When the peer cannot be reached or takes no further call, or the thread's canceller was used.
    #[cold]
    #[inline(never)]
    pub(crate) fn prepare(&self, link: &Arc<Link>) -> Result<()> {
        let mut owned = obtain(link)?;
        let slot = owned.channel.inline_request(ThreadLimit).map(NonNull::from);
        self.put_at_hand(owned, slot.as_ref().ok().copied());
        slot?;
        Ok(())
    }

    /// The place for a request's frame of any length, on the channel at hand.
    ///
    /// # Safety
    ///
    /// A channel must be at hand.
    ///
    /// # Errors
    ///
    /// As [`Channel::request`].
    pub unsafe fn request(&self, length: usize, bulk: usize) -> Result<NonNull<[u8]>> {
        // SAFETY: the caller's promise; not kept beyond this function.
        let channel = unsafe { self.channel() };
        Ok(NonNull::from(channel.request(length, bulk, ThreadLimit)?))
    }

    /// Publishes the request, and waits for its reply: the transport's part of a call.
    ///
    /// # Safety
    ///
    /// A channel must be at hand. The reply's frame is there until the thread's next call.
    #[inline(never)]
    pub unsafe fn exchange(&self, opnum: u16, length: usize, target: u64) -> RawReply {
        // SAFETY: the caller's promise.
        unsafe { self.exchange_inline(opnum, length, target) }
    }

    /// The same for a caller that is such a function itself.
    ///
    /// # Safety
    ///
    /// As for [`Self::exchange`].
    #[inline(always)]
    pub unsafe fn exchange_inline(&self, opnum: u16, length: usize, target: u64) -> RawReply {
        // SAFETY: the caller's promise; not kept beyond this function.
        let channel = unsafe { self.channel() };
        let unanswered = Unanswered(self);
        let outcome = channel.exchange(target, opnum, length, ThreadLimit);
        std::mem::forget(unanswered);
        let raw = match outcome {
            Ok(reply) => {
                let length = reply.frame.len() as u64;
                RawReply { frame: reply.frame.as_ptr(), word: u64::from(reply.status) | length << 32 }
            }
            Err(error) => return self.fail(error),
        };
        self.slot.set(channel.next_request_slot().as_ptr());
        if self.once.get() {
            self.link.set(0);
        }
        raw
    }

    /// The regions in hand: that for the array `at` of a method, among those that are read or those that are written.
    #[inline(always)]
    pub(crate) fn region(&self, at: usize, is_written: bool) -> &Hand {
        &self.regions[hand_at(at, is_written)]
    }

    /// Takes the region that an address lies in in hand, and lets the peer have it. False where it cannot be passed by
    /// reference, or is in hand already.
    ///
    /// # Safety
    ///
    /// A channel must be at hand, and its slot free.
    #[cold]
    #[inline(never)]
    pub unsafe fn turn_region(&self, at: usize, is_written: bool, address: usize) -> bool {
        let Some(region) = shared::find(address).filter(|region| region.is_writable() || !is_written) else {
            return false;
        };
        let hand = self.region(at, is_written);
        if hand.begins_at(region.start().as_ptr().addr()) {
            return false;
        }
        // So that it leaves the list of threads when it ends.
        if Others::with(|_| ()).is_none() {
            return false;
        }
        // SAFETY: the caller's promise; not kept beyond this function.
        let channel = unsafe { self.channel() };
        let number = shared::number_for(channel, &region, || self.regions.iter().for_each(Hand::empty));
        if channel.is_broken() {
            drop(self.take_from_hand());
            return false;
        }
        match channel.request_slot() {
            Some(slot) => self.slot.set(slot.as_ptr()),
            None => self.link.set(0),
        }
        number.is_some_and(|number| region.take_in_hand(hand, number, &self.regions))
    }

    /// Whether the peer can be given regions at all.
    ///
    /// # Safety
    ///
    /// A channel must be at hand.
    pub unsafe fn shares_memory(&self) -> bool {
        // SAFETY: the caller's promise; not kept beyond this function.
        unsafe { self.channel() }.shares_memory()
    }

    /// Publishes a request that has no reply.
    ///
    /// # Safety
    ///
    /// A channel must be at hand.
    pub unsafe fn send(&self, opnum: u16, length: usize, target: u64) {
        // SAFETY: the caller's promise; not kept beyond this function.
        let channel = unsafe { self.channel() };
        channel.oneway(TargetId::from_word(target), opnum, length);
        match channel.request_slot() {
            Some(slot) if !self.once.get() => self.slot.set(slot.as_ptr()),
            // The next call has to be registered, or waits until there is room.
            _ => self.link.set(0),
        }
    }

    /// The channel at hand.
    ///
    /// # Safety
    ///
    /// There must be one, and nobody else use it for `'a`.
    #[inline(always)]
    unsafe fn channel<'a>(&self) -> &'a mut Channel {
        // SAFETY: by the invariant of `owned`, and the caller's promise.
        let owned = unsafe { &mut *self.owned.get() };
        &mut owned.channel
    }

    /// A call has no reply: its channel goes, unless it was the server who said so.
    #[cold]
    #[inline(never)]
    #[expect(clippy::boxed_local, reason = "it comes in a register")]
    fn fail(&self, error: Box<CallError>) -> RawReply {
        let is_fault = matches!(*error, CallError::Fault(_) | CallError::Failed(..));
        let error = Error::from(*error);
        if is_fault {
            self.link.set(0);
        } else if let Some(owned) = self.take_from_hand()
            && let Some(link) = owned.link.upgrade()
        {
            link.note_failure(&error);
        }
        RawReply::failed(leave(error))
    }

    fn take_from_hand(&self) -> Option<Box<Owned>> {
        self.link.set(0);
        self.regions.iter().for_each(Hand::empty);
        let owned = self.owned.replace(ptr::null_mut());
        // SAFETY: by the invariant a leaked box, and it is no longer in its place.
        let owned = (!owned.is_null()).then(|| unsafe { Box::from_raw(owned) })?;
        let lease = self.lease.take();
        if lease == 0 {
            return Some(owned);
        }
        let mut leased = Some((lease, owned));
        if LEASED.try_with(|others| others.0.borrow_mut().extend(leased.take())).is_err() {
            // As when they are dropped.
            std::mem::forget(leased);
        }
        None
    }

    /// Puts a channel at hand, and what was there among the others. Without the slot of its next request a call has to prepare.
    fn put_at_hand(&self, owned: Box<Owned>, slot: Option<NonNull<[u8; INLINE_MAX]>>) {
        let before = self.take_from_hand();
        if let Some(slot) = slot {
            self.slot.set(slot.as_ptr());
            self.link.set(owned.link.as_ptr().addr());
            self.once.set(has_to_prepare());
        }
        self.owned.set(Box::into_raw(owned));
        Others::with(|others| others.borrow_mut().extend(before));
    }
}

/// Whether each call of this thread has to prepare: those that can be cancelled are registered, and those with a context say it.
fn has_to_prepare() -> bool {
    is_cancellable() || call_context::is_set()
}

/// A channel of the link: one of this thread's, one of the link's pool, or a new one; out of its place.
fn obtain(link: &Arc<Link>) -> Result<Box<Owned>> {
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
            let channel = link.take_channel(deadline())?;
            Box::new(Owned { link: Arc::downgrade(link), channel, alarmed: false })
        }
    };
    if is_cancellable() {
        owned.alarmed = true;
        if let Err(error) = register(owned.channel.alarm()) {
            Others::with(|others| others.borrow_mut().push(owned));
            return Err(error);
        }
    }
    if let Err(error) = say_context(&mut owned.channel) {
        link.note_failure(&error);
        Others::with(|others| others.borrow_mut().push(owned));
        return Err(error);
    }
    Ok(owned)
}

/// Tells the peer the context of the next call. Where the next call has none, the peer is told that only if it was told one before. A relay's units
/// have the context themselves.
fn say_context(channel: &mut Channel) -> Result<()> {
    let is_set = call_context::is_set();
    if !is_set && !*channel.has_context() || channel.is_relayed() {
        return Ok(());
    }
    system::say_context(channel, &if is_set { call_context::current() } else { CallContext::NONE })?;
    // The peer that was not told keeps what it was told before.
    *channel.has_context() = is_set;
    Ok(())
}

/// The context of this thread's calls has changed: the next one says it.
pub(crate) fn prepare_again() {
    Calls::with(|calls| {
        calls.link.set(0);
        if calls.lease.get() != 0 {
            // The lease would put the channel back at hand as it was.
            let leased = calls.take_from_hand();
            debug_assert!(leased.is_none());
        }
    });
}

/// The thread's canceller has changed: the next call finds its channel the slow way, where it is registered. If the one before was
/// used, channels that it may have interrupted too late must not be used: another call would be taken for the cancelled one.
pub(super) fn change_canceller(was_cancelled: bool) {
    let at_hand = Calls::with(Calls::take_from_hand);
    Others::with(|others| {
        let mut others = others.borrow_mut();
        others.extend(at_hand);
        if was_cancelled {
            others.retain(|owned| !owned.alarmed);
        } else if !is_cancellable() {
            others.iter_mut().for_each(|owned| owned.alarmed = false);
        }
    });
}

/// Lends this thread's channel of a link to `work`, taking one from the link's pool where there is none yet.
///
/// # Errors
///
/// When the peer cannot be reached, or the thread's canceller was used.
pub(crate) fn with_channel<R>(link: &Arc<Link>, work: impl FnOnce(&mut Channel) -> Result<R>) -> Result<R> {
    let mut taken = Taken(Some(obtain(link)?));
    let channel = &mut taken.0.as_mut().ok_or(crate::code::E_UNEXPECTED)?.channel;
    let outcome = work(channel);
    if let Err(error) = &outcome
        && channel.is_broken()
    {
        link.note_failure(error);
    }
    outcome
}

/// A channel taken out of its place; dropping this puts it back, also when a call panics.
struct Taken(Option<Box<Owned>>);

impl Drop for Taken {
    fn drop(&mut self) {
        // A broken one goes, and one that may have a response to come: the server learns from its end that nobody waits any more.
        if let Some(owned) = self.0.take()
            && !owned.channel.is_broken()
            && !std::thread::panicking()
        {
            let slot = owned.channel.request_slot().filter(|_| !has_to_prepare());
            Calls::with(|calls| calls.put_at_hand(owned, slot));
        }
    }
}

/// Keeps the last reply of this thread as it is, which lies where its channel is: further calls take another one. Of this thread
/// alone, as it is put back when this is dropped.
pub(crate) struct Lease {
    number: u64,
    /// What [`Calls::link`] was.
    link: usize,
    // What is leased belongs to a thread.
    thread: PhantomData<*const ()>,
}

impl Lease {
    /// A lease on the reply to the last call, which was made by the channel at hand.
    #[inline(always)]
    pub(crate) fn take() -> Self {
        Calls::with(|calls| {
            let number = calls.leases.get() + 1;
            calls.leases.set(number);
            calls.lease.set(number);
            Self { number, link: calls.link.take(), thread: PhantomData }
        })
    }
}

impl Drop for Lease {
    #[inline(always)]
    fn drop(&mut self) {
        Calls::with(|calls| {
            if calls.lease.get() == self.number {
                calls.lease.set(0);
                calls.link.set(self.link);
            } else {
                end_elsewhere(self.number);
            }
        });
    }
}

/// A lease ends whose channel has made place for another one.
#[cold]
#[inline(never)]
fn end_elsewhere(number: u64) {
    let find = |leased: &Leased| {
        let mut leased = leased.0.borrow_mut();
        let at = leased.iter().position(|(lease, _)| *lease == number)?;
        Some(leased.swap_remove(at).1)
    };
    // A thread that ends has neither.
    let owned = LEASED.try_with(find).ok().flatten();
    // One that a canceller may yet interrupt is not used again.
    let owned = owned.filter(|owned| !owned.alarmed);
    Others::with(|others| others.borrow_mut().extend(owned));
}
