//! Values read and written in either byte order, naturally aligned where asked for: what units, the mapper's own stubs and the
//! formats of objects are made of.

use crate::uuid::{SyntaxId, Uuid};
use std::fmt;

/// In which order a sender writes the bytes of a number (C706 14.1, integer representation).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The lowest byte first.
    #[default]
    Little,
    /// The highest byte first.
    Big,
}

/// The bytes end before the value does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short;

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes end before the value does")
    }
}

impl std::error::Error for Short {}

/// Reads values from front to back. Every method that reads fails with [`Short`] alone, and has read nothing then.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    order: ByteOrder,
}

impl<'a> Reader<'a> {
    /// Begins at the first byte, which alignment counts from.
    pub fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { bytes, at: 0, order }
    }

    /// How much has been read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// So many bytes as they are.
    ///
    /// # Errors
    ///
    /// When there are fewer.
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

    /// Passes over what is before the next multiple of a power of two.
    ///
    /// # Errors
    ///
    /// When the bytes end before it.
    pub fn align(&mut self, to: usize) -> Result<(), Short> {
        self.bytes(self.at.next_multiple_of(to) - self.at).map(drop)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Short> {
        Ok(self.take::<1>()?[0])
    }

    /// A number of 16 bits, wherever it lies.
    ///
    /// # Errors
    ///
    /// When there are fewer bytes.
    pub fn u16(&mut self) -> Result<u16, Short> {
        let bytes = self.take()?;
        Ok(match self.order {
            ByteOrder::Little => u16::from_le_bytes(bytes),
            ByteOrder::Big => u16::from_be_bytes(bytes),
        })
    }

    /// A number of 32 bits, wherever it lies.
    ///
    /// # Errors
    ///
    /// When there are fewer bytes.
    pub fn u32(&mut self) -> Result<u32, Short> {
        let bytes = self.take()?;
        Ok(match self.order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    /// A number of 64 bits, wherever it lies.
    ///
    /// # Errors
    ///
    /// When there are fewer bytes.
    pub fn u64(&mut self) -> Result<u64, Short> {
        let bytes = self.take()?;
        Ok(match self.order {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        })
    }

    /// A UUID.
    ///
    /// # Errors
    ///
    /// When there are fewer bytes.
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

/// Appends values to bytes that are there; alignment counts from where it began.
#[derive(Debug)]
pub struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    start: usize,
    order: ByteOrder,
}

impl<'a> Writer<'a> {
    /// Begins behind what is there; alignment counts from there.
    pub fn new(bytes: &'a mut Vec<u8>, order: ByteOrder) -> Self {
        Self { start: bytes.len(), bytes, order }
    }

    /// How much it has written.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// So many zeros.
    pub fn zeros(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    /// Zeros up to the next multiple of a number.
    pub fn align(&mut self, to: usize) {
        self.zeros(self.len().next_multiple_of(to) - self.len());
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// A number of 16 bits, without alignment.
    pub fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&self.order.of_u16(value));
    }

    /// A number of 32 bits, without alignment.
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        });
    }

    /// A number of 64 bits, without alignment.
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        });
    }

    /// A UUID.
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

    /// Writes over a number that was written before.
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
