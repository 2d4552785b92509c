//! Rings: the records that a side publishes, the area behind them, and the peer that takes them.

use super::mapping::Mapping;
use super::record::{self, ALIGN, RING, Record, SLOT};
use crate::{RegionView, Violation};
use std::sync::atomic::Ordering;

/// The maximum number of bytes of one record. Longer messages go in several pieces, so that the
/// receiver copies one piece while the sender copies the next.
const PIECE_MAX: usize = 64 << 10;

/// The shape of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The number of ring slots, a power of two.
    pub(super) slots: u32,
    /// The size of the area in bytes, a multiple of 4096.
    pub(super) area: usize,
}

impl Shape {
    pub(super) fn length(self) -> usize {
        record::segment_length(self.slots, self.area)
    }

    /// Whether a segment may have this shape.
    pub(super) fn is_possible(self) -> bool {
        self.slots.is_power_of_two()
            && (2..=record::SLOTS_MAX).contains(&self.slots)
            && (4096..=record::AREA_MAX).contains(&self.area)
            && self.area.is_multiple_of(4096)
    }

    fn slot(self, index: u64) -> usize {
        RING + (index % u64::from(self.slots)) as usize * SLOT
    }

    fn area_start(self) -> usize {
        RING + self.slots as usize * SLOT
    }
}

/// The publishing side.
///
/// The pieces of records follow one another through the area up to its end, and then continue at
/// its start. Free bytes before the last piece are not reused until the end is reached, because
/// writing bytes that the peer has just read is slow. Pieces are freed in the order of their
/// records.
#[derive(Debug)]
pub(super) struct Publisher {
    // Invariant: the mapping is writable and at least `shape.length()` long. Only this value writes
    // it, except for the first page, which the port writes, too.
    own: Mapping,
    shape: Shape,
    // The number of records published.
    published: u64,
    // The number of records that the peer has taken.
    taken: u64,
    // The number of area bytes used since the beginning.
    used: u64,
    // The number of used bytes that are free again.
    freed: u64,
    // For each slot of the ring, the value of `used` after the slot's record.
    ends: Box<[u64]>,
}

impl Publisher {
    pub(super) fn new(own: Mapping, shape: Shape) -> Self {
        assert!(own.is_writable() && own.length() >= shape.length() && shape.is_possible());
        let ends = vec![0; shape.slots as usize].into_boxed_slice();
        Self { own, shape, published: 0, taken: 0, used: 0, freed: 0, ends }
    }

    pub(super) fn segment(&self) -> &Mapping {
        &self.own
    }

    /// Returns the number of records published so far.
    pub(super) fn published(&self) -> u64 {
        self.published
    }

    /// Returns the number of records that the peer has reported as taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether there is a slot for another record.
    pub(super) fn has_slot(&self) -> bool {
        self.published - self.taken < u64::from(self.shape.slots)
    }

    /// Returns the maximum length of the next piece in the area.
    pub(super) fn room(&self) -> usize {
        let area = self.shape.area as u64;
        let free = area - (self.used - self.freed);
        free.min(area - self.used % area).min(PIECE_MAX as u64) as usize
    }

    /// Takes note of the number of records that the peer has taken.
    pub(super) fn acknowledge(&mut self, taken: u64) -> Result<(), Violation> {
        if taken < self.taken || taken > self.published {
            return Err(Violation::BadCredit(taken as u32));
        }
        if taken > self.taken {
            self.taken = taken;
            self.freed = self.ends[((taken - 1) % u64::from(self.shape.slots)) as usize];
        }
        Ok(())
    }

    /// Publishes a record. `fill` writes its `record.piece` bytes: inline where they fit, otherwise
    /// in the area, which must have room. The ring must have a free slot. Returns the result of
    /// `fill`; on `None` nothing is published.
    pub(super) fn publish(&mut self, mut record: Record, fill: impl FnOnce(&mut [u8]) -> Option<()>) -> Option<()> {
        assert!(self.has_slot(), "has_slot was checked first");
        let length = record.piece as usize;
        let slot = self.shape.slot(self.published);
        let mut used = self.used;
        let place = if length <= record.kind.line_max() {
            slot + record.kind.line_start()
        } else {
            assert!(length <= self.room(), "room was checked first");
            let at = (self.used % self.shape.area as u64) as usize;
            record.area = Some(at as u32);
            used += (length as u64).next_multiple_of(ALIGN as u64);
            self.shape.area_start() + at
        };
        fill(self.bytes(place, length))?;
        let number = (self.published as u32).wrapping_add(1);
        let words = record.to_words(number);
        // A record that names no position in the peer's memory has inline bytes instead of words 3
        // to 5.
        let last = if record.kind.has_place() { 6 } else { 3 };
        for (at, word) in words.iter().enumerate().take(last).skip(1) {
            self.own.word64(slot + at * 8).store(*word, Ordering::Relaxed);
        }
        self.own.word64(slot).store(words[0], Ordering::Release);
        self.used = used;
        self.ends[(self.published % u64::from(self.shape.slots)) as usize] = used;
        self.published += 1;
        Some(())
    }

    fn bytes(&mut self, at: usize, length: usize) -> &mut [u8] {
        assert!(at >= RING && at + length <= self.own.length());
        // SAFETY: the address is in bounds by the assertion.
        let start = unsafe { self.own.start().add(at) };
        // SAFETY: the bytes are in bounds by the assertion, and initialised, because fresh shared
        // memory is zero. No other process can map this memory writable. In this process, only this
        // value writes behind the first page, and the value is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), length) }
    }
}

/// The side that takes the peer's records from the peer's ring.
#[derive(Debug)]
pub(super) struct Taker {
    // Invariant: the mapping is at least `shape.length()` long.
    peer: Mapping,
    shape: Shape,
    taken: u64,
}

/// A taken record, and the position of its bytes in the peer's segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken<'a> {
    pub(super) record: Record,
    pub(super) view: RegionView<'a>,
    pub(super) at: usize,
}

impl Taker {
    pub(super) fn new(peer: Mapping, shape: Shape) -> Self {
        assert!(peer.length() >= shape.length() && shape.is_possible());
        Self { peer, shape, taken: 0 }
    }

    pub(super) fn segment(&self) -> &Mapping {
        &self.peer
    }

    /// Returns the number of records taken so far.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the number of ring slots, which limits the number of records at a time.
    pub(super) fn slots(&self) -> u32 {
        self.shape.slots
    }

    /// Whether the peer has published the next record.
    pub(super) fn has_next(&self) -> bool {
        let first = self.peer.word64(self.shape.slot(self.taken)).load(Ordering::Acquire);
        first as u32 == (self.taken as u32).wrapping_add(1)
    }

    /// Takes the next record, if the peer has published it. The peer may change the record's bytes
    /// until it learns that the record was taken.
    pub(super) fn take(&mut self) -> Result<Option<Taken<'_>>, Violation> {
        let slot = self.shape.slot(self.taken);
        let number = (self.taken as u32).wrapping_add(1);
        let first = self.peer.word64(slot).load(Ordering::Acquire);
        if first as u32 != number {
            return Ok(None);
        }
        let mut words = [first; 6];
        for (at, word) in words.iter_mut().enumerate().skip(1) {
            *word = self.peer.word64(slot + at * 8).load(Ordering::Relaxed);
        }
        let record = Record::from_words(words).ok_or(Violation::BadKind((first >> 32) as u8))?;
        let at = match record.area {
            None => slot + record.kind.line_start(),
            Some(offset) => {
                let (start, length) = (offset as usize, record.piece as usize);
                if start.checked_add(length).is_none_or(|end| end > self.shape.area) {
                    return Err(Violation::BadAreaRange { offset, length: record.piece });
                }
                self.shape.area_start() + start
            }
        };
        self.taken += 1;
        Ok(Some(Taken { record, view: self.peer.view(), at }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::mapping;
    use super::super::record::{Kind, NOWHERE};
    use super::*;

    const SHAPE: Shape = Shape { slots: 4, area: 4096 };

    fn pair() -> (Publisher, Taker) {
        let (own, fd) = mapping::create(SHAPE.length()).unwrap();
        let peer = mapping::open(&fd, SHAPE.length()).unwrap();
        (Publisher::new(own, SHAPE), Taker::new(peer, SHAPE))
    }

    fn publish(publisher: &mut Publisher, length: u32, byte: u8) {
        let record =
            Record { kind: Kind::Send, immediate: None, whole: length, piece: length, area: None, place: NOWHERE };
        let fill = |bytes: &mut [u8]| {
            bytes.fill(byte);
            Some(())
        };
        publisher.publish(record, fill).unwrap();
    }

    fn take(taker: &mut Taker) -> Option<Vec<u8>> {
        let taken = taker.take().unwrap()?;
        let mut bytes = vec![0; taken.record.piece as usize];
        taken.view.copy_to(taken.at, &mut bytes).unwrap();
        Some(bytes)
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn records_arrive_in_order_with_their_bytes() {
        let (mut publisher, mut taker) = pair();
        assert_eq!(take(&mut taker), None);
        for round in 0..100_u8 {
            for length in [0, 1, 104, 105, 1000] {
                // A piece at the end of the area may have room for fewer bytes.
                let length = if length > 104 { publisher.room().min(length) } else { length };
                publish(&mut publisher, length as u32, round);
                assert_eq!(take(&mut taker), Some(vec![round; length]));
                assert_eq!(take(&mut taker), None);
                publisher.acknowledge(taker.taken()).unwrap();
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn ring_slots_and_area_are_reused_only_after_consumption() {
        let (mut publisher, mut taker) = pair();
        for round in 0..3 {
            assert_eq!(publisher.room(), 4096 - round * 1024);
            publish(&mut publisher, 1024, 1);
        }
        publish(&mut publisher, 8, 2);
        assert!(!publisher.has_slot());
        take(&mut taker).unwrap();
        publisher.acknowledge(1).unwrap();
        assert!(publisher.has_slot());
        assert_eq!(publisher.room(), 1024, "to the area's end");
        publish(&mut publisher, 1024, 3);
        assert_eq!(publisher.room(), 1024, "what the first one had");
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn impossible_ring_credit_is_a_violation() {
        let (mut publisher, _taker) = pair();
        publish(&mut publisher, 8, 1);
        assert_eq!(publisher.acknowledge(2), Err(Violation::BadCredit(2)));
        publisher.acknowledge(1).unwrap();
        assert_eq!(publisher.acknowledge(0), Err(Violation::BadCredit(0)));
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn ring_bytes_outside_the_area_are_a_violation() {
        let (mut publisher, mut taker) = pair();
        publish(&mut publisher, 1024, 1);
        // The third word holds the length and the offset of the piece.
        let place = publisher.segment().word64(RING + 16);
        place.store(1024 | 3073 << 32, Ordering::Relaxed);
        assert_eq!(taker.take().unwrap_err(), Violation::BadAreaRange { offset: 3073, length: 1024 });
    }
}
