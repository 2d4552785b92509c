//! Reading and writing of numbers in either byte order, with natural alignment on request: for
//! protocol data units, the endpoint mapper's stub data and object references.

use crate::uuid::{SyntaxId, Uuid};
use std::fmt;

/// The byte order of a sender's numbers (C706 14.1, integer representation).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The lowest byte first.
    #[default]
    Little,
    /// The highest byte first.
    Big,
}

/// The greatest capacity of a buffer that is kept for the next message, in bytes.
const KEPT_MAX: usize = 1 << 20;

/// Empties a buffer, and frees its memory beyond [`KEPT_MAX`], which few messages need.
pub(crate) fn shrink(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.shrink_to(KEPT_MAX);
}

/// The error of a read: the bytes end before the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short;

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes end within a value")
    }
}

impl std::error::Error for Short {}

/// Reads values from front to back. A failed read returns [`Short`] and leaves the position
/// unchanged.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    order: ByteOrder,
}

impl<'a> Reader<'a> {
    /// Creates a reader of `bytes`. Alignment counts from their first byte.
    pub fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { bytes, at: 0, order }
    }

    /// Returns the number of bytes read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the bytes that have not been read.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Reads `count` bytes.
    ///
    /// # Errors
    ///
    /// [`Short`] if fewer are left.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Short> {
        let (bytes, _) = self.rest().split_at_checked(count).ok_or(Short)?;
        self.at += count;
        Ok(bytes)
    }

    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        let bytes = self.rest().first_chunk::<N>().ok_or(Short)?;
        self.at += N;
        Ok(*bytes)
    }

    /// Skips the bytes before the next multiple of `to`, a power of two.
    ///
    /// # Errors
    ///
    /// [`Short`] if the bytes end before that multiple.
    pub fn align(&mut self, to: usize) -> Result<(), Short> {
        self.bytes(self.at.next_multiple_of(to) - self.at).map(drop)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Short> {
        Ok(self.take::<1>()?[0])
    }

    /// Reads an unaligned 16-bit number.
    ///
    /// # Errors
    ///
    /// [`Short`] if fewer bytes are left.
    pub fn u16(&mut self) -> Result<u16, Short> {
        let bytes = self.take()?;
        Ok(match self.order {
            ByteOrder::Little => u16::from_le_bytes(bytes),
            ByteOrder::Big => u16::from_be_bytes(bytes),
        })
    }

    /// Reads an unaligned 32-bit number.
    ///
    /// # Errors
    ///
    /// [`Short`] if fewer bytes are left.
    pub fn u32(&mut self) -> Result<u32, Short> {
        let bytes = self.take()?;
        Ok(match self.order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Reads an unaligned 64-bit number.
    ///
    /// # Errors
    ///
    /// [`Short`] if fewer bytes are left.
    pub fn u64(&mut self) -> Result<u64, Short> {
        let bytes = self.take()?;
        Ok(match self.order {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        })
    }

    /// Reads a UUID.
    ///
    /// # Errors
    ///
    /// [`Short`] if fewer bytes are left.
    pub fn uuid(&mut self) -> Result<Uuid, Short> {
        let bytes = self.take()?;
        Ok(match self.order {
            ByteOrder::Little => Uuid::from_wire(bytes),
            ByteOrder::Big => Uuid(u128::from_be_bytes(bytes)),
        })
    }

    pub(crate) fn syntax(&mut self) -> Result<SyntaxId, Short> {
        Ok(SyntaxId { uuid: self.uuid()?, version: self.u32()? })
    }
}

/// Appends values to existing bytes; alignment counts from the first appended byte.
#[derive(Debug)]
pub struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    start: usize,
    order: ByteOrder,
}

impl<'a> Writer<'a> {
    /// Creates a writer that appends to `bytes`. Alignment counts from the first appended byte.
    pub fn new(bytes: &'a mut Vec<u8>, order: ByteOrder) -> Self {
        Self { start: bytes.len(), bytes, order }
    }

    /// Returns the number of bytes written.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Writes bytes unchanged.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes `count` zeros.
    pub fn zeros(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    /// Writes zeros up to the next multiple of `to`.
    pub fn align(&mut self, to: usize) {
        self.zeros(self.len().next_multiple_of(to) - self.len());
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Writes an unaligned 16-bit number.
    pub fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&self.order.of_u16(value));
    }

    /// Writes an unaligned 32-bit number.
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        });
    }

    /// Writes an unaligned 64-bit number.
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        });
    }

    /// Writes a UUID.
    pub fn uuid(&mut self, value: Uuid) {
        self.bytes.extend_from_slice(&match self.order {
            ByteOrder::Little => value.to_wire(),
            ByteOrder::Big => value.0.to_be_bytes(),
        });
    }

    pub(crate) fn syntax(&mut self, value: SyntaxId) {
        self.uuid(value.uuid);
        self.u32(value.version);
    }

    /// Overwrites a 16-bit number at the offset `at`.
    pub(crate) fn patch_u16(&mut self, at: usize, value: u16) {
        let at = self.start + at;
        self.bytes[at..at + 2].copy_from_slice(&self.order.of_u16(value));
    }
}

impl ByteOrder {
    fn of_u16(self, value: u16) -> [u8; 2] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }
}
