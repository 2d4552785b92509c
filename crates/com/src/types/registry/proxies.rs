//! Recognises the runtime's own proxies among interface pointers.

use super::VtablePointer;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::{PoisonError, RwLock};
use windows_core::Interface;

/// The addresses of the vtables of proxies. The runtime recognises its own proxies by these
/// addresses, since no other object has such a vtable, as
/// [`InterfaceInfo::new`](crate::InterfaceInfo::new) requires. The result of QueryInterface proves
/// nothing, since a foreign object may give any answer.
static VTABLES: RwLock<BTreeSet<usize>> = RwLock::new(BTreeSet::new());

/// Registers a vtable of proxies.
pub(crate) fn note_proxies(vtable: VtablePointer) {
    let address = vtable.0.addr();
    let is_known = VTABLES.read().unwrap_or_else(PoisonError::into_inner).contains(&address);
    if !is_known {
        VTABLES.write().unwrap_or_else(PoisonError::into_inner).insert(address);
    }
}

/// Whether an interface pointer leads to one of the runtime's proxies.
pub(crate) fn is_proxy<I: Interface>(object: &I) -> bool {
    // SAFETY: an interface pointer leads to a pointer to its vtable.
    let vtable = unsafe { object.as_raw().cast::<*const c_void>().read() };
    VTABLES.read().unwrap_or_else(PoisonError::into_inner).contains(&vtable.addr())
}
