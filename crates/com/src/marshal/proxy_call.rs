//! The calls of proxies.

mod unsent;

pub(crate) use unsent::Unsent;

use crate::client::channels::{Calls, OwnedChannel, take_out};
use crate::client::link::Link;
use crate::client::proxy::Proxy;
use crate::client::proxy::Wanted;
use crate::marshal::reply::ReplyView;
use crate::protocol::frame::{Measure, aligned};
use crate::types::deadline;
use crate::types::error::{Failed, Result, leave};
use crate::types::registry::InterfaceInfo;
use obvia_rpc::vi_call::TargetId;
use obvia_via::layout::INLINE_MAX;
use std::ffi::c_void;
use std::ptr::NonNull;
use windows_core::{HRESULT, IUnknown, Interface};

/// A call over the channel at hand.
pub struct PlainCall {
    // Invariant: `calls` belongs to this thread. Until the call has been sent, a channel with a
    // free slot is at hand.
    calls: NonNull<Calls>,
    target: u64,
}

impl PlainCall {
    /// Begins a call of a proxy if the link's channel is at hand. Returns `None` if
    /// [`Proxy::prepare`] must be called first.
    ///
    /// # Safety
    ///
    /// The thread must begin no other call before this call is made.
    #[inline(always)]
    pub unsafe fn begin(proxy: &Proxy) -> Option<Self> {
        let (link, target) = proxy.words();
        Calls::with(|calls| calls.has(link).then(|| Self { calls: NonNull::from(calls), target }))
    }

    /// Makes the call. `work` marshals, sends and unmarshals, and runs no foreign code. If `work`
    /// fails, the result is the HRESULT of the error. The error is left for the wrapper of the
    /// proxy's method, which fetches it by `recall`.
    #[inline(always)]
    pub fn make(mut self, work: impl FnOnce(&mut Self) -> std::result::Result<HRESULT, Failed>) -> HRESULT {
        work(&mut self).unwrap_or_else(Failed::code)
    }

    #[inline(always)]
    fn calls(&self) -> &Calls {
        // SAFETY: by the invariant, `calls` belongs to this thread. `Calls` lives as long as the
        // thread, and this value does not leave the thread.
        unsafe { self.calls.as_ref() }
    }

    /// Returns the reference to an array if the array lies in the selected region.
    #[inline(always)]
    pub fn refer(&self, at: usize, is_written: bool, address: usize) -> Option<u64> {
        self.calls().region(at, is_written).reference(address)
    }

    /// Returns the memory of the slot, for a request's frame that fits in the slot.
    ///
    /// # Errors
    ///
    /// Never fails: [`Self::begin`] and [`Proxy::prepare`] have already checked the connection.
    #[inline(always)]
    pub fn inline_request(&mut self) -> Result<&mut [u8; INLINE_MAX]> {
        // SAFETY: by the invariant the slot is free, and it is lent only through `&mut self`.
        Ok(unsafe { &mut *self.calls().slot() })
    }

    /// Returns the memory for a request's frame.
    ///
    /// # Errors
    ///
    /// If the connection is gone or full, or if the frame is too long for the connection.
    #[inline]
    pub fn request(&mut self, measure: Measure) -> Result<&mut [u8]> {
        if measure.length() <= INLINE_MAX {
            return Ok(&mut self.inline_request()?[..measure.length()]);
        }
        // SAFETY: by the invariant, a channel is at hand.
        let mut frame = unsafe { self.calls().request(measure.length(), measure.bulk()) }?;
        // SAFETY: the frame belongs to the channel at hand, and is lent only through `&mut self`.
        Ok(unsafe { frame.as_mut() })
    }

    /// Publishes the request and waits for its reply. A failed exchange looks like the reply of a
    /// method that failed.
    ///
    /// # Errors
    ///
    /// Never fails.
    #[inline(always)]
    pub fn send(&mut self, opnum: u16, length: usize) -> Result<ReplyView<'_>> {
        // SAFETY: by the invariant, a channel is at hand. The next call on this thread needs
        // another `PlainCall`, so the reply's frame is valid as long as this value is borrowed.
        let raw = unsafe { self.calls().exchange(opnum, aligned(length), self.target) };
        // SAFETY: the reply comes from an exchange, and is not used beyond this call.
        Ok(unsafe { ReplyView::from_raw(raw) })
    }

    /// Publishes a request that has no reply.
    #[inline]
    pub fn send_oneway(&mut self, opnum: u16, length: usize) {
        // SAFETY: by the invariant, a channel is at hand.
        unsafe { self.calls().send(opnum, aligned(length), self.target) };
    }
}

/// A call over a channel that is not at hand during the call, since the marshaling may run foreign
/// code that makes calls on this thread.
pub struct ProxyCall<'a> {
    owned: &'a mut OwnedChannel,
    target: TargetId,
    link: &'a Link,
    unsent: Unsent,
}

impl ProxyCall<'_> {
    /// Makes a call of a proxy whose marshaling may run foreign code, which may itself make calls
    /// on this thread.
    #[inline]
    pub fn make(proxy: &Proxy, work: impl FnOnce(&mut ProxyCall<'_>) -> Result<HRESULT>) -> HRESULT {
        let call = |owned: &mut OwnedChannel| {
            let (target, link, unsent) = (proxy.target(), &**proxy.link(), Unsent::default());
            work(&mut ProxyCall { owned, target, link, unsent })
        };
        take_out(proxy.link(), call).unwrap_or_else(leave)
    }

    /// Marshals a reference to an object in the request. The reference is taken back if the server
    /// does not receive it.
    pub(crate) fn reference(&self, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Vec<u8>> {
        let reference = self.unsent.reference(object, info, self.link)?;
        // During its marshaling, the object may have made calls. In that case the thread's
        // cancellers have the alarm of another channel, so this channel's alarm is registered
        // again. The deadline may have passed, too.
        self.owned.register()?;
        deadline::check_in_time(deadline::of_thread())?;
        Ok(reference)
    }

    /// Returns the memory of the slot, for a request's frame that fits in the slot.
    ///
    /// # Errors
    ///
    /// If the connection is gone or full.
    #[inline(always)]
    pub fn inline_request(&mut self) -> Result<&mut [u8; INLINE_MAX]> {
        Ok(self.owned.channel.inline_request(deadline::ThreadLimit)?)
    }

    /// Returns the memory for a request's frame.
    ///
    /// # Errors
    ///
    /// As [`Self::inline_request`], and if the frame is too long for the connection.
    #[inline]
    pub fn request(&mut self, measure: Measure) -> Result<&mut [u8]> {
        Ok(self.owned.channel.request(measure.length(), measure.bulk(), deadline::ThreadLimit)?)
    }

    /// Publishes the request and waits for its reply.
    ///
    /// # Errors
    ///
    /// If the server answers with a fault, the connection fails, or the deadline passes.
    #[inline(always)]
    pub fn send(&mut self, opnum: u16, length: usize) -> Result<ReplyView<'_>> {
        let length = aligned(length);
        let outcome = self.owned.channel.call(self.target, opnum, length, deadline::ThreadLimit);
        self.unsent.is_published(outcome.as_ref().err());
        Ok(ReplyView::of_object(outcome?, self.link))
    }

    /// Publishes a request that has no reply.
    #[inline]
    pub fn send_oneway(&mut self, opnum: u16, length: usize) {
        self.owned.channel.oneway(self.target, opnum, aligned(length));
        self.unsent.is_published_oneway(&mut self.owned.channel, self.link);
    }
}

/// Marshals a reference for the process that receives the call. The reference is empty for a null
/// pointer.
///
/// # Safety
///
/// `object` must be null or a live interface pointer.
///
/// # Errors
///
/// If the object lacks the interface, or belongs to a process that is gone.
pub unsafe fn reference_for_peer(object: *mut c_void, wanted: Wanted, call: &ProxyCall<'_>) -> Result<Vec<u8>> {
    // SAFETY: the caller promises null or a live interface pointer.
    let Some(object) = (unsafe { IUnknown::from_raw_borrowed(&object) }) else {
        return Ok(Vec::new());
    };
    call.reference(object, wanted.info()?)
}
