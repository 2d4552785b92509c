//! Weak references to objects of any maker.

use super::agile::is_of_implement;
use std::sync::{Mutex, PoisonError};
use windows_core::{IUnknown, Interface, Weak};

/// Returns a weak reference to an object that any thread may use; `None` for an object that does
/// not support weak references.
///
/// windows-core 0.100 frees an object of `implement` too early if two threads make its first weak
/// reference at once. Therefore this function lets only one thread at a time make a weak reference
/// to such an object.
pub(crate) fn weak_to(object: &IUnknown) -> Option<Weak<IUnknown>> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = is_of_implement(object).then(|| ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner));
    object.downgrade().ok()
}
