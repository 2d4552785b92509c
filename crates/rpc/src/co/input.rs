//! What came from a stream and has not been looked at, cut into units.

use super::pdu::{Header, PduError};
use std::ops::Range;

/// Room that is offered to a stream at the least, so that small units come several at a time.
const ROOM: usize = 16 << 10;

/// Bytes from a stream.
#[derive(Debug)]
pub struct Input {
    // Invariant: start <= end <= bytes.len().
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    // The longest unit that is taken.
    unit_max: usize,
}

impl Input {
    pub(super) fn new(unit_max: u16) -> Self {
        Self { bytes: Vec::new(), start: 0, end: 0, unit_max: unit_max.into() }
    }

    /// Where further bytes go: never nothing. As long as units are taken out before more is read, it grows no further than a unit.
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

    /// So many bytes have come into the room.
    ///
    /// # Panics
    ///
    /// When there was not so much room.
    pub fn filled(&mut self, count: usize) {
        assert!(count <= self.bytes.len() - self.end, "more bytes than there was room for");
        self.end += count;
    }

    /// Copies bytes in that were received elsewhere.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room();
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            self.filled(count);
            bytes = &bytes[count..];
        }
    }

    /// Takes the next unit out, if all of it is there, and says where it lies until more is read.
    pub(super) fn next(&mut self) -> Result<Option<Range<usize>>, PduError> {
        let there = &self.bytes[self.start..self.end];
        if there.len() < Header::SIZE {
            return Ok(None);
        }
        let length = Header::read(there)?.length;
        if usize::from(length) > self.unit_max {
            return Err(PduError::Length(length));
        }
        if there.len() < usize::from(length) {
            return Ok(None);
        }
        let unit = self.start..self.start + usize::from(length);
        self.start = unit.end;
        Ok(Some(unit))
    }

    /// The bytes of a unit, or of a part of it.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    pub(super) fn bytes_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        &mut self.bytes[range]
    }

    /// What has not been taken out.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }
}
