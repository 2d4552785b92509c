//! The runtime's own proxies, known among all interface pointers.

use super::Proxy;
use crate::link::Link;
use crate::registry::VtablePointer;
use obvia_rpc::vi_call::TargetId;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::{Arc, PoisonError, RwLock};
use windows_core::Interface;

/// The vtables that proxies have been made with, by their addresses: how the runtime knows its own proxies. Nobody else has such a vtable, as
/// [`InterfaceInfo::new`](crate::InterfaceInfo::new) asks for; of what an object says when it is asked for an interface, anything may be said by others.
static VTABLES: RwLock<BTreeSet<usize>> = RwLock::new(BTreeSet::new());

/// There are proxies with this vtable from now on.
pub(super) fn note(vtable: VtablePointer) {
    let address = vtable.0.addr();
    let is_known = VTABLES.read().unwrap_or_else(PoisonError::into_inner).contains(&address);
    if !is_known {
        VTABLES.write().unwrap_or_else(PoisonError::into_inner).insert(address);
    }
}

/// Where an interface pointer leads, if it is a proxy: what a reference to hand on is made of.
pub(crate) struct Imported {
    pub(crate) link: Arc<Link>,
    pub(crate) oid: u64,
    pub(crate) target: TargetId,
}

/// Looks behind an interface pointer. `None` for objects that are no proxies.
pub(crate) fn look_behind<I: Interface>(object: &I) -> Option<Imported> {
    // SAFETY: an interface pointer leads to a pointer to its vtable.
    let vtable = unsafe { object.as_raw().cast::<*const c_void>().read() };
    if !VTABLES.read().unwrap_or_else(PoisonError::into_inner).contains(&vtable.addr()) {
        return None;
    }
    // SAFETY: only a proxy has such a vtable, and whoever has the pointer keeps it alive.
    let proxy = unsafe { Proxy::from_raw(object.as_raw()) }.targeted();
    Some(Imported { link: Arc::clone(&proxy.link), oid: proxy.manager().oid, target: proxy.target })
}
