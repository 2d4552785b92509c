//! Repetition of handshake packets.

/// The time until a handshake packet is repeated for the first time, and the maximum interval, in
/// nanoseconds.
const REPEAT: (u64, u64) = (20_000_000, 320_000_000);

/// The timer of a repeated handshake packet.
#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) due: u64,
    interval: u64,
    // The time of the only transmission; `None` before it, and after a repetition.
    sent_once: Option<u64>,
}

impl Repeat {
    pub(super) fn new() -> Self {
        Self { due: 0, interval: REPEAT.0, sent_once: None }
    }

    /// Whether the packet is due now. If so, starts the next interval, twice as long as the last.
    pub(super) fn is_due(&mut self, now: u64) -> bool {
        if now < self.due {
            return false;
        }
        self.sent_once = (self.interval == REPEAT.0).then_some(now);
        self.due = now + self.interval;
        self.interval = (2 * self.interval).min(REPEAT.1);
        true
    }

    /// Returns the time that an answer has taken that arrives now. `None` if the packet was
    /// repeated, because the answer may belong to any of the transmissions.
    pub(super) fn round_trip(&self, now: u64) -> Option<u64> {
        self.sent_once.map(|sent| now.saturating_sub(sent))
    }
}
