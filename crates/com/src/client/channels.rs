//! The channels of a thread, taken from the pools of links and kept from call to call.
//!
//! The channel used last is *at hand*: the thread's [`Calls`] have the channel and the slot for its
//! next request. A call over the channel at hand begins with one comparison and takes no reference
//! count, since only the transport's code runs before the reply arrives. A call with objects as
//! arguments or results can run foreign code before the reply arrives, and this code can make calls
//! itself. Such a call takes its channel out of [`Calls`] first.

mod lease;
mod owned;

pub(crate) use lease::Lease;
pub(crate) use owned::{OwnedChannel, sending, take_out, with_channel};

use crate::client::canceller::is_cancellable;
use crate::client::link::Link;
use crate::client::shared::{self, RegionCaches};
use crate::protocol::call_context;
use crate::types::deadline::ThreadLimit;
use crate::types::error::{Error, Result, leave};
use obvia_rpc::vi_call::{CallError, Channel, TargetId};
use obvia_via::layout::INLINE_MAX;
use obvia_via::window::{RegionCache, cache_at};
use owned::{Others, note_unsent, obtain};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use windows_core::HRESULT;

/// The thread's channel at hand. C code reads the first fields.
#[repr(C)]
pub struct Calls {
    /// The address of the link to which the channel belongs; 0 if the next call must prepare first.
    link: Cell<usize>,
    // Invariant: while `link` is not 0, the slot of the next request, used by this thread alone
    // until the request is published.
    slot: Cell<*mut [u8; INLINE_MAX]>,
    // Invariant: each entry is empty, or a region that the peer of the channel at hand has mapped.
    // The entries of the second half belong to regions that the peer may write.
    regions: RegionCaches,
    // Invariant: null, or a leaked box that this field owns. Never null while `link` is not 0.
    owned: Cell<*mut OwnedChannel>,
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
    /// The results' frame; [`RawReply::NO_FRAME`] where the call failed in transit.
    pub frame: *const u8,
    /// The lower half is the HRESULT of the method or of the failed call. The upper half is the
    /// length of the frame in bytes.
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

    /// Puts a channel of `link` at hand, for at least one call, and waits until its slot is free.
    ///
    /// # Errors
    ///
    /// If the peer cannot be reached or takes no further call, if the call's deadline has passed,
    /// or if one of the thread's cancellers was used.
    #[cold]
    #[inline(never)]
    pub(crate) fn prepare(&self, link: &Arc<Link>) -> Result<()> {
        let mut owned = obtain(link)?;
        let slot = owned.channel.inline_request(ThreadLimit).map(NonNull::from);
        self.put_at_hand(owned, slot.as_ref().ok().copied());
        slot.inspect_err(|_| note_unsent())?;
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
        // SAFETY: the caller promises that a channel is at hand, and this function uses no other
        // reference to the channel.
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
        // SAFETY: the caller promises that a channel is at hand.
        unsafe { self.exchange_inline(opnum, length, target) }
    }

    /// As [`Self::exchange`], for a caller that is itself never inlined.
    ///
    /// # Safety
    ///
    /// As for [`Self::exchange`].
    #[inline(always)]
    pub unsafe fn exchange_inline(&self, opnum: u16, length: usize, target: u64) -> RawReply {
        // SAFETY: the caller promises that a channel is at hand, and this function uses no other
        // reference to the channel.
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

    /// Returns the cache entry with the selected region for an array of a method. `at` is the
    /// array's index among the arrays that the method writes, if `is_written`, and otherwise among
    /// the arrays that the method reads.
    #[inline(always)]
    pub(crate) fn region(&self, at: usize, is_written: bool) -> &RegionCache {
        &self.regions[cache_at(at, is_written)]
    }

    /// Selects the region that contains an address, and maps the region at the peer. Returns false
    /// if the array cannot be passed by reference, or if the region is already selected. Also
    /// returns false if no channel is at hand, because the selection for another array of the call
    /// has failed.
    ///
    /// # Errors
    ///
    /// If the region cannot be sent, or the peer does not answer. The channel is dropped then.
    ///
    /// # Safety
    ///
    /// The slot of the channel at hand must be free.
    #[cold]
    #[inline(never)]
    pub unsafe fn select_region(&self, at: usize, is_written: bool, address: usize) -> Result<bool> {
        let Some(region) = shared::find(address).filter(|region| region.is_writable() || !is_written) else {
            return Ok(false);
        };
        let cache = self.region(at, is_written);
        if self.owned.get().is_null() || cache.begins_at(region.start().as_ptr().addr()) {
            return Ok(false);
        }
        // The use of `Others` registers a destructor. When the thread ends, the destructor removes
        // the thread's selections from the table of the process.
        if Others::with(|_| ()).is_none() {
            return Ok(false);
        }
        // SAFETY: a channel is at hand, as tested above, and this function uses no other reference
        // to the channel.
        let channel = unsafe { self.channel() };
        let number = shared::number_for(channel, &region, &self.regions).inspect_err(|error| {
            drop(self.take_from_hand());
            Link::note_failure(error);
        })?;
        match channel.request_slot() {
            Some(slot) => self.slot.set(slot.as_ptr()),
            None => self.link.set(0),
        }
        Ok(number.is_some_and(|number| region.fill_cache(cache, number, &self.regions)))
    }

    /// Whether a channel is at hand and regions can be shared with its peer.
    pub fn shares_memory(&self) -> bool {
        // SAFETY: `owned` is not null, so a channel is at hand. This function uses no other
        // reference to the channel.
        !self.owned.get().is_null() && unsafe { self.channel() }.shares_memory()
    }

    /// Publishes a request that has no reply.
    ///
    /// # Safety
    ///
    /// A channel must be at hand.
    pub unsafe fn send(&self, opnum: u16, length: usize, target: u64) {
        // SAFETY: the caller promises that a channel is at hand, and this function uses no other
        // reference to the channel.
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
        // SAFETY: the caller promises that a channel is at hand, so `owned` leads to a box by its
        // invariant. The caller also promises that no other reference is used during `'a`.
        let owned = unsafe { &mut *self.owned.get() };
        &mut owned.channel
    }

    /// Ends a call that has failed. The channel is dropped unless the server itself reported the
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

    fn take_from_hand(&self) -> Option<Box<OwnedChannel>> {
        self.link.set(0);
        self.regions.iter().for_each(RegionCache::clear);
        let owned = self.owned.replace(ptr::null_mut());
        // SAFETY: by the invariant of `owned`, the pointer leads to a leaked box, and the field no
        // longer owns the box.
        let owned = (!owned.is_null()).then(|| unsafe { Box::from_raw(owned) })?;
        let lease = self.lease.take();
        if lease == 0 {
            return Some(owned);
        }
        lease::keep(lease, owned);
        None
    }

    /// Puts a channel at hand, and moves the previous one to the thread's other channels. Without a
    /// `slot` for its next request, the next call must prepare.
    fn put_at_hand(&self, owned: Box<OwnedChannel>, slot: Option<NonNull<[u8; INLINE_MAX]>>) {
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
/// thread's cancellers. A call with a context checks the context's deadline and sends the context
/// first.
fn has_to_prepare() -> bool {
    is_cancellable() || call_context::is_set()
}
