//! Pointers to proxy managers, as the tables of links have them.

use std::ffi::c_void;
use std::ptr::NonNull;

/// A pointer to a manager in the table of a link.
// Invariant: leads to a `ProxyManager`. Only the code of proxies makes and follows such pointers.
#[derive(Clone, Copy)]
pub(crate) struct ManagerPointer(pub(super) NonNull<c_void>);

// SAFETY: any thread may use a manager: its count is atomic, and a lock guards its proxies.
unsafe impl Send for ManagerPointer {}
