//! Children of `os.fork`, which must not use the connections of their parent.

use obvia::{Error, code};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process has used the runtime, whose connections and threads a child does not have.
static IS_USED: AtomicBool = AtomicBool::new(false);

/// Whether `os.fork` made this process, after its parent had used the runtime.
static HAS_FORKED: AtomicBool = AtomicBool::new(false);

/// Notes that this process is a child that `os.fork` made.
#[pyfunction]
pub(crate) fn after_fork() {
    HAS_FORKED.store(IS_USED.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Whether `os.fork` made this process after its parent had used the runtime.
pub(crate) fn has_forked() -> bool {
    HAS_FORKED.load(Ordering::Relaxed)
}

/// Refuses calls in a process that `os.fork` made after its parent had used the runtime.
pub(crate) fn refuse() -> obvia::Result<()> {
    if has_forked() {
        let text = "this process was forked from one that uses obvia, whose connections it must not use: \
            start it by `subprocess` or the `spawn` method of `multiprocessing`";
        return Err(Error::new(code::RPC_E_DISCONNECTED, text));
    }
    Ok(())
}

/// Drops a value of the runtime. In a process that `os.fork` made after its parent had used the
/// runtime, the value is not dropped, because it belongs to the parent.
pub(crate) fn end<T>(used: T) {
    if has_forked() {
        std::mem::forget(used);
    }
}

/// Notes that this process uses the runtime. Fails in a process that must not use it.
pub(crate) fn enter() -> obvia::Result<()> {
    if !IS_USED.load(Ordering::Relaxed) {
        IS_USED.store(true, Ordering::Relaxed);
    }
    refuse()
}
