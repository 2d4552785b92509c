//! The atomics and locks of this crate.
//!
//! The atomics are the standard library's, or loom's where the model checker loom explores the
//! protocol. The locks stay usable after a thread has panicked while it held them.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, fence};

#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if a thread has panicked while it held the lock.
#[cfg(not(loom))]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
