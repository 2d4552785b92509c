//! The state of a flow, and the limits of its waits.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// The time limit for establishing a connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// The interval at which waiting threads check whether the flow has ended.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// The state that the threads of a flow share.
#[derive(Debug, Default)]
pub(super) struct State {
    received: AtomicU64,
    has_ended: AtomicBool,
}

impl State {
    /// Notes that the server has received data.
    pub(super) fn received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Relaxed);
    }

    /// Returns the number of bytes that the server has received.
    pub(super) fn sum(&self) -> u64 {
        self.received.load(Relaxed)
    }

    /// Tells the threads to end.
    pub(super) fn end(&self) {
        self.has_ended.store(true, Relaxed);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Relaxed)
    }
}
