//! Recognises the runtime's own proxies among interface pointers.

use super::Proxy;
use crate::link::Link;
use crate::registry::VtablePointer;
use obvia_rpc::vi_call::TargetId;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::{Arc, PoisonError, RwLock};
use windows_core::Interface;

/// The addresses of the vtables that proxies were made with, by which the runtime recognises its
/// own proxies. No other object has such a vtable, as
/// [`InterfaceInfo::new`](crate::InterfaceInfo::new) requires. The answer of an object's
/// QueryInterface would not do, since foreign objects may answer anything.
static VTABLES: RwLock<BTreeSet<usize>> = RwLock::new(BTreeSet::new());

/// Registers the vtable of a proxy.
pub(super) fn note(vtable: VtablePointer) {
    let address = vtable.0.addr();
    let is_known = VTABLES.read().unwrap_or_else(PoisonError::into_inner).contains(&address);
    if !is_known {
        VTABLES.write().unwrap_or_else(PoisonError::into_inner).insert(address);
    }
}

/// The link, OID and target of a proxy, from which references to its object are made.
pub(crate) struct Imported {
    pub(crate) link: Arc<Link>,
    pub(crate) oid: u64,
    pub(crate) target: TargetId,
}

/// Returns the target of an interface pointer; `None` for objects that are no proxies.
pub(crate) fn look_behind<I: Interface>(object: &I) -> Option<Imported> {
    // SAFETY: an interface pointer leads to a pointer to its vtable.
    let vtable = unsafe { object.as_raw().cast::<*const c_void>().read() };
    if !VTABLES.read().unwrap_or_else(PoisonError::into_inner).contains(&vtable.addr()) {
        return None;
    }
    // SAFETY: only a proxy has such a vtable, and the holder of the pointer keeps it alive.
    let proxy = unsafe { Proxy::from_raw(object.as_raw()) }.targeted();
    Some(Imported { link: Arc::clone(&proxy.link), oid: proxy.manager().oid, target: proxy.target })
}
