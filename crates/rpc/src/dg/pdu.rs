//! Protocol data units of the connectionless protocol (C706 12.5): a common header of 80 bytes, and
//! a body.
//!
//! Readers accept both byte orders. Writers use the byte order in the header.

mod body;
#[cfg(test)]
mod tests;

pub(super) use body::MASKED_MAX;
pub use body::{Cancel, CancelAck, Fack, read_status, write_status};

use crate::octets::{ByteOrder, Reader, Short, Writer};
use crate::uuid::{SyntaxId, Uuid};
use std::fmt;

/// The type of a unit (C706 12.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PduType(pub u8);

impl PduType {
    /// Client: a fragment of a call's arguments.
    pub const REQUEST: Self = Self(0);
    /// Client: asks for the state of a call.
    pub const PING: Self = Self(1);
    /// Server: a fragment of a call's results.
    pub const RESPONSE: Self = Self(2);
    /// Server: a call has failed after it began.
    pub const FAULT: Self = Self(3);
    /// Server: the call is being executed.
    pub const WORKING: Self = Self(4);
    /// Server: the call's arguments are incomplete.
    pub const NOCALL: Self = Self(5);
    /// Server: the call was not begun.
    pub const REJECT: Self = Self(6);
    /// Client: the results have arrived.
    pub const ACK: Self = Self(7);
    /// Client: asks for a call to be cancelled.
    pub const CL_CANCEL: Self = Self(8);
    /// Client or server: reports the fragments that have arrived.
    pub const FACK: Self = Self(9);
    /// Server: the cancel has arrived.
    pub const CANCEL_ACK: Self = Self(10);
}

impl fmt::Debug for PduType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match *self {
            Self::REQUEST => "request",
            Self::PING => "ping",
            Self::RESPONSE => "response",
            Self::FAULT => "fault",
            Self::WORKING => "working",
            Self::NOCALL => "nocall",
            Self::REJECT => "reject",
            Self::ACK => "ack",
            Self::CL_CANCEL => "cl_cancel",
            Self::FACK => "fack",
            Self::CANCEL_ACK => "cancel_ack",
            Self(number) => return write!(f, "type {number}"),
        };
        f.write_str(name)
    }
}

/// The flags in the header's first set (C706 12.5.2.3).
pub mod flags {
    /// The last fragment of its message.
    pub const LAST: u8 = 0x02;
    /// One of several fragments.
    pub const FRAGMENT: u8 = 0x04;
    /// The fragment does not ask for a fack.
    pub const NO_FACK: u8 = 0x08;
    /// In a request: the call has no response.
    pub const MAYBE: u8 = 0x10;
    /// In a request: the call is idempotent.
    pub const IDEMPOTENT: u8 = 0x20;
    /// In a request: the call was broadcast to all servers of a network.
    pub const BROADCAST: u8 = 0x40;
}

/// The flags in the header's second set (C706 12.5.2.3).
pub mod flags2 {
    /// In a response: a cancel had arrived when the call ended.
    pub const CANCEL_PENDING: u8 = 0x02;
}

/// The reason why a unit is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PduError {
    /// The unit ends before its contents.
    Short,
    /// The version is not 4.
    Version(u8),
    /// The type is unknown.
    Type(PduType),
    /// The byte order, character set or floating-point format is not supported.
    Representation(u8, u8),
    /// The body's length exceeds the datagram.
    Length(u16),
    /// The body's version is not supported.
    Body(u32),
}

impl fmt::Display for PduError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => write!(f, "the protocol data unit is truncated"),
            Self::Version(version) => write!(f, "protocol version {version} is not 4"),
            Self::Type(kind) => write!(f, "the protocol data unit is of an unknown type: {kind:?}"),
            Self::Representation(first, second) => {
                write!(f, "data representation {first:#04x} {second:#04x} is not supported")
            }
            Self::Length(length) => write!(f, "the body's length, {length} bytes, exceeds the datagram"),
            Self::Body(version) => write!(f, "body version {version} is not supported"),
        }
    }
}

impl std::error::Error for PduError {}

impl From<Short> for PduError {
    fn from(_: Short) -> Self {
        Self::Short
    }
}

/// The value of a hint if the sender does not know the index in the receiver's table.
pub const NO_HINT: u16 = 0xffff;

/// The common header of all units (C706 12.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The unit's type.
    pub kind: PduType,
    /// The flags: see [`flags`].
    pub flags: u8,
    /// The further flags: see [`flags2`].
    pub flags2: u8,
    /// The byte order of everything in the unit.
    pub order: ByteOrder,
    /// The serial number: all units of a call have different numbers, including retransmissions.
    pub serial: u16,
    /// The object's UUID; 0 for none.
    pub object: Uuid,
    /// The interface.
    pub interface: SyntaxId,
    /// The client's activity, which has one outstanding call at a time.
    pub activity: Uuid,
    /// The server's boot time; 0 if the client does not know it.
    pub boot: u32,
    /// The sequence number of the activity's call.
    pub sequence: u32,
    /// The method's opnum.
    pub opnum: u16,
    /// The index of the interface at the server, or [`NO_HINT`].
    pub interface_hint: u16,
    /// The index of the activity at the server, or [`NO_HINT`].
    pub activity_hint: u16,
    /// The fragment's number; in a fack, the number of the last fragment before the first missing
    /// one.
    pub fragment: u16,
    /// The security provider; 0 for none.
    pub auth: u8,
}

impl Header {
    /// The length of a header, in bytes.
    pub const SIZE: usize = 80;
    const LENGTH_AT: usize = 74;

    /// Creates the header of an activity's call to a server about which the client knows nothing.
    pub const fn new(kind: PduType, activity: Uuid, sequence: u32) -> Self {
        Self {
            kind,
            flags: 0,
            flags2: 0,
            order: ByteOrder::Little,
            serial: 0,
            object: Uuid(0),
            interface: SyntaxId { uuid: Uuid(0), version: 0 },
            activity,
            boot: 0,
            sequence,
            opnum: 0,
            interface_hint: NO_HINT,
            activity_hint: NO_HINT,
            fragment: 0,
            auth: 0,
        }
    }

    /// Splits a datagram into header and body. Bytes after the body belong to the authentication.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the unit is malformed.
    pub fn read(datagram: &[u8]) -> Result<(Self, &[u8]), PduError> {
        let (head, rest) = datagram.split_at_checked(Self::SIZE).ok_or(PduError::Short)?;
        let [version, kind, flags, flags2, first, second, _, serial_high] =
            *head.first_chunk().ok_or(PduError::Short)?;
        if version != 4 {
            return Err(PduError::Version(version));
        }
        let kind = PduType(kind);
        if kind.0 > PduType::CANCEL_ACK.0 {
            return Err(PduError::Type(kind));
        }
        // Character set ASCII and floating-point format IEEE are the only supported ones.
        let order = match (first, second) {
            (0x10, 0) => ByteOrder::Little,
            (0x00, 0) => ByteOrder::Big,
            _ => return Err(PduError::Representation(first, second)),
        };
        let mut reader = Reader::new(&head[8..], order);
        let (object, interface, activity) = (reader.uuid()?, reader.uuid()?, reader.uuid()?);
        let (boot, version, sequence) = (reader.u32()?, reader.u32()?, reader.u32()?);
        let (opnum, interface_hint, activity_hint) = (reader.u16()?, reader.u16()?, reader.u16()?);
        let (length, fragment) = (reader.u16()?, reader.u16()?);
        let (auth, serial_low) = (reader.u8()?, reader.u8()?);
        let header = Self {
            kind,
            flags,
            flags2,
            order,
            serial: u16::from_be_bytes([serial_high, serial_low]),
            object,
            interface: SyntaxId { uuid: interface, version },
            activity,
            boot,
            sequence,
            opnum,
            interface_hint,
            activity_hint,
            fragment,
            auth,
        };
        Ok((header, rest.get(..length.into()).ok_or(PduError::Length(length))?))
    }

    /// Appends a unit. `body` writes the unit's body, of at most 65,535 bytes.
    pub(super) fn write_with(&self, bytes: &mut Vec<u8>, body: impl FnOnce(&mut Writer<'_>)) {
        let mut writer = Writer::new(bytes, self.order);
        let first = if self.order == ByteOrder::Little { 0x10 } else { 0 };
        let [serial_high, serial_low] = self.serial.to_be_bytes();
        writer.bytes(&[4, self.kind.0, self.flags, self.flags2, first, 0, 0, serial_high]);
        writer.uuid(self.object);
        writer.uuid(self.interface.uuid);
        writer.uuid(self.activity);
        writer.u32(self.boot);
        writer.u32(self.interface.version);
        writer.u32(self.sequence);
        for word in [self.opnum, self.interface_hint, self.activity_hint, 0, self.fragment] {
            writer.u16(word);
        }
        writer.bytes(&[self.auth, serial_low]);
        body(&mut writer);
        // Callers cut their messages into fragments, so a longer body cannot occur.
        let length = u16::try_from(writer.len() - Self::SIZE).unwrap_or(u16::MAX);
        writer.patch_u16(Self::LENGTH_AT, length);
    }

    /// Appends a unit with a body of at most 65,535 bytes.
    pub fn write(&self, bytes: &mut Vec<u8>, body: &[u8]) {
        self.write_with(bytes, |writer| writer.bytes(body));
    }

    /// Whether the header has all flags in `flags`.
    pub const fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }

    /// Whether the unit is the last or the only fragment.
    pub const fn is_last(&self) -> bool {
        !self.has(flags::FRAGMENT) || self.has(flags::LAST)
    }
}
