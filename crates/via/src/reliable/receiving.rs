//! The receiving direction: the number of the next packet, packets that came early, and the time to
//! acknowledge.

use super::packet::{FRAGMENT_BYTES, FURTHER_MAX, PACKETS_MAX};
use std::collections::BTreeMap;

/// The number of unacknowledged in-order packets at which an acknowledgement is due at once.
const PACKETS_UNANSWERED: u32 = 8;

/// The number of bytes of early packets that every connection keeps: all that may be in flight, in
/// packets of the usual length.
const EARLY_BYTES: u64 = PACKETS_MAX * 1500;

/// The state of one direction at its receiver.
#[derive(Debug)]
pub(super) struct Receiving {
    expected: u64,
    // Invariant: keys are above `expected` and below `expected + PACKETS_MAX`; in `early_bits`,
    // exactly the bits `key % PACKETS_MAX` of the keys are set. `early_bits` is empty until the
    // first packet comes early.
    early: BTreeMap<u64, Box<[u8]>>,
    early_bits: Vec<u64>,
    // The packets of which only some fragments have arrived.
    incomplete: BTreeMap<u64, Incomplete>,
    // Invariant: `early_bytes` is the sum of the lengths of the early and the incomplete packets.
    early_bytes: u64,
    /// The number of bytes of datagrams that this end buffers until it reads them.
    pub(super) window: u32,
    unanswered: u32,
    unanswered_bytes: u64,
    ack_due: Option<u64>,
}

/// A packet of which some fragments have arrived.
#[derive(Debug)]
struct Incomplete {
    bytes: Box<[u8]>,
    // Bit `i`: fragment `i` is missing.
    missing: u128,
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
            early: BTreeMap::new(),
            early_bits: Vec::new(),
            incomplete: BTreeMap::new(),
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

    /// Returns the first word of the selective acknowledgement.
    pub(super) fn sack(&self) -> u64 {
        if self.early.is_empty() { 0 } else { self.bits(self.expected + 1) }
    }

    /// Whether some early packets lie beyond the first word of the selective acknowledgement.
    pub(super) fn has_further(&self) -> bool {
        self.early.last_key_value().is_some_and(|(last, _)| last - self.expected > 64)
    }

    /// Writes the further words of the selective acknowledgement. Returns those that are needed.
    pub(super) fn put_further<'a>(&self, into: &'a mut [u8; FURTHER_MAX]) -> &'a [u8] {
        let ahead = self.early.last_key_value().map_or(0, |(last, _)| last - self.expected - 1);
        let further = (self.expected + 65..=self.expected + 1 + ahead).step_by(64);
        let words = into.as_chunks_mut::<8>().0.iter_mut().zip(further);
        let count = words.map(|(word, from)| *word = self.bits(from).to_le_bytes()).count();
        &into[..8 * count]
    }

    /// Returns the bits of the 64 packets from `from` on.
    fn bits(&self, from: u64) -> u64 {
        let at = (from % PACKETS_MAX) as usize;
        let (word, shift) = (at / 64, at % 64);
        let next = self.early_bits[(word + 1) % self.early_bits.len()];
        self.early_bits[word] >> shift | next.checked_shl(64 - shift as u32).unwrap_or(0)
    }

    fn flip(&mut self, number: u64) {
        let at = (number % PACKETS_MAX) as usize;
        self.early_bits[at / 64] ^= 1 << (at % 64);
    }

    pub(super) fn ack_due(&self) -> Option<u64> {
        self.ack_due
    }

    /// Returns the position of the packet whose number has `number` as its low 32 bits.
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

    /// Notes that the next packet was processed. Its acknowledgement is due after `delay`, or at
    /// once if many packets or bytes are unacknowledged, or if early packets wait.
    pub(super) fn processed(&mut self, now: u64, length: usize, delay: u64) {
        self.expected += 1;
        self.drop_incomplete();
        self.unanswered += 1;
        self.unanswered_bytes += length as u64;
        let is_much = self.unanswered >= PACKETS_UNANSWERED || self.unanswered_bytes >= u64::from(self.window / 4);
        let due = if is_much || !self.early.is_empty() { now } else { now + delay };
        self.ack_due = Some(self.ack_due.map_or(due, |earlier| earlier.min(due)));
    }

    /// Whether all packets that have arrived whole are processed.
    #[inline]
    pub(super) fn has_no_gaps(&self) -> bool {
        self.early.is_empty()
    }

    /// Whether all packets that have arrived whole are processed and acknowledged.
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

    /// Sets the latest time for acknowledging the processed packets. Has no effect if these packets
    /// are acknowledged, or if the time is set already.
    pub(super) fn answer_by(&mut self, due: u64) {
        if self.unanswered > 0 {
            self.ack_due.get_or_insert(due);
        }
    }

    /// Skips to packet `number`: unreliable delivery does not wait for the packets before it.
    pub(super) fn skip_to(&mut self, number: u64) {
        self.expected = number;
    }

    fn has_room(&self, length: usize) -> bool {
        self.early_bytes + length as u64 <= EARLY_BYTES.max(2 * u64::from(self.window))
    }

    /// Keeps a packet that came early until the packets before it have been processed.
    pub(super) fn keep(&mut self, number: u64, bytes: &[u8]) {
        if self.has_room(bytes.len()) && !self.early.contains_key(&number) {
            self.early_bytes += bytes.len() as u64;
            self.early.insert(number, bytes.into());
            self.early_bits.resize((PACKETS_MAX / 64) as usize, 0);
            self.flip(number);
        }
    }

    /// Keeps the fragment `index` of packet `number`. The whole packet has `length` bytes. Returns
    /// the packet if it is complete now.
    pub(super) fn keep_fragment(
        &mut self,
        number: u64,
        (index, length): (u32, u32),
        bytes: &[u8],
    ) -> Option<Box<[u8]>> {
        let length = length as usize;
        if self.early.contains_key(&number) {
            return None;
        }
        // The length changes if the sender's connection breaks after it has sent some of the
        // fragments.
        if self.incomplete.get(&number).is_some_and(|packet| packet.bytes.len() != length) {
            self.remove_incomplete(number);
        }
        if !self.incomplete.contains_key(&number) {
            if !self.has_room(length) {
                return None;
            }
            let missing = u128::MAX >> (128 - length.div_ceil(FRAGMENT_BYTES).clamp(1, 128));
            self.early_bytes += length as u64;
            self.incomplete.insert(number, Incomplete { bytes: vec![0; length].into(), missing });
        }
        let packet = self.incomplete.get_mut(&number)?;
        packet.bytes.get_mut(index as usize * FRAGMENT_BYTES..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        packet.missing &= !(1 << index);
        if packet.missing > 0 { None } else { self.remove_incomplete(number) }
    }

    fn remove_incomplete(&mut self, number: u64) -> Option<Box<[u8]>> {
        let bytes = self.incomplete.remove(&number)?.bytes;
        self.early_bytes -= bytes.len() as u64;
        Some(bytes)
    }

    /// Drops the fragments of packets that have arrived whole and were processed.
    fn drop_incomplete(&mut self) {
        while let Some((&number, _)) = self.incomplete.first_key_value()
            && number < self.expected
        {
            self.remove_incomplete(number);
        }
    }

    /// Takes out the next packet, if it came early.
    pub(super) fn take(&mut self) -> Option<Box<[u8]>> {
        if self.early.is_empty() {
            return None;
        }
        let bytes = self.early.remove(&self.expected)?;
        self.early_bytes -= bytes.len() as u64;
        self.flip(self.expected);
        Some(bytes)
    }

    /// Drops the packets that came early.
    pub(super) fn forget(&mut self) {
        self.early.clear();
        self.early_bits.clear();
        self.incomplete.clear();
        self.early_bytes = 0;
    }

    /// Asks for an acknowledgement now.
    pub(super) fn hurry(&mut self, now: u64) {
        self.ack_due = Some(now);
    }

    /// Notes that a packet was made that acknowledges all processed packets.
    pub(super) fn acknowledged(&mut self) {
        (self.unanswered, self.unanswered_bytes, self.ack_due) = (0, 0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::{EARLY_BYTES, FRAGMENT_BYTES, FURTHER_MAX, PACKETS_MAX, Position, Receiving};

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
    fn selective_acknowledgements_reach_every_packet_in_flight() {
        let further = |receiving: &Receiving| receiving.put_further(&mut [0; FURTHER_MAX]).to_vec();
        // The numbers cover every position of the first expected packet within a word.
        for first in (0..3 * PACKETS_MAX).step_by(61) {
            let mut receiving = Receiving::new(1 << 20);
            receiving.skip_to(first);
            receiving.keep(first + 64, b"last of the first word");
            assert_eq!((receiving.sack(), receiving.has_further(), further(&receiving)), (1 << 63, false, vec![]));
            receiving.keep(first + 65, b"first of the second");
            assert_eq!((receiving.has_further(), further(&receiving)), (true, vec![1, 0, 0, 0, 0, 0, 0, 0]));
            receiving.keep(first + PACKETS_MAX - 1, b"last");
            let words = further(&receiving);
            assert_eq!((words.len(), words[0], words[FURTHER_MAX - 1]), (FURTHER_MAX, 1, 1 << 6));
            assert_eq!(words.iter().map(|byte| byte.count_ones()).sum::<u32>(), 2);
            receiving.forget();
            assert_eq!((receiving.sack(), further(&receiving)), (0, vec![]));
        }
    }

    #[test]
    fn packets_are_reassembled_of_fragments_in_any_order() {
        let packet: Vec<u8> = (0..1300_u32).map(|at| ((at * 7) >> 3) as u8).collect();
        let mut receiving = Receiving::new(1 << 20);
        let mut keep = |index: usize| {
            let begin = index * FRAGMENT_BYTES;
            let bytes = &packet[begin..packet.len().min(begin + FRAGMENT_BYTES)];
            receiving.keep_fragment(5, (index as u32, packet.len() as u32), bytes)
        };
        assert_eq!([2, 0, 2, 0].map(&mut keep), [None, None, None, None]);
        assert_eq!(keep(1).as_deref(), Some(&packet[..]));
        assert_eq!((receiving.early_bytes, receiving.incomplete.len()), (0, 0));
    }

    #[test]
    fn fragments_are_dropped_with_their_packet_and_take_limited_memory() {
        let mut receiving = Receiving::new(1 << 20);
        for number in 0..PACKETS_MAX {
            receiving.keep_fragment(number, (0, 1 << 16), &[1; FRAGMENT_BYTES]);
        }
        assert_eq!(receiving.incomplete.len() as u64, EARLY_BYTES >> 16);
        receiving.processed(0, 1 << 16, 50);
        assert_eq!(receiving.incomplete.len() as u64, (EARLY_BYTES >> 16) - 1);
        receiving.keep_fragment(1, (0, 52), &[1; 52]).expect("the packet, which is shorter now");
        receiving.keep_fragment(2, (0, 700), &[1; FRAGMENT_BYTES]);
        assert_eq!(receiving.early_bytes, (((EARLY_BYTES >> 16) - 3) << 16) | 700);
        receiving.forget();
        assert_eq!((receiving.early_bytes, receiving.incomplete.len()), (0, 0));
    }

    #[test]
    fn packet_numbers_wrap() {
        let mut receiving = Receiving::new(1 << 20);
        receiving.skip_to(u64::from(u32::MAX));
        assert_eq!(receiving.position(u32::MAX), Position::Next);
        assert_eq!(receiving.position(0), Position::Early(1 << 32));
        assert_eq!(receiving.position(u32::MAX - 1), Position::Past);
        assert_eq!(receiving.position(4094), Position::Early((1 << 32) + 4094));
        assert_eq!(receiving.position(4095), Position::TooFar((1 << 32) + 4095));
        receiving.skip_to(1 << 32);
        assert_eq!(receiving.position(u32::MAX), Position::Past);
    }
}
