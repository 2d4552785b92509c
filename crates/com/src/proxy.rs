//! The client's end of a call: proxies that look like the object.
//!
//! One proxy manager stands for one object of another process; it has one interface proxy for each interface that was asked
//! for. An interface proxy begins with a pointer to the vtable that the compiler made, so to its holder it is an interface
//! pointer like any other. There is one for each way to the process by which the interface came, and what is asked through it goes that way.

mod known;
mod unsent;

pub(crate) use known::{Imported, look_behind};

use crate::error::{Error, Failed, Result, code, leave};
use crate::frame::{Measure, aligned};
use crate::link::Link;
use crate::registry::{self, InterfaceInfo, VtablePointer};
use crate::reply::ReplyView;
use crate::thread::channels::{Calls, with_channel};
use crate::{marshal, system, thread};
use obvia_rpc::vi_call::{Channel, TargetId};
use obvia_via::layout::INLINE_MAX;
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use unsent::Unsent;
use windows_core::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

/// What is no target.
const NOTHING: TargetId = TargetId { index: u32::MAX, generation: 0 };

/// The first three methods of every proxy.
pub const UNKNOWN: IUnknown_Vtbl = IUnknown_Vtbl { QueryInterface: query_interface, AddRef: add_ref, Release: release };

static UNKNOWN_VTABLE: IUnknown_Vtbl = UNKNOWN;

/// The vtable of proxies for IUnknown alone.
pub(crate) const UNKNOWN_POINTER: VtablePointer = VtablePointer((&raw const UNKNOWN_VTABLE).cast());

/// An interface proxy: what an interface pointer to an object elsewhere points to.
#[repr(C)]
pub struct Proxy {
    // Read by callers through the interface pointer.
    vtable: VtablePointer,
    // What calls compare and send: the link's address, and the target's word. C code reads them here.
    link_address: usize,
    target_word: u64,
    target: TargetId,
    link: Arc<Link>,
    // Invariant: the manager owns this proxy, so it outlives it.
    manager: NonNull<ProxyManager>,
    info: &'static InterfaceInfo,
    // References to `target` that this process holds at the server.
    public_refs: AtomicU32,
}

/// One object of another process.
pub(crate) struct ProxyManager {
    references: AtomicU32,
    oid: u64,
    // Boxed, since interface pointers are their addresses.
    #[expect(clippy::vec_box, reason = "a proxy must not move")]
    proxies: Mutex<Vec<Box<Proxy>>>,
}

/// A manager in the table of a link.
#[derive(Clone, Copy)]
pub(crate) struct ManagerPointer(NonNull<ProxyManager>);

// SAFETY: a manager may be used by any thread: its count is atomic, its proxies are behind a lock.
unsafe impl Send for ManagerPointer {}

impl Proxy {
    /// The proxy behind the `this` of a proxy's vtable.
    ///
    /// # Safety
    ///
    /// `this` must be an interface pointer to a proxy, alive for `'a`.
    #[inline(always)]
    pub unsafe fn from_raw<'a>(this: *mut c_void) -> &'a Self {
        // SAFETY: the caller's promise; a proxy is never moved or written through other paths while it is alive.
        unsafe { &*this.cast::<Self>() }
    }

    fn new(
        info: &'static InterfaceInfo,
        target: TargetId,
        link: &Arc<Link>,
        manager: NonNull<ProxyManager>,
    ) -> Box<Self> {
        known::note(info.proxy);
        Box::new(Self {
            vtable: info.proxy,
            link_address: Arc::as_ptr(link).addr(),
            target_word: target.word(),
            target,
            link: Arc::clone(link),
            manager,
            info,
            public_refs: AtomicU32::new(0),
        })
    }

    /// A call, if it can begin at once; else [`Self::prepare`] comes first.
    ///
    /// # Safety
    ///
    /// The thread must begin no other call before this one is made.
    #[inline(always)]
    pub unsafe fn begin(&self) -> Option<PlainCall> {
        Calls::with(|calls| {
            calls.has(self.link_address).then(|| PlainCall { calls: NonNull::from(calls), target: self.target_word })
        })
    }

    /// Makes ready for a call. Where that fails, the HRESULT; its words wait for the wrapper.
    #[cold]
    #[inline(never)]
    pub fn prepare(&self) -> Option<HRESULT> {
        Calls::with(|calls| calls.prepare(&self.link)).err().map(leave)
    }

    /// Makes a call whose marshaling may run code of others, which may make calls on this thread itself.
    #[inline]
    pub fn call_with_objects(&self, work: impl FnOnce(&mut ProxyCall<'_>) -> Result<HRESULT>) -> HRESULT {
        let call = |channel: &mut Channel| {
            let (target, oxid, unsent) = (self.target, self.link.oxid(), Unsent::default());
            work(&mut ProxyCall { channel, target, oxid, unsent })
        };
        with_channel(&self.link, call).unwrap_or_else(leave)
    }

    /// Takes the region that an array lies in in hand: see [`Calls::turn_region`].
    ///
    /// # Safety
    ///
    /// [`Self::begin`] must have returned a call, and that not be made.
    #[cold]
    #[inline(never)]
    pub unsafe fn turn_region(&self, at: usize, is_written: bool, address: usize) -> bool {
        // SAFETY: the caller's promise.
        Calls::with(|calls| unsafe { calls.turn_region(at, is_written, address) })
    }

    /// Whether arrays could be passed by reference at all.
    ///
    /// # Safety
    ///
    /// As for [`Self::turn_region`].
    #[cold]
    pub unsafe fn shares_memory(&self) -> bool {
        // SAFETY: the caller's promise. Where the channel is gone by now, the next one is of the same kind.
        Calls::with(|calls| calls.has(self.link_address) && unsafe { calls.shares_memory() })
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    fn manager(&self) -> &ProxyManager {
        // SAFETY: by the invariant of the field.
        unsafe { self.manager.as_ref() }
    }
}

/// A call in its proxy, over the channel at hand.
pub struct PlainCall {
    // Invariant: the thread's own; a channel is at hand, with its slot free, until the call has been sent.
    calls: NonNull<Calls>,
    target: u64,
}

impl PlainCall {
    /// Makes the call: `work` marshals, sends and unmarshals, and runs nobody else's code meanwhile. Its error becomes the
    /// HRESULT, its words wait for the wrapper.
    #[inline(always)]
    pub fn make(mut self, work: impl FnOnce(&mut Self) -> std::result::Result<HRESULT, Failed>) -> HRESULT {
        work(&mut self).unwrap_or_else(Failed::code)
    }

    #[inline(always)]
    fn calls(&self) -> &Calls {
        // SAFETY: by the invariant; it lives as long as the thread, which this value does not leave.
        unsafe { self.calls.as_ref() }
    }

    /// The reference to an array, if it lies in the region in hand.
    #[inline(always)]
    pub fn refer(&self, at: usize, is_written: bool, address: usize) -> Option<u64> {
        self.calls().region(at, is_written).reference(address)
    }

    /// The place for a request's frame that fits a slot.
    ///
    /// # Errors
    ///
    /// None: what can go wrong has been seen to before.
    #[inline(always)]
    pub fn inline_request(&mut self) -> Result<&mut [u8; INLINE_MAX]> {
        // SAFETY: by the invariant the slot is free; it is lent only through &mut self.
        Ok(unsafe { &mut *self.calls().slot() })
    }

    /// The place for a request's frame.
    ///
    /// # Errors
    ///
    /// When the connection is gone or full, and when the frame is too long for the connection.
    #[inline]
    pub fn request(&mut self, measure: Measure) -> Result<&mut [u8]> {
        if measure.length() <= INLINE_MAX {
            return Ok(&mut self.inline_request()?[..measure.length()]);
        }
        // SAFETY: by the invariant.
        let mut frame = unsafe { self.calls().request(measure.length(), measure.bulk()) }?;
        // SAFETY: a frame of the channel at hand, lent only through &mut self.
        Ok(unsafe { frame.as_mut() })
    }

    /// Publishes the request and waits for its reply. One that could not be got looks like one of a method that failed.
    ///
    /// # Errors
    ///
    /// None.
    #[inline(always)]
    pub fn send(&mut self, opnum: u16, length: usize) -> Result<ReplyView<'_>> {
        // SAFETY: by the invariant; the next call on this thread needs another PlainCall.
        let raw = unsafe { self.calls().exchange(opnum, aligned(length), self.target) };
        // SAFETY: of an exchange, and not used beyond this call.
        Ok(unsafe { ReplyView::from_raw(raw) })
    }

    /// Publishes a request that has no reply.
    #[inline]
    pub fn send_oneway(&mut self, opnum: u16, length: usize) {
        // SAFETY: by the invariant.
        unsafe { self.calls().send(opnum, aligned(length), self.target) };
    }
}

/// A call in its proxy, over a channel that was taken out of its place.
pub struct ProxyCall<'a> {
    channel: &'a mut Channel,
    target: TargetId,
    oxid: u64,
    unsent: Unsent,
}

impl ProxyCall<'_> {
    /// A reference to an object in the request. It is taken back if the server does not get it.
    pub(crate) fn reference(&self, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Vec<u8>> {
        self.unsent.reference(object, info, self.oxid)
    }

    /// The place for a request's frame that fits a slot.
    ///
    /// # Errors
    ///
    /// When the connection is gone or full.
    #[inline(always)]
    pub fn inline_request(&mut self) -> Result<&mut [u8; INLINE_MAX]> {
        Ok(self.channel.inline_request(thread::ThreadLimit)?)
    }

    /// The place for a request's frame.
    ///
    /// # Errors
    ///
    /// As [`Self::inline_request`], and when the frame is too long for the connection.
    #[inline]
    pub fn request(&mut self, measure: Measure) -> Result<&mut [u8]> {
        Ok(self.channel.request(measure.length(), measure.bulk(), thread::ThreadLimit)?)
    }

    /// Publishes the request and waits for its reply.
    ///
    /// # Errors
    ///
    /// When the server answers with a fault, the connection fails, or the deadline passes.
    #[inline(always)]
    pub fn send(&mut self, opnum: u16, length: usize) -> Result<ReplyView<'_>> {
        let length = aligned(length);
        let outcome = self.channel.call(self.target, opnum, length, thread::ThreadLimit);
        self.unsent.is_published(outcome.as_ref().err());
        Ok(ReplyView::of_object(outcome?, self.oxid))
    }

    /// Publishes a request that has no reply.
    #[inline]
    pub fn send_oneway(&mut self, opnum: u16, length: usize) {
        self.channel.oneway(self.target, opnum, aligned(length));
        self.unsent.is_published(None);
    }
}

/// The manager of an object, with a reference counted for the caller, if there is one.
fn take_known(managers: &HashMap<u64, ManagerPointer>, oid: u64) -> Option<ManagerPointer> {
    managers.get(&oid).copied().filter(|known| {
        // SAFETY: a manager removes itself from this table, under its lock, before it is freed.
        let references = unsafe { &(*known.0.as_ptr()).references };
        // A manager whose count has reached zero is on its way out.
        references
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| (count > 0).then_some(count + 1))
            .is_ok_and(is_counted)
    })
}

/// The proxy for an object, as long as somebody has one.
pub(crate) fn find(link: &Link, oid: u64) -> Option<IUnknown> {
    let managers = link.managers().lock().unwrap_or_else(PoisonError::into_inner);
    let manager = take_known(&managers, oid)?;
    drop(managers);
    // SAFETY: the reference just taken keeps the manager alive.
    let proxies = unsafe { &(*manager.0.as_ptr()).proxies };
    let proxies = proxies.lock().unwrap_or_else(PoisonError::into_inner);
    let identity = proxies.first().map(|proxy| NonNull::from(&**proxy).cast::<c_void>())?;
    drop(proxies);
    // SAFETY: the identity is an interface pointer, and the reference just taken goes with it.
    Some(unsafe { IUnknown::from_raw(identity.as_ptr()) })
}

/// Makes a proxy for an interface pointer of another process, or finds the one that is there.
///
/// `public_refs` references of `target` now belong to it.
pub(crate) fn import(
    link: &Arc<Link>,
    oid: u64,
    target: TargetId,
    public_refs: u32,
    info: &'static InterfaceInfo,
) -> NonNull<c_void> {
    let mut managers = link.managers().lock().unwrap_or_else(PoisonError::into_inner);
    let known = take_known(&managers, oid);
    let manager = known.unwrap_or_else(|| {
        let fresh = ManagerPointer(ProxyManager::create(link, oid));
        managers.insert(oid, fresh);
        fresh
    });
    drop(managers);
    // The reference just taken, or the one it was born with, goes to the caller.
    // SAFETY: the reference keeps the manager alive.
    let proxies = unsafe { &(*manager.0.as_ptr()).proxies };
    let mut proxies = proxies.lock().unwrap_or_else(PoisonError::into_inner);
    // Of the interface as well: a server may say that one target is two interfaces, but a vtable is one.
    let is_it = |proxy: &Proxy| proxy.target == target && proxy.info.is_same(info) && Arc::ptr_eq(&proxy.link, link);
    if let Some(proxy) = proxies.iter().find(|proxy| is_it(proxy)) {
        proxy.public_refs.fetch_add(public_refs, Ordering::AcqRel);
        return NonNull::from(&**proxy).cast();
    }
    link.note_target(target, info);
    let proxy = Proxy::new(info, target, link, manager.0);
    proxy.public_refs.store(public_refs, Ordering::Release);
    let pointer = NonNull::from(&*proxy).cast();
    proxies.push(proxy);
    pointer
}

/// Takes one of the references that a proxy's process holds, to be sent home with the object.
pub(crate) fn split_reference(object: &IUnknown, own: u64) -> Result<Option<Imported>> {
    let Some(imported) = look_behind(object) else { return Ok(None) };
    // SAFETY: only a proxy has something behind it.
    let proxy = unsafe { Proxy::from_raw(object.as_raw()) }.targeted();
    let split = |refs: u32| refs.checked_sub(1).filter(|&left| left > 0);
    if proxy.public_refs.fetch_update(Ordering::AcqRel, Ordering::Acquire, split).is_err() {
        // The last stays with the proxy.
        system::transfer(&imported.link, imported.target, own, system::REFS_PER_QUERY)?;
        proxy.public_refs.fetch_add(system::REFS_PER_QUERY - 1, Ordering::AcqRel);
    }
    Ok(Some(imported))
}

impl Proxy {
    /// The proxy itself, or, of the identity, which has no target, one of the object's that has.
    fn targeted(&self) -> &Self {
        let proxies = self.manager().proxies.lock().unwrap_or_else(PoisonError::into_inner);
        match proxies.split_first() {
            Some((identity, others)) if std::ptr::eq(&raw const **identity, self) => {
                let alive = others.iter().find(|proxy| !proxy.link.is_dead());
                // SAFETY: proxies are added and never taken away while their manager lives, which this one keeps alive.
                alive.or_else(|| others.first()).map_or(self, |other| unsafe { NonNull::from(&**other).as_ref() })
            }
            _ => self,
        }
    }
}

/// More references than this are none that anybody needs: who forgets them on purpose is not to get to 0.
const REFERENCES_MAX: u32 = u32::MAX / 2;

/// Ends the process rather than have a count go round.
fn is_counted(before: u32) -> bool {
    if before > REFERENCES_MAX {
        std::process::abort();
    }
    true
}

impl ProxyManager {
    /// Counts one more reference, and returns how many there are.
    fn count(&self) -> u32 {
        let before = self.references.fetch_add(1, Ordering::Relaxed);
        is_counted(before);
        before + 1
    }

    fn create(link: &Arc<Link>, oid: u64) -> NonNull<Self> {
        let manager = Box::new(Self { references: AtomicU32::new(1), oid, proxies: Mutex::new(Vec::with_capacity(2)) });
        let manager = NonNull::from(Box::leak(manager));
        // The identity: what a query for IUnknown returns, whichever interface is asked.
        let identity = Proxy::new(&marshal::UNKNOWN_INFO, NOTHING, link, manager);
        // SAFETY: just made, and nobody else knows it.
        let proxies = unsafe { &(*manager.as_ptr()).proxies };
        proxies.lock().unwrap_or_else(PoisonError::into_inner).push(identity);
        manager
    }

    /// Finds or makes the proxy for an interface, and counts a reference for the caller.
    fn query(&self, asked: &Proxy, iid: &GUID) -> Result<NonNull<c_void>> {
        registry::refuse_rivals(iid)?;
        // The identity has no way of its own.
        let through = asked.targeted();
        let proxies = self.proxies.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |proxy: &Proxy| {
            proxy.info.iid == *iid && (*iid == IUnknown::IID || Arc::ptr_eq(&proxy.link, &through.link))
        };
        if let Some(proxy) = proxies.iter().find(|proxy| is_it(proxy)) {
            self.count();
            return Ok(NonNull::from(&**proxy).cast());
        }
        drop(proxies);
        let unknown = |error: Error| Error::new(code::E_NOINTERFACE, error.detail().unwrap_or_default());
        let info = registry::find(iid).map_err(unknown)?;
        if through.target == NOTHING {
            return Err(code::E_NOINTERFACE.into());
        }
        let found = system::query_interface(&through.link, through.target, info)?;
        // Counts a reference for the caller, and keeps the object's identity.
        Ok(import(&through.link, self.oid, found, system::REFS_PER_QUERY, info))
    }
}

unsafe extern "system" fn query_interface(this: *mut c_void, iid: *const GUID, out: *mut *mut c_void) -> HRESULT {
    if iid.is_null() || out.is_null() {
        return code::E_POINTER;
    }
    // SAFETY: in the vtables of proxies only, so `this` is one, and its caller holds it.
    let proxy = unsafe { Proxy::from_raw(this) };
    // SAFETY: not null, and by the contract of QueryInterface readable.
    let iid = unsafe { *iid };
    let found = proxy.manager().query(proxy, &iid).map(NonNull::as_ptr);
    let (pointer, result) = match found {
        Ok(pointer) => (pointer, code::S_OK),
        Err(error) => (std::ptr::null_mut(), leave(error)),
    };
    // SAFETY: not null, and by the contract of QueryInterface writable.
    unsafe { out.write(pointer) };
    result
}

unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: in the vtables of proxies only, so `this` is one, and its caller holds it.
    let proxy = unsafe { Proxy::from_raw(this) };
    proxy.manager().count()
}

unsafe extern "system" fn release(this: *mut c_void) -> u32 {
    // SAFETY: in the vtables of proxies only, so `this` is one, and its caller holds it until this call.
    let manager = unsafe { Proxy::from_raw(this) }.manager;
    // SAFETY: alive until the count below reaches zero.
    let references = unsafe { &(*manager.as_ptr()).references };
    let left = references.fetch_sub(1, Ordering::Release) - 1;
    if left == 0 {
        std::sync::atomic::fence(Ordering::Acquire);
        // SAFETY: the count reached zero, which it does once, since `import` does not raise it from zero.
        unsafe { destroy(manager) };
    }
    left
}

/// Takes a manager out of its link's table, frees it, and gives its references back to the server.
///
/// # Safety
///
/// The manager's count must just have reached zero.
#[cold]
unsafe fn destroy(manager: NonNull<ProxyManager>) {
    // SAFETY: still allocated.
    let oid = unsafe { manager.as_ref() }.oid;
    // SAFETY: as above.
    let proxies = unsafe { &manager.as_ref().proxies };
    let link = proxies.lock().unwrap_or_else(PoisonError::into_inner).first().map(|proxy| Arc::clone(&proxy.link));
    let Some(link) = link else { return };
    let mut managers = link.managers().lock().unwrap_or_else(PoisonError::into_inner);
    // A new manager may have taken the place since the count reached zero.
    if managers.get(&oid).is_some_and(|there| there.0 == manager) {
        managers.remove(&oid);
    }
    drop(managers);
    // SAFETY: made by Box::leak, no longer in the table, and nobody holds a reference.
    let manager = unsafe { Box::from_raw(manager.as_ptr()) };
    let proxies = manager.proxies.into_inner().unwrap_or_else(PoisonError::into_inner);
    for proxy in &proxies {
        link.forget_target(proxy.target);
        let refs = proxy.public_refs.load(Ordering::Acquire);
        if refs > 0 {
            link.release_later(proxy.target, refs);
        }
    }
}
