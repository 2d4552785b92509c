//! When a packet of the handshake is repeated.

/// Nanoseconds until a handshake's packet is repeated for the first time, and at most.
const REPEAT: (u64, u64) = (20_000_000, 320_000_000);

/// When a packet of the handshake is sent the next time.
#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) due: u64,
    interval: u64,
}

impl Repeat {
    pub(super) fn new() -> Self {
        Self { due: 0, interval: REPEAT.0 }
    }

    /// Whether it is time now; then it is not again before the next interval, twice as long as the last.
    pub(super) fn is_due(&mut self, now: u64) -> bool {
        if now < self.due {
            return false;
        }
        self.due = now + self.interval;
        self.interval = (2 * self.interval).min(REPEAT.1);
        true
    }
}
