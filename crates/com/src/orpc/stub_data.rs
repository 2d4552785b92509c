//! NDR 2.0 for ORPC's own structures: aligned numbers, arrays, pointers and text, in either byte
//! order.
//!
//! Decoding takes no more memory than a small multiple of the received bytes. Every error names the
//! field by its name in \[MS-DCOM\].

use super::Interface;
use crate::types::error::{Error, code};
use obvia_ndr::serialization;
use obvia_rpc::ByteOrder;
use obvia_rpc::octets::{Reader, Writer};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::Uuid;
use std::fmt;
use windows_core::GUID;

/// An error in received bytes, which the peer has caused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Malformed {
    /// The bytes end before or within a field.
    Short {
        /// The name of the field.
        what: &'static str,
        /// The offset of the field in bytes.
        at: usize,
    },
    /// A field has an invalid value.
    Wrong {
        /// The name of the field.
        what: &'static str,
        /// The offset of the field's end in bytes.
        at: usize,
        /// The field's value.
        value: u64,
    },
    /// A count exceeds its limit.
    TooMany {
        /// The name of the field with the count, or of the array.
        what: &'static str,
        /// The actual count.
        count: u64,
        /// The greatest permitted count.
        max: u64,
    },
    /// A pointer is null where null is not permitted.
    Null {
        /// The name of the pointer.
        what: &'static str,
    },
    /// A text is not UTF-16, or is not terminated.
    Text {
        /// The name of the text.
        what: &'static str,
    },
    /// A mandatory property is missing.
    Missing {
        /// The name of the property.
        what: &'static str,
    },
    /// The header of a serialized value is wrong.
    Serialization(serialization::Error),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { what, at } => write!(f, "the data ends before {what}, which begins at byte {at}"),
            Self::Wrong { what, at, value } => {
                write!(f, "{what}, which ends at byte {at}, has the invalid value {value:#x}")
            }
            Self::TooMany { what, count, max } => write!(f, "{what} is {count}; the limit is {max}"),
            Self::Null { what } => write!(f, "the pointer {what} is null"),
            Self::Text { what } => write!(f, "the string {what} is not UTF-16, or has no end"),
            Self::Missing { what } => write!(f, "{what} is missing"),
            Self::Serialization(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Malformed {}

impl From<serialization::Error> for Malformed {
    fn from(error: serialization::Error) -> Self {
        Self::Serialization(error)
    }
}

impl From<Malformed> for Error {
    fn from(error: Malformed) -> Self {
        Self::new(code::RPC_E_INVALID_DATA, error.to_string())
    }
}

impl From<Malformed> for Status {
    fn from(_: Malformed) -> Self {
        Self::BAD_STUB_DATA
    }
}

type Result<T> = std::result::Result<T, Malformed>;

/// The arguments or results of a method, or a part of them.
pub trait Body: Sized {
    /// Decodes the value.
    ///
    /// # Errors
    ///
    /// If the bytes are malformed.
    fn read(from: &mut Decoder<'_>) -> Result<Self>;

    /// Encodes the value.
    fn write(&self, to: &mut Encoder<'_>);

    /// Decodes the value from the beginning of stub data. Bytes that follow it are ignored.
    ///
    /// # Errors
    ///
    /// If the bytes are malformed.
    fn decode(order: ByteOrder, stub: &[u8]) -> Result<Self> {
        Self::read(&mut Decoder::new(stub, order))
    }

    /// Encodes the value as stub data.
    ///
    /// # Errors
    ///
    /// If a count exceeds its limit.
    fn encode(&self, order: ByteOrder) -> Result<Vec<u8>> {
        Encoder::encode(order, |to| self.write(to))
    }
}

/// The error for an invalid request or response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadCall {
    /// The interface has no such method.
    Opnum(u16),
    /// The parameters are malformed.
    Malformed(Malformed),
}

impl fmt::Display for BadCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opnum(opnum) => write!(f, "the interface has no method {opnum}"),
            Self::Malformed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BadCall {}

impl From<Malformed> for BadCall {
    fn from(error: Malformed) -> Self {
        Self::Malformed(error)
    }
}

impl From<BadCall> for Status {
    fn from(error: BadCall) -> Self {
        match error {
            BadCall::Opnum(_) => Self::OP_RNG_ERROR,
            BadCall::Malformed(error) => error.into(),
        }
    }
}

/// The calls of an interface with their arguments.
pub trait Calls: Sized {
    /// The description of the interface.
    const INTERFACE: &'static Interface;

    /// Returns the opnum of the call.
    fn opnum(&self) -> u16;

    /// Decodes a call's arguments. If the interface has objects, the caller has already decoded the
    /// ORPCTHIS before the arguments.
    ///
    /// # Errors
    ///
    /// If there is no such method, or the arguments are malformed.
    fn read(opnum: u16, from: &mut Decoder<'_>) -> std::result::Result<Self, BadCall>;

    /// Encodes the arguments of the call.
    fn write(&self, to: &mut Encoder<'_>);
}

/// A decoder of NDR.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    reader: Reader<'a>,
    order: ByteOrder,
    is_packed: bool,
}

/// The greatest length of a text in characters.
const TEXT_MAX: usize = 1 << 15;

impl<'a> Decoder<'a> {
    /// Decodes stub data. The alignment is relative to its first byte.
    pub fn new(stub: &'a [u8], order: ByteOrder) -> Self {
        Self { reader: Reader::new(stub, order), order, is_packed: false }
    }

    /// Decodes a format without alignment that is always little endian (MS-DCOM 2.2).
    pub fn packed(bytes: &'a [u8]) -> Self {
        Self { reader: Reader::new(bytes, ByteOrder::Little), order: ByteOrder::Little, is_packed: true }
    }

    /// Returns the byte order.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Returns the number of bytes that have been read.
    pub fn at(&self) -> usize {
        self.reader.at()
    }

    /// Returns the bytes that have not been decoded yet.
    pub fn rest(&self) -> &'a [u8] {
        self.reader.rest()
    }

    fn short(&self, what: &'static str) -> Malformed {
        Malformed::Short { what, at: self.at() }
    }

    pub(super) fn wrong(&self, what: &'static str, value: impl Into<u64>) -> Malformed {
        Malformed::Wrong { what, at: self.at(), value: value.into() }
    }

    pub(super) fn align(&mut self, to: usize, what: &'static str) -> Result<()> {
        if self.is_packed {
            return Ok(());
        }
        let short = self.short(what);
        self.reader.align(to).map_err(|_| short)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16> {
        self.align(2, what)?;
        let short = self.short(what);
        self.reader.u16().map_err(|_| short)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32> {
        self.align(4, what)?;
        let short = self.short(what);
        self.reader.u32().map_err(|_| short)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64> {
        self.align(8, what)?;
        let short = self.short(what);
        self.reader.u64().map_err(|_| short)
    }

    pub(super) fn guid(&mut self, what: &'static str) -> Result<GUID> {
        self.align(4, what)?;
        let short = self.short(what);
        self.reader.uuid().map(|uuid| GUID::from_u128(uuid.0)).map_err(|_| short)
    }

    pub(super) fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8]> {
        let short = self.short(what);
        self.reader.bytes(count).map_err(|_| short)
    }

    /// Decodes a number that must have this value.
    pub(super) fn expect(&mut self, value: u32, what: &'static str) -> Result<()> {
        let found = self.u32(what)?;
        if found == value { Ok(()) } else { Err(self.wrong(what, found)) }
    }

    /// Decodes a number of elements.
    pub(super) fn count(&mut self, max: usize, what: &'static str) -> Result<usize> {
        let count = self.u32(what)?;
        within(count.into(), max, what)
    }

    /// Decodes a number of elements, in 16 bits.
    pub(super) fn count16(&mut self, max: usize, what: &'static str) -> Result<usize> {
        let count = self.u16(what)?;
        within(count.into(), max, what)
    }

    /// Decodes a unique pointer. Returns whether the pointer is not null. The caller decodes the
    /// target, which follows later.
    pub(super) fn pointer(&mut self, what: &'static str) -> Result<bool> {
        Ok(self.u32(what)? != 0)
    }

    /// Decodes a pointer that must not be null, regardless of its attributes.
    pub(super) fn reference(&mut self, what: &'static str) -> Result<()> {
        if self.pointer(what)? { Ok(()) } else { Err(Malformed::Null { what }) }
    }

    /// Decodes `count` elements of at least `size` bytes each.
    pub(super) fn elements<T>(
        &mut self,
        count: usize,
        size: usize,
        what: &'static str,
        mut read: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        // The count is compared with the remaining bytes before memory is allocated.
        if count > self.rest().len() / size {
            return Err(self.short(what));
        }
        (0..count).map(|_| read(self)).collect()
    }

    /// Decodes a conformant array whose length is known: the conformance, which must equal `count`,
    /// and the elements.
    pub(super) fn array<T>(
        &mut self,
        count: usize,
        size: usize,
        what: &'static str,
        read: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let conformance = self.u32(what)?;
        if usize::try_from(conformance) != Ok(count) {
            return Err(self.wrong(what, conformance));
        }
        self.elements(count, size, what, read)
    }

    /// Decodes the text to which a pointer leads: a conformant varying string.
    pub(super) fn text(&mut self, what: &'static str) -> Result<String> {
        let max = self.count(TEXT_MAX, what)?;
        self.expect(0, what)?;
        let count = self.count(max, what)?;
        let words = self.elements(count, 2, what, |from| from.u16(what))?;
        text(&words, what)
    }
}

/// Decodes text up to its terminating zero.
pub(super) fn text(words: &[u16], what: &'static str) -> Result<String> {
    let end = words.iter().position(|&word| word == 0).ok_or(Malformed::Text { what })?;
    String::from_utf16(&words[..end]).map_err(|_| Malformed::Text { what })
}

fn within(count: u64, max: usize, what: &'static str) -> Result<usize> {
    match usize::try_from(count) {
        Ok(count) if count <= max => Ok(count),
        _ => Err(Malformed::TooMany { what, count, max: max as u64 }),
    }
}

/// An encoder of NDR. If a count exceeds its limit, the encoder reports the error at the end.
#[derive(Debug)]
pub struct Encoder<'a> {
    writer: Writer<'a>,
    order: ByteOrder,
    is_packed: bool,
    /// The referent identifier of the next pointer. Decoders only compare it with 0, which means
    /// null.
    referent: u32,
    excess: Option<Malformed>,
}

impl Encoder<'_> {
    /// Encodes the output of `write` as stub data.
    ///
    /// # Errors
    ///
    /// If a count exceeds its limit.
    pub fn encode(order: ByteOrder, write: impl FnOnce(&mut Encoder<'_>)) -> Result<Vec<u8>> {
        Self::run(order, false, write)
    }

    /// Encodes the output of `write` without alignment, little endian (MS-DCOM 2.2).
    pub(super) fn pack(write: impl FnOnce(&mut Encoder<'_>)) -> Result<Vec<u8>> {
        Self::run(ByteOrder::Little, true, write)
    }

    fn run(order: ByteOrder, is_packed: bool, write: impl FnOnce(&mut Encoder<'_>)) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let writer = Writer::new(&mut bytes, order);
        let mut encoder = Encoder { writer, order, is_packed, referent: 0x0002_0000, excess: None };
        write(&mut encoder);
        match encoder.excess {
            Some(excess) => Err(excess),
            None => Ok(bytes),
        }
    }

    /// Returns the byte order.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    pub(super) fn align(&mut self, to: usize) {
        if !self.is_packed {
            self.writer.align(to);
        }
    }

    pub(super) fn u16(&mut self, value: u16) {
        self.align(2);
        self.writer.u16(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.align(4);
        self.writer.u32(value);
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.align(8);
        self.writer.u64(value);
    }

    pub(super) fn guid(&mut self, value: &GUID) {
        self.align(4);
        self.writer.uuid(Uuid(value.to_u128()));
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.writer.bytes(bytes);
    }

    pub(super) fn zeros(&mut self, count: usize) {
        self.writer.zeros(count);
    }

    /// Encodes a number of elements, which must not exceed `max`.
    pub(super) fn count(&mut self, count: usize, max: usize, what: &'static str) {
        self.check(count, max, what);
        self.u32(count as u32);
    }

    /// Encodes a number of elements in 16 bits. The number must not exceed `max`.
    pub(super) fn count16(&mut self, count: usize, max: usize, what: &'static str) {
        self.check(count, max, what);
        self.u16(count as u16);
    }

    pub(super) fn check(&mut self, count: usize, max: usize, what: &'static str) {
        if count > max {
            self.excess.get_or_insert(Malformed::TooMany { what, count: count as u64, max: max as u64 });
        }
    }

    /// Encodes a unique pointer.
    pub(super) fn pointer(&mut self, is_there: bool) {
        if !is_there {
            return self.u32(0);
        }
        self.u32(self.referent);
        self.referent = self.referent.wrapping_add(4);
    }

    /// Encodes a conformant array.
    pub(super) fn array<T>(&mut self, elements: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.u32(elements.len() as u32);
        elements.iter().for_each(|element| write(self, element));
    }

    /// Encodes the text to which a pointer leads: a conformant varying string with its terminating
    /// zero.
    pub(super) fn text(&mut self, text: &str, what: &'static str) {
        let words: Vec<u16> = text.encode_utf16().chain([0]).collect();
        self.count(words.len(), TEXT_MAX, what);
        self.u32(0);
        self.u32(words.len() as u32);
        words.iter().for_each(|&word| self.u16(word));
    }
}
