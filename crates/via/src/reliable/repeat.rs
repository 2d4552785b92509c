//! Repetition of handshake packets.

/// The time until the first repetition of a handshake packet, in nanoseconds, if no bound of the
/// round trip is known.
const REPEAT_MIN: u64 = 20_000_000;
/// The maximum to which doubling raises the interval between repetitions, in nanoseconds.
pub(super) const REPEAT_MAX: u64 = 320_000_000;
/// The maximum time until the first repetition, in nanoseconds: the initial timeout of RFC 6298,
/// 2.1. This maximum limits the delay if the known bound of the round trip is far too high. An
/// interval above [`REPEAT_MAX`] does not double.
const FIRST_MAX: u64 = 1_000_000_000;

/// The timer of a repeated handshake packet.
#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) due: u64,
    interval: u64,
    // The time of the first transmission; `None` before it.
    first: Option<u64>,
    is_repeated: bool,
}

impl Repeat {
    pub(super) fn new() -> Self {
        Self { due: 0, interval: REPEAT_MIN, first: None, is_repeated: false }
    }

    /// Makes the timer of a packet that is due at `due`. The round trip is at most `bound`
    /// nanoseconds, so an answer that takes twice as long is overdue. Only then is the packet
    /// repeated, but after [`FIRST_MAX`] at the latest. An answer before the first repetition shows
    /// the round trip.
    pub(super) fn within(due: u64, bound: u64) -> Self {
        let interval = bound.saturating_mul(2).clamp(REPEAT_MIN, FIRST_MAX);
        Self { due, interval, first: None, is_repeated: false }
    }

    /// Whether the packet is due now. If so, starts the next interval: twice as long as the last,
    /// but at most 320 ms. A longer interval does not change.
    pub(super) fn is_due(&mut self, now: u64) -> bool {
        if now < self.due {
            return false;
        }
        self.is_repeated = self.first.is_some();
        self.first.get_or_insert(now);
        self.due = now + self.interval;
        self.interval = (2 * self.interval).min(REPEAT_MAX.max(self.interval));
        true
    }

    /// Returns the time that an answer took if it arrives now. `None` if the packet was repeated,
    /// because the answer may belong to any of the transmissions.
    pub(super) fn round_trip(&self, now: u64) -> Option<u64> {
        self.bound(now).filter(|_| !self.is_repeated)
    }

    /// Returns the longest time that an answer can have taken if it arrives now: the time since the
    /// first transmission. `None` if the packet was not sent.
    pub(super) fn bound(&self, now: u64) -> Option<u64> {
        self.first.map(|first| now.saturating_sub(first))
    }
}
