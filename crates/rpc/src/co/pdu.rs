//! Protocol data units (C706 12.6, MS-RPCE 2.2.2): their common part and their types.
//!
//! A unit is parsed in two steps. [`Unit::open`] checks the common part: header, length,
//! authentication trailer. Then the type's structure reads the body. Readers accept both byte
//! orders. Writers use the byte order in the header.

mod bind;
mod call;
#[cfg(test)]
mod tests;

pub use bind::{
    ACCEPTED, Bind, BindAck, BindNak, Context, FragmentSizes, LIMIT_EXCEEDED, NEGOTIATED, NO_TRANSFER_SYNTAX, Outcome,
    REFUSED, UNKNOWN_INTERFACE,
};
pub use call::{Fault, Request, Response};

use crate::octets::{ByteOrder, Reader, Short, Writer};
use std::fmt;
use std::ops::Range;

/// The type of a unit (C706 12.6.4).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PduType(pub u8);

impl PduType {
    /// A fragment of a call's arguments.
    pub const REQUEST: Self = Self(0);
    /// A fragment of a call's results.
    pub const RESPONSE: Self = Self(2);
    /// The failure of a call.
    pub const FAULT: Self = Self(3);
    /// Proposes an association and its first presentation contexts.
    pub const BIND: Self = Self(11);
    /// Answers a bind.
    pub const BIND_ACK: Self = Self(12);
    /// Refuses a bind.
    pub const BIND_NAK: Self = Self(13);
    /// Proposes further presentation contexts, or another security context.
    pub const ALTER_CONTEXT: Self = Self(14);
    /// Answers alter_context.
    pub const ALTER_CONTEXT_RESP: Self = Self(15);
    /// The third token of an authentication.
    pub const AUTH3: Self = Self(16);
    /// The server asks its client to end the connection.
    pub const SHUTDOWN: Self = Self(17);
    /// The client asks for a call to be cancelled.
    pub const CO_CANCEL: Self = Self(18);
    /// The client abandons a call.
    pub const ORPHANED: Self = Self(19);
}

impl fmt::Debug for PduType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match *self {
            Self::REQUEST => "request",
            Self::RESPONSE => "response",
            Self::FAULT => "fault",
            Self::BIND => "bind",
            Self::BIND_ACK => "bind_ack",
            Self::BIND_NAK => "bind_nak",
            Self::ALTER_CONTEXT => "alter_context",
            Self::ALTER_CONTEXT_RESP => "alter_context_resp",
            Self::AUTH3 => "auth3",
            Self::SHUTDOWN => "shutdown",
            Self::CO_CANCEL => "co_cancel",
            Self::ORPHANED => "orphaned",
            Self(number) => return write!(f, "type {number}"),
        };
        f.write_str(name)
    }
}

/// Flags of a header (C706 12.6.3.1, MS-RPCE 2.2.2.3).
pub mod flags {
    /// The first fragment of its message.
    pub const FIRST: u8 = 0x01;
    /// The last fragment of its message.
    pub const LAST: u8 = 0x02;
    /// The only fragment.
    pub const WHOLE: u8 = FIRST | LAST;
    /// In a bind or its answer: signatures cover headers.
    pub const HEADER_SIGNING: u8 = 0x04;
    /// In a bind or its answer: several calls may be outstanding.
    pub const MULTIPLEX: u8 = 0x10;
    /// In a fault: the call has not begun.
    pub const DID_NOT_EXECUTE: u8 = 0x20;
    /// In a request: the call has no response.
    pub const MAYBE: u8 = 0x40;
    /// In a request: an object UUID follows.
    pub const OBJECT: u8 = 0x80;
}

/// The reason why a unit is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PduError {
    /// The unit ends before its contents.
    Short,
    /// The version is neither 5.0 nor 5.1.
    Version(u8, u8),
    /// The type is not expected here.
    Type(PduType),
    /// The byte order, character set or floating-point format is not supported.
    Representation(u8, u8),
    /// The length field contradicts the unit's length, or exceeds the negotiated maximum.
    Length(u16),
    /// The unit has more entries than its type allows.
    TooMany(usize),
    /// The secondary address is not UTF-8.
    Address,
    /// The authentication trailer does not fit the unit.
    Trailer,
    /// The unit is only a fragment of its message.
    Fragment,
}

impl fmt::Display for PduError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => write!(f, "the protocol data unit is truncated"),
            Self::Version(major, minor) => write!(f, "protocol version {major}.{minor} is not 5.0 or 5.1"),
            Self::Type(kind) => write!(f, "the protocol data unit is unexpected: {kind:?}"),
            Self::Representation(first, second) => {
                write!(f, "data representation {first:#04x} {second:#04x} is not supported")
            }
            Self::Length(length) => write!(f, "the protocol data unit's length field, {length} bytes, is wrong"),
            Self::TooMany(count) => write!(f, "the protocol data unit has too many entries: {count}"),
            Self::Address => write!(f, "the secondary address is not UTF-8"),
            Self::Trailer => write!(f, "the authentication trailer does not fit the protocol data unit"),
            Self::Fragment => write!(f, "the protocol data unit is only a fragment of its message"),
        }
    }
}

impl std::error::Error for PduError {}

impl From<Short> for PduError {
    fn from(_: Short) -> Self {
        Self::Short
    }
}

/// The common header of all units (C706 12.6.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The unit's type.
    pub kind: PduType,
    /// The flags: see [`flags`].
    pub flags: u8,
    /// The byte order of everything in the unit.
    pub order: ByteOrder,
    /// The length of the unit with header and trailer, in bytes.
    pub length: u16,
    /// The length of the authentication token at the end, in bytes; 0 for no trailer.
    pub auth_length: u16,
    /// The call's identifier, which answers repeat.
    pub call_id: u32,
}

impl Header {
    /// The length of a header, in bytes.
    pub const SIZE: usize = 16;
    const LENGTH_AT: usize = 8;
    const AUTH_LENGTH_AT: usize = 10;

    /// Creates a header for writing; the lengths are filled in when the unit is finished.
    pub const fn new(kind: PduType, flags: u8, call_id: u32) -> Self {
        Self { kind, flags, order: ByteOrder::Little, length: 0, auth_length: 0, call_id }
    }

    /// Reads the first [`Self::SIZE`] bytes of a unit.
    ///
    /// # Errors
    ///
    /// If the header is malformed, or its lengths contradict each other.
    pub fn read(bytes: &[u8]) -> Result<Self, PduError> {
        let [major, minor, kind, flags, first, second, ..] =
            *bytes.first_chunk::<{ Self::SIZE }>().ok_or(PduError::Short)?;
        if major != 5 || minor > 1 {
            return Err(PduError::Version(major, minor));
        }
        // Character set ASCII and floating-point format IEEE are the only supported ones.
        let order = match (first, second) {
            (0x10, 0) => ByteOrder::Little,
            (0x00, 0) => ByteOrder::Big,
            _ => return Err(PduError::Representation(first, second)),
        };
        let mut reader = Reader::new(&bytes[Self::LENGTH_AT..], order);
        let (length, auth_length, call_id) = (reader.u16()?, reader.u16()?, reader.u32()?);
        let trailer = if auth_length == 0 { 0 } else { Trailer::SIZE + usize::from(auth_length) };
        if usize::from(length) < Self::SIZE + trailer {
            return Err(PduError::Length(length));
        }
        Ok(Self { kind: PduType(kind), flags, order, length, auth_length, call_id })
    }

    /// Whether the header has all flags in `flags`.
    pub const fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }
}

/// A unit being written at the end of a buffer.
pub(crate) struct Message<'a> {
    writer: Writer<'a>,
}

impl<'a> Message<'a> {
    /// Begins a unit with its header.
    pub(crate) fn begin(bytes: &'a mut Vec<u8>, header: &Header) -> Self {
        let mut writer = Writer::new(bytes, header.order);
        let first = if header.order == ByteOrder::Little { 0x10 } else { 0 };
        writer.bytes(&[5, 0, header.kind.0, header.flags, first, 0, 0, 0, 0, 0, 0, 0]);
        writer.u32(header.call_id);
        Self { writer }
    }

    /// Returns the writer of the body.
    pub(crate) fn body(&mut self) -> &mut Writer<'a> {
        &mut self.writer
    }

    /// Writes padding and the head of the trailer. The caller has to append a token of `token`
    /// bytes. Readers ignore a trailer without a token.
    pub(crate) fn trailer(&mut self, head: &TrailerHead, padding: usize, token: usize) {
        self.writer.zeros(padding);
        self.writer.bytes(&[head.kind, head.level, padding as u8, 0]);
        self.writer.u32(head.context_id);
        self.writer.patch_u16(Header::AUTH_LENGTH_AT, token as u16);
    }

    /// Fills in the length of the unit, to which the caller will append `more` bytes.
    pub(crate) fn finish(mut self, more: usize) {
        // Callers cut their messages into fragments, so a longer unit cannot occur.
        let length = u16::try_from(self.writer.len() + more).unwrap_or(u16::MAX);
        self.writer.patch_u16(Header::LENGTH_AT, length);
    }
}

/// The head of an authentication trailer (MS-RPCE 2.2.2.11, sec_trailer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrailerHead {
    /// The mechanism: see [`crate::security::AuthType`].
    pub kind: u8,
    /// The level: see [`crate::security::Level`].
    pub level: u8,
    /// The length of the padding before the trailer, in bytes.
    pub padding: u8,
    /// The identifier of the security context.
    pub context_id: u32,
}

/// An authentication trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trailer<'a> {
    /// The trailer's head.
    pub head: TrailerHead,
    /// The trailer's offset in the unit.
    pub at: usize,
    /// A token, or the signature of a fragment.
    pub token: &'a [u8],
}

impl Trailer<'_> {
    /// The length of a trailer without its token, in bytes.
    pub const SIZE: usize = 8;
}

/// A unit whose common part is parsed.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// The header.
    pub header: Header,
    /// The bytes between header and trailer, without the trailer's padding.
    pub body: &'a [u8],
    /// The trailer, if there is one.
    pub trailer: Option<Trailer<'a>>,
}

impl<'a> Unit<'a> {
    /// Checks header and trailer. Bytes after the unit are ignored.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the unit is malformed.
    pub fn open(bytes: &'a [u8]) -> Result<Self, PduError> {
        let header = Header::read(bytes)?;
        let bytes = bytes.get(..header.length.into()).ok_or(PduError::Length(header.length))?;
        if header.auth_length == 0 {
            return Ok(Self { header, body: &bytes[Header::SIZE..], trailer: None });
        }
        // `Header::read` has checked that the unit has room for token and trailer.
        let (unsigned, token) = bytes.split_at(bytes.len() - usize::from(header.auth_length));
        let at = unsigned.len() - Trailer::SIZE;
        let mut reader = Reader::new(&unsigned[at..], header.order);
        let [kind, level, padding, _reserved] = reader.take()?;
        let head = TrailerHead { kind, level, padding, context_id: reader.u32()? };
        let body = Header::SIZE..at.checked_sub(padding.into()).ok_or(PduError::Trailer)?;
        let body = bytes.get(body).ok_or(PduError::Trailer)?;
        Ok(Self { header, body, trailer: Some(Trailer { head, at, token }) })
    }

    /// Opens a unit that is a whole message.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`], and [`PduError::Fragment`] for a fragment.
    pub fn whole(bytes: &'a [u8]) -> Result<Self, PduError> {
        let unit = Self::open(bytes)?;
        if unit.header.has(flags::WHOLE) { Ok(unit) } else { Err(PduError::Fragment) }
    }

    /// Returns the range that is encrypted at the privacy level: stub data and padding.
    ///
    /// # Errors
    ///
    /// [`PduError::Trailer`] if the unit has no trailer, or the body is too short.
    pub fn sealed(&self) -> Result<Range<usize>, PduError> {
        let at = self.trailer.ok_or(PduError::Trailer)?.at;
        let from = Header::SIZE + call::HEAD + if self.has_object() { call::OBJECT } else { 0 };
        if from > at { Err(PduError::Trailer) } else { Ok(from..at) }
    }

    fn has_object(&self) -> bool {
        self.header.kind == PduType::REQUEST && self.header.has(flags::OBJECT)
    }

    /// Checks the unit's type and begins to read its body.
    fn expect(&self, kinds: &[PduType]) -> Result<Reader<'a>, PduError> {
        if !kinds.contains(&self.header.kind) {
            return Err(PduError::Type(self.header.kind));
        }
        Ok(Reader::new(self.body, self.header.order))
    }
}
