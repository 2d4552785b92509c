//! Areas: the places of frames that do not fit a slot. The sender manages them.

use super::{Mapping, Wire};
use crate::layout::{AREA_ALIGN, LINE};
use crate::{Error, RegionView, Violation};
use std::ptr::NonNull;

/// The sender's side: the free bytes of its area, and the place of the next frame.
///
/// Frames follow one another to the area's end, and start again from its beginning when the peer
/// has taken all of them. Until then, free bytes at the beginning are not reused, because writing
/// bytes that the peer has just read is slow: see "Cost" in
/// docs/decisions/0002-one-segment-each-way.md.
///
/// C code reads the first fields.
#[derive(Debug)]
#[repr(C)]
pub(super) struct SendArea {
    // Invariant: `start <= next <= end`. The next frame begins at `next` if there is room.
    next: NonNull<u8>,
    end: NonNull<u8>,
    // Invariant: from here to `end` is this side's own writable memory: either the tail of its
    // segment, which outlives this value, or `grown`.
    start: NonNull<u8>,
    number: u32,
    last: u32,
    grown: Option<Mapping>,
    limit: usize,
}

// SAFETY: the memory belongs to the value, and only the owner of the value uses the memory.
unsafe impl Send for SendArea {}

/// The place of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) number: u32,
    pub(super) offset: u32,
}

impl SendArea {
    /// Makes an area for frames of at most `limit` bytes.
    ///
    /// # Safety
    ///
    /// No other code may write `start..start + length`, and that memory must outlive the value.
    pub(super) unsafe fn new(start: NonNull<u8>, length: usize, limit: usize) -> Self {
        // SAFETY: `start..start + length` is one stretch of memory by the caller's promise, so the
        // result is its end.
        let end = unsafe { start.add(length) };
        Self { next: start, end, start, number: 0, last: 0, grown: None, limit }
    }

    fn length(&self) -> usize {
        self.end.as_ptr().addr() - self.start.as_ptr().addr()
    }

    /// Returns the offset of the next frame.
    fn cursor(&self) -> usize {
        self.next.as_ptr().addr() - self.start.as_ptr().addr()
    }

    fn set_cursor(&mut self, cursor: usize) {
        assert!(cursor <= self.length(), "the cursor stays inside");
        // SAFETY: `cursor` is inside the area by the assertion.
        self.next = unsafe { self.start.add(cursor) };
    }

    /// Returns the number of larger areas made so far.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the maximum length of a frame, in bytes.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Whether a frame of `length` bytes fits now. `taken` is the number of the last message that
    /// the peer has taken, and `next` is the number of the next message to send.
    ///
    /// Chooses the place so that the frame's byte at offset `bulk` is the first of a cache line.
    /// Copies are fastest if source and destination have the same alignment in their cache lines.
    pub(super) fn has_room(&mut self, length: usize, bulk: usize, taken: u32, next: u32) -> bool {
        debug_assert!(bulk.is_multiple_of(AREA_ALIGN), "bulk begins at an object's alignment");
        let place_from = |cursor: usize| {
            let place = (cursor + bulk).next_multiple_of(LINE) - bulk;
            (place <= self.length() && length <= self.length() - place).then_some(place)
        };
        let place = place_from(self.cursor()).or_else(|| place_from(0).filter(|_| self.is_free(taken, next)));
        if let Some(place) = place {
            self.set_cursor(place);
        }
        place.is_some()
    }

    /// Whether a frame of `length` bytes fits between the place for the next frame and the area's
    /// end.
    #[inline(always)]
    pub(super) fn goes_on(&self, length: usize) -> bool {
        length <= self.end.as_ptr().addr() - self.next.as_ptr().addr()
    }

    /// Whether the peer has taken every frame of the area. `taken` is the number of the last
    /// message that the peer has taken, and `next` is the number of the next message to send. The
    /// area's last frame still has to be taken if and only if the number of its message is after
    /// `taken` and before `next`. That message can be so old that the numbers have wrapped around.
    pub(super) fn is_free(&self, taken: u32, next: u32) -> bool {
        let first = taken.wrapping_add(1);
        self.last.wrapping_sub(first) >= next.wrapping_sub(first)
    }

    /// Whether a frame of `length` bytes may not fit even if the area is empty. The area must be a
    /// cache line longer than the frame, so that the frame fits at any alignment in a cache line.
    pub(super) fn is_too_small(&self, length: usize) -> bool {
        length + LINE > self.length()
    }

    /// Returns the memory for the next frame. [`Self::commit`] returns the place of this memory in
    /// the area.
    #[inline(always)]
    pub(super) fn frame(&mut self, length: usize) -> &mut [u8] {
        assert!(self.goes_on(length), "has_room was checked first");
        // SAFETY: the bytes are in bounds by the assertion, and own memory by the invariant. They
        // are initialised, because fresh shared memory is zero. The borrow of &mut self makes them
        // exclusive in this process, and no other process can write them.
        unsafe { std::slice::from_raw_parts_mut(self.next.as_ptr(), length) }
    }

    /// Assigns the bytes last returned by [`Self::frame`] to the message numbered `sequence`.
    pub(super) fn commit(&mut self, length: usize, sequence: u32) -> Place {
        // Frames are limited to i32::MAX bytes (see Options), so the offset fits.
        let cursor = self.cursor();
        let place = Place { number: self.number, offset: cursor as u32 };
        self.set_cursor((cursor + length).next_multiple_of(LINE).min(self.length()));
        self.last = sequence;
        place
    }

    /// Replaces the area by a larger one, which is passed to the peer. The new area has room for a
    /// frame of `length` bytes. Exception: if an earlier, failed attempt has asked the peer for a
    /// smaller area, the new area is that smaller one. The peer must have taken all frames.
    pub(super) fn grow(&mut self, length: usize, wire: &Wire) -> Result<(), Error> {
        if length > self.limit {
            return Err(Error::TooLong { length: length as u64, limit: self.limit as u64 });
        }
        let least = (length + LINE).next_multiple_of(4096);
        let size = least.next_power_of_two().max(self.length() * 2).min(area_max(self.limit));
        let make = |size| wire.carrier.make_area(wire, self.number + 1, size);
        let mapping = match make(size) {
            // The shortest area for the frame may still be within the limit on memory.
            Err(Error::AreaRefused { .. }) if least < size => make(least),
            outcome => outcome,
        };
        let mapping = mapping.map_err(|error| match error {
            Error::AreaRefused { by_peer, .. } => Error::AreaRefused { length: length as u64, by_peer },
            other => other,
        })?;
        self.number += 1;
        self.start = mapping.start();
        self.next = self.start;
        // SAFETY: the result is the end of the mapping, which `grown` keeps.
        self.end = unsafe { self.start.add(mapping.length()) };
        self.grown = Some(mapping);
        Ok(())
    }
}

/// Returns the size of the largest area for frames of at most `limit` bytes.
pub(crate) fn area_max(limit: usize) -> usize {
    (limit + LINE).next_multiple_of(4096)
}

/// The maximum number of times that an area in shared memory is replaced by a larger one between
/// two messages. Each area is at least twice as long as the one before.
const GROWTHS_MAX: u32 = 32;

/// The receiver's side: the peer's current area.
#[derive(Debug)]
pub(super) struct ReceiveArea {
    number: u32,
    // Invariant: begins at a multiple of 8, as mappings and the areas in them do.
    area: Mapping,
    limit: usize,
}

impl ReceiveArea {
    pub(super) fn new(area: Mapping, limit: usize) -> Self {
        Self { number: 0, area, limit }
    }

    /// Returns the view of a frame at a place that the peer claims.
    pub(super) fn frame(&mut self, place: Place, length: u32, wire: &Wire) -> Result<RegionView<'_>, Error> {
        if place.number != self.number {
            self.exchange(place.number, wire)?;
        }
        let (offset, bytes) = (place.offset as usize, length as usize);
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= self.area.length());
        if !inside || !offset.is_multiple_of(AREA_ALIGN) || bytes > self.limit {
            return Err(Violation::BadAreaRange { offset: place.offset, length }.into());
        }
        // SAFETY: the offset is in bounds by the check above.
        let start = unsafe { self.area.start().add(offset) };
        // SAFETY: the bytes are inside the area, which is mapped as long as self lives. Areas are
        // page-aligned or begin at a multiple of 4096 in a segment, and the offset is a multiple of
        // 8.
        Ok(unsafe { RegionView::new(start.as_ptr(), bytes) })
    }

    /// Takes over the peer's area with this number. The peer passed the area before the message
    /// that names it. Before this area, the peer may have passed other areas, which no message
    /// used.
    fn exchange(&mut self, number: u32, wire: &Wire) -> Result<(), Error> {
        let growths = number.wrapping_sub(self.number);
        // In shared memory, the files of areas arrive one after the other, and each area is at
        // least twice as long as the one before. Over a network, the area is found by its number
        // alone, and `GROWTHS_MAX` does not apply: a limit on memory can keep areas from doubling.
        let (step, most) = if wire.carrier.is_remote() { (growths, u32::MAX / 2) } else { (1, GROWTHS_MAX) };
        if growths > most {
            return Err(Violation::UnknownArea(number).into());
        }
        while self.number != number {
            let next = self.number.wrapping_add(step);
            self.area = wire.carrier.take_area(next, area_max(self.limit))?;
            self.number = next;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a test with an area of 4096 bytes.
    fn with_area(test: impl FnOnce(SendArea)) {
        let mut memory = vec![0_u64; 512];
        // SAFETY: only this area writes the memory, which lives until the test is over.
        test(unsafe { SendArea::new(NonNull::from(&mut *memory).cast(), 4096, 1 << 20) });
    }

    /// Places a frame, and returns its offset, if there is room when the peer has taken every
    /// message up to `taken`.
    fn send(area: &mut SendArea, sequence: u32, length: usize, taken: u32) -> Option<u32> {
        area.has_room(length, 8, taken, sequence).then(|| area.commit(length, sequence).offset)
    }

    #[test]
    fn area_frames_are_placed_round_robin() {
        with_area(|mut area| {
            let places: Vec<_> = (1..=5).map(|sequence| send(&mut area, sequence, 1000, sequence - 1)).collect();
            assert_eq!(places, [56, 1144, 2232, 56, 1144].map(Some));
        });
    }

    #[test]
    fn unconsumed_area_frames_are_not_overwritten() {
        with_area(|mut area| {
            assert_eq!((1..=3).filter_map(|sequence| send(&mut area, sequence, 1000, 0)).count(), 3);
            for taken in 0..3 {
                assert_eq!(send(&mut area, 4, 1000, taken), None, "{taken} taken");
            }
            assert_eq!(send(&mut area, 4, 1000, 3), Some(56));
        });
    }

    #[test]
    fn an_area_is_free_however_many_messages_ago_its_last_frame_was_taken() {
        with_area(|mut area| {
            for messages in [1, (1 << 31) + 1, u32::MAX] {
                assert_eq!(send(&mut area, 1, 3000, 0), Some(56), "{messages}");
                let sequence = 1_u32.wrapping_add(messages);
                assert_eq!(send(&mut area, sequence, 3000, sequence.wrapping_sub(1)), Some(56), "{messages}");
                assert_eq!(
                    send(&mut area, sequence.wrapping_add(1), 3000, sequence.wrapping_sub(1)),
                    None,
                    "{messages}"
                );
                area.set_cursor(0);
            }
        });
    }

    #[test]
    fn a_refused_area_frame_does_not_move_the_position() {
        with_area(|mut area| {
            assert_eq!(send(&mut area, 1, 3000, 0), Some(56));
            assert_eq!(send(&mut area, 2, 3000, 0), None);
            assert_eq!(send(&mut area, 2, 500, 0), Some(3128));
        });
    }
}
