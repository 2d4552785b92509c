//! Weak references to objects of any maker.

use super::agile::is_of_implement;
use super::error::{Error, Result, code};
use std::sync::{Mutex, PoisonError};
use windows_core::{IUnknown, Interface, Weak};

/// Returns a weak reference to an object that any thread may use.
///
/// windows-core 0.100 frees an object of `implement` too early if two threads make its first weak
/// reference at once. So the runtime makes weak references to these objects one after the other.
///
/// # Errors
///
/// E_NOTIMPL for an object that does not support weak references.
pub(crate) fn weak_to(object: &IUnknown) -> Result<Weak<IUnknown>> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = is_of_implement(object).then(|| ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner));
    object.downgrade().map_err(|_| Error::new(code::E_NOTIMPL, "the object does not support weak references"))
}
