//! Interfaces without generated code, and objects without vtables.

use obvia::abi::{self, Performer, WeakObject};
use obvia::dynamic::Described;
use obvia::{IUnknown, InterfaceInfo, Result};

/// Returns the description of an interface for the runtime.
///
/// # Errors
///
/// E_INVALIDARG for an interface of COM or of the runtime.
pub(crate) fn describe(interface: &Described) -> Result<&'static InterfaceInfo> {
    // SAFETY: no generated code uses the interface: this library has none, and no other library
    // shares its runtime.
    unsafe { abi::describe(interface) }
}

/// Makes an object whose calls `performer` performs, and returns its identity and a weak reference.
pub(crate) fn object(performer: impl Performer) -> (IUnknown, WeakObject) {
    // SAFETY: no code calls the object's interfaces through their vtables: this library does not,
    // and no other library shares its runtime.
    unsafe { abi::object(performer) }
}
