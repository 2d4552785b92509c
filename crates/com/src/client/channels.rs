//! The channels of a thread, taken from the pools of links and kept from call to call.
//!
//! The channel used last is *at hand*: the thread's [`Calls`] have the channel and the slot for its
//! next request. A call over the channel at hand begins with one comparison and takes no reference
//! count, since only the transport's code runs before the reply arrives. A call with objects as
//! arguments or results runs foreign code in between, which may make calls itself. Such a call
//! takes its channel out of [`Calls`] first.

use crate::client::canceller::{self, Canceller, is_cancellable, register};
use crate::client::link::Link;
use crate::client::shared::{self, RegionCaches};
use crate::orpc::CallContext;
use crate::protocol::call_context;
use crate::protocol::own_calls;
use crate::types::deadline::{self, ThreadLimit, set_prepare};
use crate::types::error::{Error, Result, leave};
use obvia_rpc::vi_call::{CallError, Channel, TargetId};
use obvia_via::layout::INLINE_MAX;
use obvia_via::window::{RegionCache, cache_at};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Weak};
use windows_core::HRESULT;

/// The thread's channel at hand. C code reads the first fields.
#[repr(C)]
pub struct Calls {
    /// The address of the link that the channel belongs to; 0 where a call must prepare first.
    link: Cell<usize>,
    // Invariant: while `link` is not 0, the slot of the next request, used by this thread alone
    // until the request is published.
    slot: Cell<*mut [u8; INLINE_MAX]>,
    // Invariant: each entry is empty, or a region that the peer of the channel at hand has mapped.
    // The entries of the second half are of regions that the peer may write.
    regions: RegionCaches,
    // Invariant: null, or a leaked box that this field owns. Never null while `link` is not 0.
    owned: Cell<*mut Owned>,
    /// Whether the channel is at hand for one call only: see [`has_to_prepare`].
    once: Cell<bool>,
    /// The number of the lease on the last reply of the channel at hand; 0 without a lease. The
    /// channel makes no call while the lease lasts.
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
                regions: shared::EMPTY_CACHES,
                owned: Cell::new(ptr::null_mut()),
                once: Cell::new(false),
                lease: Cell::new(0),
                leases: Cell::new(0),
            }
        };
    static OTHERS: Others = const { Others(RefCell::new(Vec::new())) };
    /// The channels of calls that are made while the thread ends, when `OTHERS` is destroyed.
    static LAST: Others = const { Others(RefCell::new(Vec::new())) };
    static LEASED: Leased = const { Leased(RefCell::new(Vec::new())) };
}

/// A channel from a link's pool. The channel is returned when the thread ends.
struct Owned {
    // The weak reference keeps the link's address from being reused.
    link: Weak<Link>,
    channel: Channel,
    /// Whether the channel was registered with a canceller, which may have interrupted it too late,
    /// after its call.
    alarmed: bool,
}

impl Owned {
    fn is_of(&self, link: &Link) -> bool {
        ptr::eq(self.link.as_ptr(), link)
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
struct Others(RefCell<Vec<Box<Owned>>>);

impl Drop for Others {
    fn drop(&mut self) {
        let at_hand = Calls::with(Calls::take_from_hand);
        Calls::with(|calls| shared::leave(&calls.regions));
        let all = self.0.take().into_iter().chain(at_hand);
        // If the thread ends with a canceller set, the canceller may still interrupt the channels
        // that the thread used.
        all.filter(|owned| !owned.alarmed).for_each(|owned| owned.give_back());
    }
}

impl Others {
    /// Runs `work` with the thread's own channels. `None` where the thread is ending and has
    /// returned all channels. A channel at hand is then closed only when the process ends.
    fn with<R>(work: impl FnOnce(&RefCell<Vec<Box<Owned>>>) -> R) -> Option<R> {
        let mut work = Some(work);
        let mut run = |others: &Self| work.take().map(|work| work(&others.0));
        let outcome = OTHERS.try_with(&mut run).or_else(|_| LAST.try_with(&mut run));
        outcome.ok().flatten()
    }
}

/// The channels with leased replies that are no longer at hand, by lease.
struct Leased(RefCell<Vec<(u64, Box<Owned>)>>);

impl Drop for Leased {
    fn drop(&mut self) {
        // Values that outlive the thread's channels may still read the replies there.
        self.0.take().into_iter().for_each(std::mem::forget);
    }
}

/// A guard for a published call. If the transport panics, the channel is no longer at hand.
struct Unanswered<'a>(&'a Calls);

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        self.0.link.set(0);
    }
}

/// A reply that has not been examined. C code shares the layout.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawReply {
    /// The results' frame; [`RawReply::NO_FRAME`] where the call failed on its way.
    pub frame: *const u8,
    /// The HRESULT of the method or of the failed call in the lower half, the length of the frame
    /// in the upper half.
    pub word: u64,
}

impl RawReply {
    /// A dangling pointer with the alignment of a frame.
    pub const NO_FRAME: *const u8 = ptr::without_provenance(8);

    fn failed(result: HRESULT) -> Self {
        Self { frame: Self::NO_FRAME, word: u64::from(result.0.cast_unsigned()) }
    }
}

impl Calls {
    /// Runs `work` with the current thread's `Calls`.
    #[inline(always)]
    pub(crate) fn with<R>(work: impl FnOnce(&Self) -> R) -> R {
        CALLS.with(work)
    }

    /// Whether the channel at hand belongs to this link.
    #[inline(always)]
    pub(crate) fn has(&self, link: usize) -> bool {
        self.link.get() == link
    }

    /// Returns the slot for the next request, for frames that fit it.
    #[inline(always)]
    pub(crate) fn slot(&self) -> *mut [u8; INLINE_MAX] {
        self.slot.get()
    }

    /// Puts a channel of `link` at hand, for one call at least, and frees its slot.
    ///
    /// # Errors
    ///
    /// If the peer cannot be reached or takes no further call, or if one of the thread's cancellers
    /// was used.
    #[cold]
    #[inline(never)]
    pub(crate) fn prepare(&self, link: &Arc<Link>) -> Result<()> {
        let mut owned = obtain(link)?;
        let slot = owned.channel.inline_request(ThreadLimit).map(NonNull::from);
        self.put_at_hand(owned, slot.as_ref().ok().copied());
        slot?;
        Ok(())
    }

    /// Returns the memory for a request's frame of any length, on the channel at hand.
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

    /// Publishes the request and waits for its reply. This is the transport's part of a call.
    ///
    /// # Safety
    ///
    /// A channel must be at hand. The reply's frame is valid until the thread's next call.
    #[inline(never)]
    pub unsafe fn exchange(&self, opnum: u16, length: usize, target: u64) -> RawReply {
        // SAFETY: the caller's promise.
        unsafe { self.exchange_inline(opnum, length, target) }
    }

    /// As [`Self::exchange`], inlined into a caller that is itself such an outlined function.
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

    /// Returns the selected region for the array with the index `at` among the arrays that the
    /// method writes (`is_written`), or among those that it reads.
    #[inline(always)]
    pub(crate) fn region(&self, at: usize, is_written: bool) -> &RegionCache {
        &self.regions[cache_at(at, is_written)]
    }

    /// Selects the region that contains an address and maps it at the peer. Returns false where the
    /// array cannot be passed by reference, or where the region is already selected.
    ///
    /// # Safety
    ///
    /// A channel must be at hand, and its slot free.
    #[cold]
    #[inline(never)]
    pub unsafe fn select_region(&self, at: usize, is_written: bool, address: usize) -> bool {
        let Some(region) = shared::find(address).filter(|region| region.is_writable() || !is_written) else {
            return false;
        };
        let cache = self.region(at, is_written);
        if cache.begins_at(region.start().as_ptr().addr()) {
            return false;
        }
        // Registers the thread's destructor, which removes the thread from the list of threads when
        // it ends.
        if Others::with(|_| ()).is_none() {
            return false;
        }
        // SAFETY: the caller's promise; not kept beyond this function.
        let channel = unsafe { self.channel() };
        let number = shared::number_for(channel, &region, || self.regions.iter().for_each(RegionCache::clear));
        if channel.is_broken() {
            drop(self.take_from_hand());
            return false;
        }
        match channel.request_slot() {
            Some(slot) => self.slot.set(slot.as_ptr()),
            None => self.link.set(0),
        }
        number.is_some_and(|number| region.fill_cache(cache, number, &self.regions))
    }

    /// Whether regions can be shared with the peer.
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
            // The next call must prepare: it registers its channel or sends its context, or it
            // waits for a free slot.
            _ => self.link.set(0),
        }
    }

    /// Returns the channel at hand.
    ///
    /// # Safety
    ///
    /// A channel must be at hand, and no other reference to it may be used during `'a`.
    #[inline(always)]
    unsafe fn channel<'a>(&self) -> &'a mut Channel {
        // SAFETY: by the invariant of `owned`, and the caller's promise.
        let owned = unsafe { &mut *self.owned.get() };
        &mut owned.channel
    }

    /// Ends a call without a reply. The channel is dropped unless the server itself reported the
    /// failure.
    #[cold]
    #[inline(never)]
    #[expect(clippy::boxed_local, reason = "it comes in a register")]
    fn fail(&self, error: Box<CallError>) -> RawReply {
        let is_fault = matches!(*error, CallError::Fault(_) | CallError::Failed(..));
        let error = Error::from(*error);
        if is_fault {
            self.link.set(0);
        } else if self.take_from_hand().is_some() {
            Link::note_failure(&error);
        }
        RawReply::failed(leave(error))
    }

    fn take_from_hand(&self) -> Option<Box<Owned>> {
        self.link.set(0);
        self.regions.iter().for_each(RegionCache::clear);
        let owned = self.owned.replace(ptr::null_mut());
        // SAFETY: by the invariant a leaked box, and the field no longer owns it.
        let owned = (!owned.is_null()).then(|| unsafe { Box::from_raw(owned) })?;
        let lease = self.lease.take();
        if lease == 0 {
            return Some(owned);
        }
        let mut leased = Some((lease, owned));
        if LEASED.try_with(|others| others.0.borrow_mut().extend(leased.take())).is_err() {
            // The thread is ending. The channel is leaked, since the leased reply may still be read
            // there.
            std::mem::forget(leased);
        }
        None
    }

    /// Puts a channel at hand, and moves the previous one to the thread's other channels. Without a
    /// `slot` for its next request, the next call must prepare.
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

/// Whether each call of this thread must prepare: a cancellable call registers its channel with the
/// canceller, and a call with a context sends the context first.
fn has_to_prepare() -> bool {
    is_cancellable() || call_context::is_set()
}

/// Takes out a channel of the link: one of this thread's, one of the link's pool, or a new one.
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
            let channel = link.take_channel(deadline::of_thread())?;
            set_prepare(prepare_again);
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
        Link::note_failure(&error);
        Others::with(|others| others.borrow_mut().push(owned));
        return Err(error);
    }
    Ok(owned)
}

/// Registers a channel that was taken out with the thread's cancellers again.
///
/// # Errors
///
/// If one of them was used.
pub(crate) fn register_again(channel: &Channel) -> Result<()> {
    if is_cancellable() { register(channel.alarm()) } else { Ok(()) }
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
    /// Runs `calls` on this thread so that [`Self::cancel`] ends the current one and all later ones
    /// with RPC_E_CALL_CANCELED.
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

    /// Makes the canceller one of those that end this thread's further calls.
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
            // The end of the lease would restore `link`, and the next call would not prepare.
            let leased = calls.take_from_hand();
            debug_assert!(leased.is_none());
        }
    });
}

/// Reacts to a change of the thread's cancellers: the next call prepares and registers its channel.
/// If the removed canceller was used, it may have interrupted channels too late. Such channels must
/// not be used again, since the interruption would end another call in place of the cancelled one.
fn change_cancellers(was_cancelled: bool) {
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

/// Lends this thread's channel of a link to `work`, with one from the link's pool where the thread
/// has none.
///
/// # Errors
///
/// If the peer cannot be reached, if one of the thread's cancellers was used, or if `work` fails.
pub(crate) fn with_channel<R>(link: &Arc<Link>, work: impl FnOnce(&mut Channel) -> Result<R>) -> Result<R> {
    let mut taken = Taken(Some(obtain(link)?));
    let channel = &mut taken.0.as_mut().ok_or(crate::code::E_UNEXPECTED)?.channel;
    let outcome = work(channel);
    if let Err(error) = &outcome
        && channel.is_broken()
    {
        Link::note_failure(error);
    }
    outcome
}

/// A channel that was taken out; its drop puts it back, even when a call panics.
struct Taken(Option<Box<Owned>>);

impl Drop for Taken {
    fn drop(&mut self) {
        // A broken channel is closed, and so is one whose response may still come: the end of the
        // connection tells the server that the caller no longer waits.
        if let Some(owned) = self.0.take()
            && !owned.channel.is_broken()
            && !std::thread::panicking()
        {
            let slot = owned.channel.request_slot().filter(|_| !has_to_prepare());
            Calls::with(|calls| calls.put_at_hand(owned, slot));
        }
    }
}

/// A lease on the last reply of this thread, which lies in its channel's memory: further calls use
/// another channel. A lease belongs to its thread, since its drop puts the channel back.
pub(crate) struct Lease {
    number: u64,
    /// The value of [`Calls::link`] before the lease.
    link: usize,
    // Leased memory belongs to one thread.
    thread: PhantomData<*const ()>,
}

impl Lease {
    /// Leases the reply of the last call, which used the channel at hand.
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

/// Ends a lease whose channel is no longer at hand.
#[cold]
#[inline(never)]
fn end_elsewhere(number: u64) {
    let find = |leased: &Leased| {
        let mut leased = leased.0.borrow_mut();
        let at = leased.iter().position(|(lease, _)| *lease == number)?;
        Some(leased.swap_remove(at).1)
    };
    // On a thread that is ending, `LEASED` may be destroyed, and its channels were leaked.
    let owned = LEASED.try_with(find).ok().flatten();
    // A channel that a canceller may still interrupt is not used again.
    let owned = owned.filter(|owned| !owned.alarmed);
    Others::with(|others| others.borrow_mut().extend(owned));
}
