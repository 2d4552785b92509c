//! The receiving direction: the number of the next packet, packets that came early, and the time to
//! acknowledge.

use super::sending::PACKETS_MAX;
use std::collections::BTreeMap;

/// The number of in-order packets that are acknowledged without delay.
const PACKETS_UNANSWERED: u32 = 8;

/// The state of one direction at its receiver.
#[derive(Debug)]
pub(super) struct Receiving {
    expected: u64,
    sack: u64,
    // Invariant: keys are above `expected` and below `expected + PACKETS_MAX`; `early_bytes` is the
    // sum of the lengths.
    early: BTreeMap<u64, Box<[u8]>>,
    early_bytes: u64,
    /// The number of bytes that may be under way to this end.
    pub(super) window: u32,
    unanswered: u32,
    unanswered_bytes: u64,
    ack_due: Option<u64>,
}

/// The position of a packet relative to the next expected packet.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// The packet is the next one.
    Next,
    /// The packet has arrived before.
    Past,
    /// Earlier packets are missing and have to be processed first.
    Early(u64),
    /// The packet is further ahead than the peer may send.
    TooFar(u64),
}

impl Receiving {
    pub(super) fn new(window: u32) -> Self {
        Self {
            expected: 0,
            sack: 0,
            early: BTreeMap::new(),
            early_bytes: 0,
            window,
            unanswered: 0,
            unanswered_bytes: 0,
            ack_due: None,
        }
    }

    pub(super) fn expected(&self) -> u64 {
        self.expected
    }

    pub(super) fn sack(&self) -> u64 {
        self.sack
    }

    pub(super) fn ack_due(&self) -> Option<u64> {
        self.ack_due
    }

    /// Returns the position of the packet whose number ends in these bits.
    pub(super) fn position(&self, number: u32) -> Position {
        let ahead = number.wrapping_sub(self.expected as u32);
        let full = self.expected + u64::from(ahead);
        match ahead {
            0 => Position::Next,
            _ if u64::from(ahead) < PACKETS_MAX => Position::Early(full),
            _ if ahead.cast_signed() < 0 => Position::Past,
            _ => Position::TooFar(full),
        }
    }

    /// Notes that the next packet was processed, to be acknowledged after `delay` at the latest.
    pub(super) fn processed(&mut self, now: u64, length: usize, delay: u64) {
        self.expected += 1;
        self.sack = if self.early.is_empty() { 0 } else { self.compute_sack() };
        self.unanswered += 1;
        self.unanswered_bytes += length as u64;
        let is_much = self.unanswered >= PACKETS_UNANSWERED || self.unanswered_bytes >= u64::from(self.window / 4);
        let due = if is_much || self.sack != 0 { now } else { now + delay };
        self.ack_due = Some(self.ack_due.map_or(due, |earlier| earlier.min(due)));
    }

    /// Whether all received packets are processed.
    #[inline]
    pub(super) fn has_no_gaps(&self) -> bool {
        self.early.is_empty()
    }

    /// Whether all received packets are processed and acknowledged.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.has_no_gaps() && self.unanswered == 0 && self.ack_due.is_none()
    }

    /// Notes that the next packet was processed, in a state in which [`Self::is_plain`] was true.
    /// [`Self::answer_by`] then sets the time of its acknowledgement.
    pub(super) fn took_expected(&mut self, length: usize) {
        self.expected += 1;
        (self.unanswered, self.unanswered_bytes) = (1, length as u64);
    }

    /// Sets the latest time for acknowledging the processed packets. Has no effect if they are
    /// acknowledged or the time is set already.
    pub(super) fn answer_by(&mut self, due: u64) {
        if self.unanswered > 0 {
            self.ack_due.get_or_insert(due);
        }
    }

    /// Skips to packet `number`: unreliable delivery does not wait for the packets before it.
    pub(super) fn skip_to(&mut self, number: u64) {
        self.expected = number;
    }

    /// Keeps a packet that came early until the packets before it have been processed.
    pub(super) fn keep(&mut self, number: u64, bytes: &[u8]) {
        let has_room = self.early_bytes + bytes.len() as u64 <= 2 * u64::from(self.window).max(1 << 16);
        if has_room && !self.early.contains_key(&number) {
            self.early_bytes += bytes.len() as u64;
            self.early.insert(number, bytes.into());
            self.sack = self.compute_sack();
        }
    }

    /// Takes out the next packet, if it came early.
    pub(super) fn take(&mut self) -> Option<Box<[u8]>> {
        if self.early.is_empty() {
            return None;
        }
        let bytes = self.early.remove(&self.expected)?;
        self.early_bytes -= bytes.len() as u64;
        Some(bytes)
    }

    /// Drops the packets that came early.
    pub(super) fn forget(&mut self) {
        self.early.clear();
        (self.early_bytes, self.sack) = (0, 0);
    }

    fn compute_sack(&self) -> u64 {
        let after = self.expected + 1;
        self.early.range(after..after + 64).fold(0, |sack, (number, _)| sack | 1 << (number - after))
    }

    /// Asks for an acknowledgement now.
    pub(super) fn hurry(&mut self, now: u64) {
        self.ack_due = Some(now);
    }

    /// Notes that a packet was made that acknowledges everything.
    pub(super) fn acknowledged(&mut self) {
        (self.unanswered, self.unanswered_bytes, self.ack_due) = (0, 0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::{Position, Receiving};

    #[test]
    fn selective_acknowledgements_list_early_packets() {
        let mut receiving = Receiving::new(1 << 20);
        receiving.keep(2, b"two");
        receiving.keep(65, b"far");
        receiving.keep(64, b"last");
        assert_eq!(receiving.sack(), 1 << 1 | 1 << 63);
        assert_eq!(receiving.take(), None);
        receiving.processed(0, 10, 50);
        assert_eq!(receiving.sack(), 1 | 1 << 62 | 1 << 63);
        receiving.processed(0, 10, 50);
        assert_eq!(receiving.take().as_deref(), Some(&b"two"[..]));
        assert_eq!(receiving.ack_due(), Some(0), "holes are told at once");
    }

    #[test]
    fn packet_numbers_wrap() {
        let mut receiving = Receiving::new(1 << 20);
        receiving.skip_to(u64::from(u32::MAX));
        assert_eq!(receiving.position(u32::MAX), Position::Next);
        assert_eq!(receiving.position(0), Position::Early(1 << 32));
        assert_eq!(receiving.position(u32::MAX - 1), Position::Past);
        assert_eq!(receiving.position(1000), Position::TooFar((1 << 32) + 1000));
        receiving.skip_to(1 << 32);
        assert_eq!(receiving.position(u32::MAX), Position::Past);
    }
}
