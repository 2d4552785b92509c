//! Bytes received from a stream, cut into units.

use super::pdu::{Header, PduError};
use std::ops::Range;
use std::time::{Duration, Instant};

/// The minimum room that is offered to a read, in bytes. One read can receive several small units.
const ROOM: usize = 16 << 10;

/// The bytes received from a stream.
#[derive(Debug)]
pub struct Input {
    // Invariant: start <= end <= bytes.len().
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    // The longest accepted unit.
    unit_max: usize,
    // The time at which `next` first found the incomplete unit; `None` while no unit is incomplete.
    // Only servers use this time.
    incomplete_since: Option<Instant>,
}

impl Input {
    pub(super) fn new(unit_max: u16) -> Self {
        Self { bytes: Vec::new(), start: 0, end: 0, unit_max: unit_max.into(), incomplete_since: None }
    }

    /// Returns the room for further bytes, which is never empty. If the caller takes all complete
    /// units before each read, the buffer never grows beyond the longest unit and the room.
    pub fn room(&mut self) -> &mut [u8] {
        if self.bytes.len() - self.end < ROOM || self.start == self.end {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.bytes.len() - self.end < ROOM {
            self.bytes.resize(self.end + ROOM, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// Adds the first `count` bytes of the room, which a read has filled, to the input.
    ///
    /// # Panics
    ///
    /// If the room was smaller.
    pub fn filled(&mut self, count: usize) {
        assert!(count <= self.bytes.len() - self.end, "the number of filled bytes exceeds the room");
        self.end += count;
    }

    /// Appends bytes that were not read into [`Self::room`].
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room();
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            self.filled(count);
            bytes = &bytes[count..];
        }
    }

    /// Takes the next complete unit and returns its range, or `None` if no unit is complete. The
    /// range is valid until the next call of [`Self::room`].
    pub(super) fn next(&mut self) -> Result<Option<Range<usize>>, PduError> {
        let Some(length) = self.complete_length()? else {
            if self.start < self.end {
                self.incomplete_since.get_or_insert_with(Instant::now);
            }
            return Ok(None);
        };
        self.incomplete_since = None;
        let unit = self.start..self.start + length;
        self.start = unit.end;
        Ok(Some(unit))
    }

    /// Returns the length of the next unit, or `None` if the unit is not complete.
    fn complete_length(&self) -> Result<Option<usize>, PduError> {
        let there = self.rest();
        if there.len() < Header::SIZE {
            return Ok(None);
        }
        let length = Header::read(there)?.length;
        if usize::from(length) > self.unit_max {
            return Err(PduError::Length(length));
        }
        Ok(Some(usize::from(length)).filter(|length| *length <= there.len()))
    }

    /// Returns the time from which on an incomplete unit counts as slow, if there is one.
    pub(super) fn due(&self, silence_max: Duration) -> Option<Instant> {
        self.incomplete_since?.checked_add(silence_max)
    }

    /// Returns the bytes of a unit, or of a part of a unit.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    pub(super) fn bytes_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        &mut self.bytes[range]
    }

    /// Returns the bytes after the last unit that was taken.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }
}

#[cfg(test)]
mod tests {
    use super::super::pdu::{FragmentSizes, Message, PduType, flags};
    use super::*;

    #[test]
    fn a_unit_is_due_while_it_is_incomplete() {
        let (mut input, mut unit) = (Input::new(FragmentSizes::LEAST), Vec::new());
        Message::begin(&mut unit, &Header::new(PduType::SHUTDOWN, flags::WHOLE, 0)).finish(0);
        let next = |input: &mut Input| {
            let is_complete = input.next().unwrap().is_some();
            (is_complete, input.due(Duration::ZERO).is_some())
        };
        let (half, rest) = unit.split_at(unit.len() / 2);
        input.push(half);
        assert_eq!(next(&mut input), (false, true));
        input.push(rest);
        assert_eq!(next(&mut input), (true, false));
        // A whole unit, and the first byte of the next one.
        input.push(&unit);
        input.push(&unit[..1]);
        assert_eq!([next(&mut input), next(&mut input)], [(true, false), (false, true)]);
    }
}
