//! NDR 2.0 as ORPC's own structures need it: numbers at their alignment, arrays, pointers and text, in either byte order.
//!
//! Whatever a peer says, what is read takes no more memory than a small multiple of the bytes that it sent, and every complaint says
//! which field it is about, by its name in \[MS-DCOM\].

use super::Interface;
use crate::error::{Error, code};
use obvia_ndr::serialization;
use obvia_rpc::ByteOrder;
use obvia_rpc::octets::{Reader, Writer};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::Uuid;
use std::fmt;
use windows_core::GUID;

/// Why bytes are not what they should be. The peer caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Malformed {
    /// The bytes end within a field, or before it.
    Short {
        /// The field.
        what: &'static str,
        /// Its offset in bytes.
        at: usize,
    },
    /// A field has a value that it must not have.
    Wrong {
        /// The field.
        what: &'static str,
        /// The offset behind it in bytes.
        at: usize,
        /// Its value.
        value: u64,
    },
    /// There are more of something than there may be.
    TooMany {
        /// The field that says how many, or the array.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// How many there may be.
        max: u64,
    },
    /// A pointer is null that must not be.
    Null {
        /// The pointer.
        what: &'static str,
    },
    /// A text is no UTF-16, or does not end.
    Text {
        /// The text.
        what: &'static str,
    },
    /// A property is not there that must be.
    Missing {
        /// The property.
        what: &'static str,
    },
    /// The header of a serialized value is wrong.
    Serialization(serialization::Error),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { what, at } => write!(f, "the bytes end before {what}, which begins at byte {at}"),
            Self::Wrong { what, at, value } => {
                write!(f, "{what}, which ends at byte {at}, is {value:#x}, which it must not be")
            }
            Self::TooMany { what, count, max } => write!(f, "{what} is {count}; there may be {max}"),
            Self::Null { what } => write!(f, "the pointer {what} is null"),
            Self::Text { what } => write!(f, "the text {what} is not UTF-16, or does not end"),
            Self::Missing { what } => write!(f, "there is no {what}"),
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
    /// Reads it.
    ///
    /// # Errors
    ///
    /// What is wrong with the bytes.
    fn read(from: &mut Decoder<'_>) -> Result<Self>;

    /// Writes it.
    fn write(&self, to: &mut Encoder<'_>);

    /// Reads it from stub data of its own. What follows it is passed over.
    ///
    /// # Errors
    ///
    /// What is wrong with the bytes.
    fn decode(order: ByteOrder, stub: &[u8]) -> Result<Self> {
        Self::read(&mut Decoder::new(stub, order))
    }

    /// It, as stub data.
    ///
    /// # Errors
    ///
    /// What there is too much of.
    fn encode(&self, order: ByteOrder) -> Result<Vec<u8>> {
        Encoder::encode(order, |to| self.write(to))
    }
}

/// Why a request is no call, or a response no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadCall {
    /// The interface has no such method.
    Opnum(u16),
    /// The parameters are not what the method has.
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

/// The calls of an interface, each with its arguments.
pub trait Calls: Sized {
    /// The interface.
    const INTERFACE: &'static Interface;

    /// Which method it is.
    fn opnum(&self) -> u16;

    /// Reads a call's arguments. For an interface with objects, ORPCTHIS was read before.
    ///
    /// # Errors
    ///
    /// When there is no such method, or what is wrong with the arguments.
    fn read(opnum: u16, from: &mut Decoder<'_>) -> std::result::Result<Self, BadCall>;

    /// Writes the arguments.
    fn write(&self, to: &mut Encoder<'_>);
}

/// Reads NDR from front to back.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    reader: Reader<'a>,
    order: ByteOrder,
    is_packed: bool,
}

/// Text of more characters than this is refused.
const TEXT_MAX: usize = 1 << 15;

impl<'a> Decoder<'a> {
    /// Stub data: alignment counts from its first byte.
    pub fn new(stub: &'a [u8], order: ByteOrder) -> Self {
        Self { reader: Reader::new(stub, order), order, is_packed: false }
    }

    /// A format that knows no alignment and is little endian wherever it is (MS-DCOM 2.2).
    pub fn packed(bytes: &'a [u8]) -> Self {
        Self { reader: Reader::new(bytes, ByteOrder::Little), order: ByteOrder::Little, is_packed: true }
    }

    /// The byte order.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// How many bytes have been read.
    pub fn at(&self) -> usize {
        self.reader.at()
    }

    /// What has not been read.
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

    /// A number that has to be this one.
    pub(super) fn expect(&mut self, value: u32, what: &'static str) -> Result<()> {
        let found = self.u32(what)?;
        if found == value { Ok(()) } else { Err(self.wrong(what, found)) }
    }

    /// How many elements there are.
    pub(super) fn count(&mut self, max: usize, what: &'static str) -> Result<usize> {
        let count = self.u32(what)?;
        within(count.into(), max, what)
    }

    /// How many elements there are, in 16 bits.
    pub(super) fn count16(&mut self, max: usize, what: &'static str) -> Result<usize> {
        let count = self.u16(what)?;
        within(count.into(), max, what)
    }

    /// Whether a unique pointer leads anywhere; what it leads to comes later.
    pub(super) fn pointer(&mut self, what: &'static str) -> Result<bool> {
        Ok(self.u32(what)? != 0)
    }

    /// A pointer that has to lead somewhere, whatever its attributes say.
    pub(super) fn reference(&mut self, what: &'static str) -> Result<()> {
        if self.pointer(what)? { Ok(()) } else { Err(Malformed::Null { what }) }
    }

    /// So many elements, each of which has at least `size` bytes.
    pub(super) fn elements<T>(
        &mut self,
        count: usize,
        size: usize,
        what: &'static str,
        mut read: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        // Compared before memory is taken for them.
        if count > self.rest().len() / size {
            return Err(self.short(what));
        }
        (0..count).map(|_| read(self)).collect()
    }

    /// A conformant array whose length was said before: the length again, and the elements.
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

    /// Text behind a pointer that was there: a conformant varying string.
    pub(super) fn text(&mut self, what: &'static str) -> Result<String> {
        let max = self.count(TEXT_MAX, what)?;
        self.expect(0, what)?;
        let count = self.count(max, what)?;
        let words = self.elements(count, 2, what, |from| from.u16(what))?;
        text(&words, what)
    }
}

/// Text up to the first zero, which has to be there.
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

/// Writes NDR. What there is too much of is said at the end.
#[derive(Debug)]
pub struct Encoder<'a> {
    writer: Writer<'a>,
    order: ByteOrder,
    is_packed: bool,
    /// Stands for the next pointer that is not null; nothing else is ever read of it.
    referent: u32,
    excess: Option<Malformed>,
}

impl Encoder<'_> {
    /// What `write` writes, as stub data.
    ///
    /// # Errors
    ///
    /// What there is too much of.
    pub fn encode(order: ByteOrder, write: impl FnOnce(&mut Encoder<'_>)) -> Result<Vec<u8>> {
        Self::run(order, false, write)
    }

    /// What `write` writes, without alignment and little endian (MS-DCOM 2.2).
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

    /// The byte order.
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

    /// How many there are, which is more than `max` nowhere.
    pub(super) fn count(&mut self, count: usize, max: usize, what: &'static str) {
        self.check(count, max, what);
        self.u32(count as u32);
    }

    /// The same in 16 bits.
    pub(super) fn count16(&mut self, count: usize, max: usize, what: &'static str) {
        self.check(count, max, what);
        self.u16(count as u16);
    }

    pub(super) fn check(&mut self, count: usize, max: usize, what: &'static str) {
        if count > max {
            self.excess.get_or_insert(Malformed::TooMany { what, count: count as u64, max: max as u64 });
        }
    }

    /// A unique pointer.
    pub(super) fn pointer(&mut self, is_there: bool) {
        if !is_there {
            return self.u32(0);
        }
        self.u32(self.referent);
        self.referent = self.referent.wrapping_add(4);
    }

    /// A conformant array.
    pub(super) fn array<T>(&mut self, elements: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.u32(elements.len() as u32);
        elements.iter().for_each(|element| write(self, element));
    }

    /// Text behind a pointer: a conformant varying string with its end.
    pub(super) fn text(&mut self, text: &str, what: &'static str) {
        let words: Vec<u16> = text.encode_utf16().chain([0]).collect();
        self.count(words.len(), TEXT_MAX, what);
        self.u32(0);
        self.u32(words.len() as u32);
        words.iter().for_each(|&word| self.u16(word));
    }
}
