//! The atomics of the standard library, or of loom where its model checker explores the protocol;
//! and locks that stay usable after a thread panicked while holding them.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, fence};

#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also where a thread panicked while it held the lock.
#[cfg(not(loom))]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
