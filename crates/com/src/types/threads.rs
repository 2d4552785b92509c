//! Threads of the runtime, and locks that a panicking thread leaves usable.

use crate::types::error::{Error, Result, code};
use obvia_via::Error as ViError;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The pause after a listener has failed to accept or to receive, until it tries again.
pub(crate) const BREATHER: Duration = Duration::from_millis(50);

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Repeats `work` on a thread of its own for the lifetime of the process, with a pause after each
/// failure.
pub(crate) fn attend(
    name: &str,
    mut work: impl FnMut() -> std::result::Result<(), ViError> + Send + 'static,
) -> Result<()> {
    let attend = move || {
        loop {
            if work().is_err() {
                std::thread::sleep(BREATHER);
            }
        }
    };
    start_thread(name, attend)
}

pub(crate) fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(|error| Error::new(code::E_OUTOFMEMORY, format!("starting the thread `{name}`: {error}")))?;
    Ok(())
}
