//! The client's end of a call: proxies, which represent objects of other processes.
//!
//! One proxy manager represents one object of another process. It has one interface proxy for each
//! requested interface. An interface proxy begins with a pointer to a vtable, so its holder uses it
//! like any other interface pointer. There is a separate interface proxy for each link by which
//! this process received the interface, and queries through it use that link.

mod known;
mod pointer;
mod unknown;

pub(crate) use known::{Imported, look_behind};
pub(crate) use pointer::ManagerPointer;
pub use unknown::Wanted;
pub(crate) use unknown::{UNKNOWN_INFO, without_vtables};

use crate::client::channels::Calls;
use crate::client::link::Link;
use crate::client::own_target;
use crate::protocol::objref::ObjRef;
use crate::protocol::own_calls;
use crate::types::error::{Error, Result, code, leave};
use crate::types::registry::{self, InterfaceInfo, VtablePointer, note_proxies};
use obvia_rpc::vi_call::TargetId;
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use windows_core::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

/// The value of the field `target` in an identity proxy, which has no target.
const NOTHING: TargetId = TargetId { index: u32::MAX, generation: 0 };

/// The IUnknown methods of every proxy.
pub const UNKNOWN: IUnknown_Vtbl = IUnknown_Vtbl { QueryInterface: query_interface, AddRef: add_ref, Release: release };

static UNKNOWN_VTABLE: IUnknown_Vtbl = UNKNOWN;

/// The vtable of proxies for IUnknown alone.
pub(crate) const UNKNOWN_POINTER: VtablePointer = VtablePointer((&raw const UNKNOWN_VTABLE).cast());

/// An interface proxy: the target of an interface pointer to a remote object.
#[repr(C)]
pub struct Proxy {
    // Callers read the vtable through the interface pointer.
    vtable: VtablePointer,
    // The link's address, which calls compare, and the target's word, which calls send. C code
    // reads both at their offsets in this structure.
    link_address: usize,
    target_word: u64,
    target: TargetId,
    link: Arc<Link>,
    // Invariant: the manager owns this proxy and outlives it.
    manager: NonNull<ProxyManager>,
    info: &'static InterfaceInfo,
    // The number of references to `target` that this process holds at the server.
    public_refs: AtomicU32,
}

/// The proxy manager for one object of another process.
pub(crate) struct ProxyManager {
    references: AtomicU32,
    oid: u64,
    // The proxies are boxed, because their addresses are interface pointers and must not change.
    #[expect(clippy::vec_box, reason = "a proxy must not move")]
    proxies: Mutex<Vec<Box<Proxy>>>,
}

impl ManagerPointer {
    fn manager(self) -> NonNull<ProxyManager> {
        self.0.cast()
    }
}

impl Proxy {
    /// Returns the proxy to which the `this` pointer of a proxy's method leads.
    ///
    /// # Safety
    ///
    /// `this` must be an interface pointer to a proxy, alive for `'a`.
    #[inline(always)]
    pub unsafe fn from_raw<'a>(this: *mut c_void) -> &'a Self {
        // SAFETY: the caller promises a proxy that is alive for `'a`. A proxy is never moved, and
        // no other code writes it, while it is alive.
        unsafe { &*this.cast::<Self>() }
    }

    fn new(
        info: &'static InterfaceInfo,
        target: TargetId,
        link: &Arc<Link>,
        manager: NonNull<ProxyManager>,
    ) -> Box<Self> {
        note_proxies(info.proxy);
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

    /// Puts a channel of the link at hand for a call. Returns the HRESULT of a failure, if any. The
    /// error is left for the wrapper of the proxy's method, which fetches it by `recall`.
    #[cold]
    #[inline(never)]
    pub fn prepare(&self) -> Option<HRESULT> {
        Calls::with(|calls| calls.prepare(&self.link)).err().map(leave)
    }

    /// Selects the regions that contain a call's arrays: see [`Calls::select_region`]. `arrays` has
    /// for each array its index, whether the method writes the array, and its address. Returns
    /// whether a region was selected.
    ///
    /// # Errors
    ///
    /// The HRESULT of the failure, if a region cannot be sent, or the peer does not answer. The
    /// error is left for the wrapper of the proxy's method, which fetches it by `recall`.
    ///
    /// # Safety
    ///
    /// [`PlainCall::begin`](crate::rt::PlainCall::begin) must have returned a call that has not
    /// been made yet.
    #[cold]
    #[inline(never)]
    pub unsafe fn select_regions(&self, arrays: &[(usize, bool, usize)]) -> std::result::Result<bool, HRESULT> {
        let mut is_selected = false;
        for &(at, is_written, address) in arrays {
            // SAFETY: the caller promises that the call has begun and has not been made, so the
            // slot of the channel at hand is free. A failed selection ends the loop.
            let selected = Calls::with(|calls| unsafe { calls.select_region(at, is_written, address) });
            is_selected |= selected.map_err(leave)?;
        }
        Ok(is_selected)
    }

    /// Whether arrays can be passed by reference to this peer.
    #[cold]
    pub fn shares_memory(&self) -> bool {
        Calls::with(|calls| calls.has(self.link_address) && calls.shares_memory())
    }

    #[inline(always)]
    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    #[inline(always)]
    pub(crate) fn target(&self) -> TargetId {
        self.target
    }

    /// Returns the link's address and the target's word.
    #[inline(always)]
    pub(crate) fn words(&self) -> (usize, u64) {
        (self.link_address, self.target_word)
    }

    fn manager(&self) -> &ProxyManager {
        // SAFETY: by the invariant of `manager`, the manager outlives its proxies.
        unsafe { self.manager.as_ref() }
    }
}

/// Returns the manager of an object, if there is one, with a reference counted for the caller.
fn take_known(managers: &HashMap<u64, ManagerPointer>, oid: u64) -> Option<ManagerPointer> {
    managers.get(&oid).copied().filter(|known| {
        // SAFETY: a manager removes itself from this table, under the table's lock, before it is
        // freed.
        let references = unsafe { &(*known.manager().as_ptr()).references };
        // A manager whose count has reached zero is being destroyed.
        references
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| (count > 0).then_some(count + 1))
            .is_ok_and(is_counted)
    })
}

/// Returns the identity proxy for an object, if the object has a manager.
pub(crate) fn find(link: &Link, oid: u64) -> Option<IUnknown> {
    let managers = link.managers().lock().unwrap_or_else(PoisonError::into_inner);
    let manager = take_known(&managers, oid)?;
    drop(managers);
    // SAFETY: the reference just taken keeps the manager alive.
    let proxies = unsafe { &(*manager.manager().as_ptr()).proxies };
    let proxies = proxies.lock().unwrap_or_else(PoisonError::into_inner);
    let identity = proxies.first().map(|proxy| NonNull::from(&**proxy).cast::<c_void>())?;
    drop(proxies);
    // SAFETY: the identity is an interface pointer, and owns the reference that was just taken.
    Some(unsafe { IUnknown::from_raw(identity.as_ptr()) })
}

/// Returns the interface proxy for a target, with a reference for the caller. Makes the proxy if
/// there is none.
///
/// The proxy takes over `public_refs` references to `target`.
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
        let fresh = ManagerPointer(ProxyManager::create(link, oid).cast());
        managers.insert(oid, fresh);
        fresh
    });
    // The caller gets the reference that `take_known` has counted, or a new manager's first one.
    // SAFETY: the reference keeps the manager alive.
    let proxies = unsafe { &(*manager.manager().as_ptr()).proxies };
    let mut proxies = proxies.lock().unwrap_or_else(PoisonError::into_inner);
    // The interface is compared as well, because a proxy has one vtable, while a server may claim
    // two interfaces for one target.
    let is_it = |proxy: &Proxy| proxy.target == target && proxy.info.is_same(info) && Arc::ptr_eq(&proxy.link, link);
    if let Some(proxy) = proxies.iter().find(|proxy| is_it(proxy)) {
        add_refs(&proxy.public_refs, public_refs);
        return NonNull::from(&**proxy).cast();
    }
    link.note_target(target, info);
    let proxy = Proxy::new(info, target, link, manager.manager());
    proxy.public_refs.store(public_refs, Ordering::Release);
    link.add_proxy(target);
    let pointer = NonNull::from(&*proxy).cast();
    proxies.push(proxy);
    pointer
}

/// Whether there is an interface proxy over a link for the target and the interface of a reference.
pub(crate) fn is_imported(link: &Arc<Link>, reference: &ObjRef) -> bool {
    let managers = link.managers().lock().unwrap_or_else(PoisonError::into_inner);
    let Some(manager) = managers.get(&reference.oid) else { return false };
    // SAFETY: a manager removes itself from this table, under the table's lock, before it is freed.
    let proxies = unsafe { &(*manager.manager().as_ptr()).proxies };
    let proxies = proxies.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |proxy: &Proxy| proxy.target == reference.target && proxy.info.iid == reference.iid;
    proxies.iter().any(|proxy| is_it(proxy) && Arc::ptr_eq(&proxy.link, link))
}

/// Adds references to a count. The sum saturates, since a peer may send any number of references.
/// The server releases no more references than it has counted.
fn add_refs(count: &AtomicU32, refs: u32) {
    let add = |before: u32| Some(before.saturating_add(refs));
    // The closure always returns a count, so the update cannot fail.
    let _ = count.fetch_update(Ordering::AcqRel, Ordering::Acquire, add);
}

/// Takes one of the references that a proxy holds at the server, in order to pass the object back
/// to the object's process. Returns `None` for an object that is no proxy.
pub(crate) fn split_reference(object: &IUnknown, own: u64) -> Result<Option<Imported>> {
    let Some(imported) = look_behind(object) else { return Ok(None) };
    // SAFETY: `look_behind` returns `Some` for proxies only.
    let proxy = unsafe { Proxy::from_raw(object.as_raw()) }.targeted();
    let split = |refs: u32| refs.checked_sub(1).filter(|&left| left > 0);
    if proxy.public_refs.fetch_update(Ordering::AcqRel, Ordering::Acquire, split).is_err() {
        // The last reference stays with the proxy, so the server counts further references.
        own_target::transfer(&imported.link, imported.target, (own, None), own_calls::REFS_PER_QUERY)?;
        add_refs(&proxy.public_refs, own_calls::REFS_PER_QUERY - 1);
    }
    Ok(Some(imported))
}

impl Proxy {
    /// Returns this proxy. For the identity proxy, which has no target, returns another proxy of
    /// the same object, if possible one whose link is alive.
    fn targeted(&self) -> &Self {
        let proxies = self.manager().proxies.lock().unwrap_or_else(PoisonError::into_inner);
        match proxies.split_first() {
            Some((identity, others)) if std::ptr::eq(&raw const **identity, self) => {
                let alive = others.iter().find(|proxy| !proxy.link.is_dead());
                // SAFETY: proxies are added and never removed while their manager lives, and `self`
                // keeps the manager alive.
                alive.or_else(|| others.first()).map_or(self, |other| unsafe { NonNull::from(&**other).as_ref() })
            }
            _ => self,
        }
    }
}

/// The greatest legitimate reference count. A client that leaks references on purpose must not make
/// the count wrap to 0.
const REFERENCES_MAX: u32 = u32::MAX / 2;

/// Returns true, or aborts the process if the count could overflow.
fn is_counted(before: u32) -> bool {
    if before > REFERENCES_MAX {
        std::process::abort();
    }
    true
}

impl ProxyManager {
    /// Adds one reference and returns the new count.
    fn count(&self) -> u32 {
        let before = self.references.fetch_add(1, Ordering::Relaxed);
        is_counted(before);
        before + 1
    }

    fn create(link: &Arc<Link>, oid: u64) -> NonNull<Self> {
        let manager = Box::new(Self { references: AtomicU32::new(1), oid, proxies: Mutex::new(Vec::with_capacity(2)) });
        let manager = NonNull::from(Box::leak(manager));
        // The identity, which every query for IUnknown returns.
        let identity = Proxy::new(&UNKNOWN_INFO, NOTHING, link, manager);
        // SAFETY: the manager was just made and is not shared yet.
        let proxies = unsafe { &(*manager.as_ptr()).proxies };
        proxies.lock().unwrap_or_else(PoisonError::into_inner).push(identity);
        manager
    }

    /// Finds or makes the proxy for an interface, and counts a reference for the caller.
    fn query(&self, asked: &Proxy, iid: &GUID) -> Result<NonNull<c_void>> {
        registry::refuse_rivals(iid)?;
        // The identity proxy has no target, so the query uses the target of another proxy.
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
        let found = own_target::query_interface(&through.link, through.target, info)?;
        // `import` counts a reference for the caller and keeps the object's identity.
        Ok(import(&through.link, self.oid, found, own_calls::REFS_PER_QUERY, info))
    }
}

unsafe extern "system" fn query_interface(this: *mut c_void, iid: *const GUID, out: *mut *mut c_void) -> HRESULT {
    if iid.is_null() || out.is_null() {
        return code::E_POINTER;
    }
    // SAFETY: the function is in the vtables of proxies only, so `this` is a proxy, and the caller
    // holds a reference to it.
    let proxy = unsafe { Proxy::from_raw(this) };
    // SAFETY: the pointer is not null, so by the contract of QueryInterface it is readable.
    let iid = unsafe { *iid };
    let found = proxy.manager().query(proxy, &iid).map(NonNull::as_ptr);
    let (pointer, result) = match found {
        Ok(pointer) => (pointer, code::S_OK),
        Err(error) => (std::ptr::null_mut(), leave(error)),
    };
    // SAFETY: the pointer is not null, so by the contract of QueryInterface it is writable.
    unsafe { out.write(pointer) };
    result
}

unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: the function is in the vtables of proxies only, so `this` is a proxy, and the caller
    // holds a reference to it.
    let proxy = unsafe { Proxy::from_raw(this) };
    proxy.manager().count()
}

unsafe extern "system" fn release(this: *mut c_void) -> u32 {
    // SAFETY: the function is in the vtables of proxies only, so `this` is a proxy, and the caller
    // holds a reference to it until this call.
    let manager = unsafe { Proxy::from_raw(this) }.manager;
    // SAFETY: the manager is alive until the count below reaches zero.
    let references = unsafe { &(*manager.as_ptr()).references };
    let left = references.fetch_sub(1, Ordering::Release) - 1;
    if left == 0 {
        std::sync::atomic::fence(Ordering::Acquire);
        // SAFETY: the count reached zero, which happens once, since `take_known` does not raise it
        // from zero.
        unsafe { destroy(manager) };
    }
    left
}

/// Removes a manager from its link's table, frees it, and gives the references of its proxies back
/// to the server.
///
/// # Safety
///
/// The manager's count must just have reached zero.
#[cold]
unsafe fn destroy(manager: NonNull<ProxyManager>) {
    // SAFETY: the manager is still allocated.
    let oid = unsafe { manager.as_ref() }.oid;
    // SAFETY: the manager is still allocated.
    let proxies = unsafe { &manager.as_ref().proxies };
    let link = proxies.lock().unwrap_or_else(PoisonError::into_inner).first().map(|proxy| Arc::clone(&proxy.link));
    let Some(link) = link else { return };
    let mut managers = link.managers().lock().unwrap_or_else(PoisonError::into_inner);
    // A new manager may have taken the entry since the count reached zero.
    if managers.get(&oid).is_some_and(|there| there.manager() == manager) {
        managers.remove(&oid);
    }
    drop(managers);
    // SAFETY: the manager was made by `Box::leak`, is no longer in the table, and has no
    // references.
    let manager = unsafe { Box::from_raw(manager.as_ptr()) };
    let proxies = manager.proxies.into_inner().unwrap_or_else(PoisonError::into_inner);
    // The first proxy is the identity, which has no target.
    for proxy in proxies.iter().skip(1) {
        proxy.link.forget_target(proxy.target);
        proxy.link.remove_proxy(proxy.target, proxy.public_refs.load(Ordering::Acquire));
    }
}
