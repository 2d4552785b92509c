//! The interface pointers that Java holds, by handles. No handle is issued twice, so a released
//! handle stays invalid.

use com::{Agile, Error, IUnknown, Result, code};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// A handle of an interface pointer; 0 means no pointer.
pub type Handle = u64;

static NEXT: AtomicU64 = AtomicU64::new(1);

static HELD: RwLock<Option<HashMap<Handle, Agile<IUnknown>>>> = RwLock::new(None);

/// Keeps an interface pointer until [`obvia_java_release`], and returns its new handle.
pub(crate) fn keep(pointer: &IUnknown) -> Result<Handle> {
    let pointer = Agile::new(pointer)?;
    let handle = NEXT.fetch_add(1, Ordering::Relaxed);
    HELD.write().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(handle, pointer);
    Ok(handle)
}

/// Returns the interface pointer of a handle.
pub(crate) fn get(handle: Handle) -> Result<IUnknown> {
    let held = HELD.read().unwrap_or_else(PoisonError::into_inner);
    let found = held.as_ref().and_then(|held| held.get(&handle)).map(|pointer| pointer.get().clone());
    found.ok_or_else(|| Error::new(code::RPC_E_DISCONNECTED, "the reference was released"))
}

/// Releases an interface pointer; an unknown handle is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_release(handle: Handle) {
    crate::outcome::guarded_or((), || {
        let mut held = HELD.write().unwrap_or_else(PoisonError::into_inner);
        let gone = held.as_mut().and_then(|held| held.remove(&handle));
        // Dropping the pointer may end an object of Java, which must not happen under the lock.
        drop(held);
        drop(gone);
    });
}
