//! The packets of the software wire, byte by byte: docs/vi-wire.md.

mod claim;
mod expected;
mod fragment;
mod request;
mod sack;

pub use claim::MoveSeal;
pub(super) use claim::{MOVED_LENGTH, SEALED_MOVED_LENGTH, sealed_part};
pub(super) use expected::{Expected, WRITE_HEADER};
pub(super) use fragment::{FRAGMENT_BYTES, FRAGMENTED_MAX, to_fragment};
pub(super) use request::{REJECTION_LENGTH, RETRY_LENGTH, set_token};
pub use request::{TOKEN, Token};
pub(super) use sack::Sack;

use super::Marks;
use super::crc::crc32c;
use crate::memory::MemoryHandle;
use crate::spi::{Offer, Refusal};
use crate::{Error, RemoteAddress};

/// The version of the format.
pub const VERSION: u8 = 1;
/// The length of the header of every packet, in bytes.
pub const HEADER: usize = 36;
/// The length of a data packet's header without a position in the peer's memory, in bytes.
pub const DATA_HEADER: usize = 52;
/// The length of a position in the peer's memory, in bytes: a handle and an offset.
pub const PLACE: usize = 24;
/// The maximum length of a discriminator, in bytes.
pub const DISCRIMINATOR_MAX: usize = 256;
/// The maximum length of a rejection's reason, in bytes of UTF-8.
pub const REASON_MAX: usize = 256;
/// The maximum length of a handshake packet, in bytes.
pub const HANDSHAKE_MAX: usize = HEADER + request::FIXED + DISCRIMINATOR_MAX + 8 + Offer::PRIVATE_MAX;

/// The maximum number of data packets in flight, from the oldest unacknowledged one on. With
/// packets of 1200 bytes, this is more than a rate of 100 Mbit/s needs over a round trip of 250 ms.
pub const PACKETS_MAX: u64 = 4096;
/// The maximum length of an acknowledgement's further words, in bytes. Together with the word in
/// the header, these words have a bit for each packet in flight.
pub const FURTHER_MAX: usize = (PACKETS_MAX / 64 - 1) as usize * 8;
const _: () = assert!(HEADER + MARKS + FURTHER_MAX <= HANDSHAKE_MAX);
/// The length of the counts of marks in an acknowledgement, in bytes.
const MARKS: usize = 8;

const KIND: usize = 5;
const OPERATION: usize = 6;
const FLAGS: usize = 7;

const REQUEST: u8 = 0x01;
const ACCEPT: u8 = 0x02;
const REJECT: u8 = 0x03;
const RETRY: u8 = 0x04;
const MOVED: u8 = 0x05;
const ACK: u8 = 0x10;
const PING: u8 = 0x11;
const PROBE: u8 = 0x12;
const PROBED: u8 = 0x13;
const CLOSE: u8 = 0x14;
const MARKED: u8 = 0x15;
const DATA: u8 = 0x20;
const FRAGMENT: u8 = 0x21;

const LAST: u8 = 1;
const IMMEDIATE: u8 = 2;
const PLACED: u8 = 4;

/// The header of every packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The receiver's connection id; 0 in a request.
    pub to: u64,
    /// The number of a data packet or of the packet that a fragment belongs to; 0 in other packets.
    pub number: u32,
    /// The number of the next data packet that the sender expects. The sender has processed all
    /// packets before it.
    pub ack: u32,
    /// Bit `i`: packet `ack + 1 + i` has arrived.
    pub sack: u64,
    /// The number of bytes of datagrams that the sender buffers until it reads them. At most this
    /// number of bytes may be in flight to the sender from `ack` on; over long round trips, at most
    /// a multiple of it.
    pub window: u32,
}

/// The action of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Action {
    /// A part of a message.
    Send = 1,
    /// A part of an RDMA write.
    Write = 2,
    /// A request for an RDMA read.
    Read = 3,
    /// A part of the answer to a request for an RDMA read.
    Answer = 4,
    /// The refusal of an operation of the peer.
    Refuse = 5,
    /// No action: the sender's connection is broken, and the content of the packet with this number
    /// is lost.
    Void = 6,
}

/// A data packet without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// The action of the packet.
    pub action: Action,
    /// The operation's number in its initiator's count, also in answers and refusals.
    pub operation: u32,
    /// The offset of this part in the message or RDMA, in bytes.
    pub offset: u32,
    /// The length of the message or RDMA, in bytes.
    pub total: u32,
    /// Whether this part is the last.
    pub is_last: bool,
    /// The immediate data, in the last part; in a refusal, the reason.
    pub immediate: Option<u32>,
    /// The position in the peer's memory, in the first part of an RDMA.
    pub place: Option<RemoteAddress>,
}

/// The body of a packet.
#[derive(Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// Asks for a connection.
    Request {
        /// The connection id that the sender chose.
        from: u64,
        /// The token of the receiver's last answer.
        token: Token,
        /// The discriminator that the sender asks for.
        discriminator: &'a str,
        /// The sender's offer.
        offer: Offer,
    },
    /// Grants a request.
    Accept {
        /// The connection id that the sender chose.
        from: u64,
        /// The sender's offer.
        offer: Offer,
    },
    /// Refuses a request.
    Reject {
        /// The reason, for people.
        why: &'a str,
    },
    /// Asks for the request again, with this token.
    Retry {
        /// The token.
        token: Token,
    },
    /// Says that the sender may have another address now, and returns the token of a `Retry` that
    /// was sent there.
    Moved {
        /// The sender's connection id.
        from: u64,
        /// The token; zeros while the sender has none.
        token: Token,
        /// The seal, if the connection has a key.
        seal: Option<MoveSeal>,
    },
    /// Only acknowledges packets. The header has the first word of the selective acknowledgement,
    /// and this body has the further words.
    Ack {
        /// The words, of eight bytes each: see `Sack`.
        further: &'a [u8],
    },
    /// Acknowledges as `Ack` does, and reports the marks that the sender has received.
    Marked {
        /// The marks.
        marks: Marks,
        /// The words, as in `Ack`.
        further: &'a [u8],
    },
    /// Asks for an `Ack` or `Marked` at once.
    Ping,
    /// Tests whether packets of the probe's length get through.
    Probe,
    /// Confirms a probe.
    Probed {
        /// The length of the probe, in bytes.
        length: u32,
    },
    /// Ends the connection.
    Close {
        /// The reason.
        reason: u8,
    },
    /// Carries data.
    Data(DataHeader, &'a [u8]),
    /// Carries a part of a data packet.
    Fragment {
        /// The number of the fragment within the data packet.
        index: u32,
        /// The length of the data packet, in bytes.
        length: u32,
        /// The bytes of the fragment.
        bytes: &'a [u8],
    },
}

/// The reason why a datagram is not a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadPacket {
    /// The datagram is shorter than the header, or than its kind requires.
    Short,
    /// The checksum is wrong.
    Damaged,
    /// The version is not [`VERSION`].
    Version,
    /// The kind of packet does not exist.
    Kind,
    /// The fields contradict each other.
    Fields,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?).into())
}

impl Action {
    fn from_wire(value: u8) -> Option<Self> {
        [Self::Send, Self::Write, Self::Read, Self::Answer, Self::Refuse, Self::Void]
            .into_iter()
            .find(|action| *action as u8 == value)
    }
}

/// Whether a datagram looks like a rejection without a text. The check is faster than [`parse`].
pub(super) fn may_be_rejection(bytes: &[u8]) -> bool {
    bytes.len() == REJECTION_LENGTH && bytes[KIND] == REJECT
}

/// Whether a datagram looks like a client's sealed claim to have moved. The check is faster than
/// [`parse`].
#[inline]
pub(super) fn may_be_sealed_claim(bytes: &[u8]) -> bool {
    bytes.len() == SEALED_MOVED_LENGTH && bytes[KIND] == MOVED
}

/// Reads a packet, and checks all of it.
///
/// # Errors
///
/// The first fault found.
pub fn parse(bytes: &[u8]) -> Result<(Header, Body<'_>), BadPacket> {
    let (fixed, rest) = bytes.split_at_checked(HEADER).ok_or(BadPacket::Short)?;
    let words = |at| u32_at(fixed, at).ok_or(BadPacket::Short);
    if words(0)? != crc32c(&bytes[4..]) {
        return Err(BadPacket::Damaged);
    }
    if fixed[4] != VERSION {
        return Err(BadPacket::Version);
    }
    let header = Header {
        to: u64_at(fixed, 8).ok_or(BadPacket::Short)?,
        number: words(16)?,
        ack: words(20)?,
        sack: u64_at(fixed, 24).ok_or(BadPacket::Short)?,
        window: words(32)?,
    };
    if fixed[KIND] == DATA {
        let data = data(fixed[OPERATION], fixed[FLAGS], bytes)?;
        let payload = &bytes[data.header_length()..];
        check(&data, payload.len())?;
        return Ok((header, Body::Data(data, payload)));
    }
    let body = control(fixed[KIND], rest)?;
    let is_request = matches!(body, Body::Request { .. });
    let has_number = header.number != 0 && !matches!(body, Body::Fragment { .. });
    if fixed[OPERATION] != 0 || fixed[FLAGS] != 0 || has_number || is_request != (header.to == 0) {
        return Err(BadPacket::Fields);
    }
    Ok((header, body))
}

fn control(kind: u8, rest: &[u8]) -> Result<Body<'_>, BadPacket> {
    let nothing = |body| if rest.is_empty() { Ok(body) } else { Err(BadPacket::Fields) };
    match kind {
        ACK if rest.len() <= FURTHER_MAX && rest.len().is_multiple_of(8) => Ok(Body::Ack { further: rest }),
        ACK => Err(BadPacket::Fields),
        MARKED => {
            let (capable, congested) =
                (u32_at(rest, 0).ok_or(BadPacket::Short)?, u32_at(rest, 4).ok_or(BadPacket::Short)?);
            match control(ACK, &rest[MARKS..])? {
                Body::Ack { further } => Ok(Body::Marked { marks: Marks { capable, congested }, further }),
                _ => Err(BadPacket::Kind),
            }
        }
        PING => nothing(Body::Ping),
        PROBE => {
            let is_zero = rest.iter().all(|byte| *byte == 0);
            if is_zero { Ok(Body::Probe) } else { Err(BadPacket::Fields) }
        }
        PROBED => match rest.as_array() {
            Some(length) => Ok(Body::Probed { length: u32::from_le_bytes(*length) }),
            None => Err(BadPacket::Fields),
        },
        CLOSE => match rest {
            [reason] => Ok(Body::Close { reason: *reason }),
            _ => Err(BadPacket::Fields),
        },
        FRAGMENT => fragment::read(rest),
        REQUEST => request::read(rest),
        ACCEPT => {
            let from = u64_at(rest, 0).ok_or(BadPacket::Short)?;
            let offer = Offer::from_bytes(&rest[8..]).filter(|_| from != 0).ok_or(BadPacket::Fields)?;
            Ok(Body::Accept { from, offer })
        }
        REJECT => {
            let why = std::str::from_utf8(rest).ok().filter(|why| why.len() <= REASON_MAX);
            Ok(Body::Reject { why: why.ok_or(BadPacket::Fields)? })
        }
        RETRY => rest.as_array().map(|token| Body::Retry { token: *token }).ok_or(BadPacket::Fields),
        MOVED => claim::read(rest),
        _ => Err(BadPacket::Kind),
    }
}

fn data(action: u8, flags: u8, bytes: &[u8]) -> Result<DataHeader, BadPacket> {
    let words = |at| u32_at(bytes, at).ok_or(BadPacket::Short);
    let action = Action::from_wire(action).ok_or(BadPacket::Fields)?;
    if flags & !(LAST | IMMEDIATE | PLACED) != 0 {
        return Err(BadPacket::Fields);
    }
    let (immediate, has_immediate) = (words(48)?, flags & IMMEDIATE != 0);
    if immediate != 0 && !has_immediate {
        return Err(BadPacket::Fields);
    }
    let place = if flags & PLACED != 0 {
        let handle = bytes.get(DATA_HEADER..).and_then(|rest| rest.first_chunk()).ok_or(BadPacket::Short)?;
        let offset = u64_at(bytes, DATA_HEADER + 16).ok_or(BadPacket::Short)?;
        Some(RemoteAddress { handle: MemoryHandle::from_bytes(*handle), offset })
    } else {
        None
    };
    Ok(DataHeader {
        action,
        operation: words(36)?,
        offset: words(40)?,
        total: words(44)?,
        is_last: flags & LAST != 0,
        immediate: has_immediate.then_some(immediate),
        place,
    })
}

/// Checks that the fields of a data packet do not contradict each other.
fn check(data: &DataHeader, payload: usize) -> Result<(), BadPacket> {
    let end = u64::from(data.offset) + payload as u64;
    let total = u64::from(data.total);
    let is_part = end <= total && data.is_last == (end == total) && (payload > 0 || total == 0);
    let is_alone = data.offset == 0 && payload == 0 && data.is_last;
    let has_fitting_immediate = data.immediate.is_none() || data.is_last;
    let fits = match data.action {
        Action::Send => is_part && data.place.is_none() && has_fitting_immediate,
        Action::Write => is_part && data.place.is_some() == (data.offset == 0) && has_fitting_immediate,
        Action::Read => is_alone && data.place.is_some() && data.immediate.is_none(),
        Action::Answer => is_part && data.place.is_none() && data.immediate.is_none(),
        Action::Refuse => is_alone && total == 0 && data.place.is_none() && data.refusal().is_some(),
        Action::Void => {
            is_alone && total == 0 && data.operation == 0 && data.place.is_none() && data.immediate.is_none()
        }
    };
    if fits { Ok(()) } else { Err(BadPacket::Fields) }
}

impl DataHeader {
    /// Returns the number of bytes before the payload.
    pub fn header_length(&self) -> usize {
        DATA_HEADER + if self.place.is_some() { PLACE } else { 0 }
    }

    /// Returns the reason of a refused operation. `None` if the packet has no valid reason.
    pub fn refusal(&self) -> Option<Refusal> {
        Some(match self.immediate? {
            1 => Refusal::ReceiverNotReady,
            2 => Refusal::TooLong,
            3 => Refusal::Protection,
            _ => return None,
        })
    }
}

/// Returns the number that stands for a refusal's reason on the wire.
pub(super) fn refusal_code(refusal: Refusal) -> u32 {
    match refusal {
        Refusal::ReceiverNotReady => 1,
        Refusal::TooLong => 2,
        Refusal::Protection => 3,
    }
}

fn put(into: &mut [u8], at: usize, bytes: &[u8]) {
    into[at..at + bytes.len()].copy_from_slice(bytes);
}

fn put_header(into: &mut [u8], header: &Header, kind: u8, operation: u8, flags: u8) {
    // One check of the length replaces one for each field.
    let into = &mut into[..HEADER];
    put(into, 0, &[0, 0, 0, 0, VERSION, kind, operation, flags]);
    put(into, 8, &header.to.to_le_bytes());
    put(into, 16, &header.number.to_le_bytes());
    put(into, 20, &header.ack.to_le_bytes());
    put(into, 24, &header.sack.to_le_bytes());
    put(into, 32, &header.window.to_le_bytes());
}

/// Writes the checksum of an otherwise complete packet, which has at least a header. Returns the
/// packet's length.
pub fn seal(packet: &mut [u8]) -> usize {
    let sum = crc32c(&packet[4..]);
    put(packet, 0, &sum.to_le_bytes());
    packet.len()
}

/// Writes a data packet except for its payload and checksum. Returns the offset of the payload.
/// `into` has room for the packet.
pub(super) fn put_data(into: &mut [u8], header: &Header, data: &DataHeader) -> usize {
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    let flags =
        flag(data.is_last, LAST) | flag(data.immediate.is_some(), IMMEDIATE) | flag(data.place.is_some(), PLACED);
    let (fixed, rest) = into.split_at_mut(DATA_HEADER);
    put_header(fixed, header, DATA, data.action as u8, flags);
    put(fixed, 36, &data.operation.to_le_bytes());
    put(fixed, 40, &data.offset.to_le_bytes());
    put(fixed, 44, &data.total.to_le_bytes());
    put(fixed, 48, &data.immediate.unwrap_or(0).to_le_bytes());
    if let Some(place) = &data.place {
        let room = &mut rest[..PLACE];
        put(room, 0, &place.handle.to_bytes());
        put(room, 16, &place.offset.to_le_bytes());
    }
    data.header_length()
}

/// Writes a packet. Returns its length.
///
/// # Errors
///
/// [`Error::TooLong`] when `into` is too short, or a text or the private data too long for a
/// packet.
pub fn write(into: &mut [u8], header: &Header, body: &Body<'_>) -> Result<usize, Error> {
    let mut tail = Vec::new();
    let kind = match body {
        Body::Ack { further } => {
            within(further.len(), FURTHER_MAX)?;
            tail.extend(*further);
            ACK
        }
        Body::Marked { marks, further } => {
            within(further.len(), FURTHER_MAX)?;
            tail.extend(marks.capable.to_le_bytes());
            tail.extend(marks.congested.to_le_bytes());
            tail.extend(*further);
            MARKED
        }
        Body::Ping => PING,
        Body::Probe => PROBE,
        Body::Probed { length } => {
            tail.extend(length.to_le_bytes());
            PROBED
        }
        Body::Close { reason } => {
            tail.push(*reason);
            CLOSE
        }
        Body::Request { from, token, discriminator, offer } => {
            within(discriminator.len(), DISCRIMINATOR_MAX)?;
            within(offer.private.len(), Offer::PRIVATE_MAX)?;
            request::write(&mut tail, *from, token, discriminator, offer);
            REQUEST
        }
        Body::Accept { from, offer } => {
            within(offer.private.len(), Offer::PRIVATE_MAX)?;
            tail.extend(from.to_le_bytes());
            tail.extend(offer.to_bytes());
            ACCEPT
        }
        Body::Reject { why } => {
            within(why.len(), REASON_MAX)?;
            tail.extend(why.as_bytes());
            REJECT
        }
        Body::Retry { token } => {
            tail.extend(token);
            RETRY
        }
        Body::Moved { from, token, seal } => {
            claim::write(&mut tail, *from, token, *seal);
            MOVED
        }
        Body::Fragment { index, length, bytes } => {
            fragment::write(&mut tail, *index, *length, bytes);
            FRAGMENT
        }
        Body::Data(data, payload) => {
            within(data.header_length() + payload.len(), into.len())?;
            let begin = put_data(into, header, data);
            put(into, begin, payload);
            return Ok(seal(&mut into[..begin + payload.len()]));
        }
    };
    within(HEADER + tail.len(), into.len())?;
    put_header(into, header, kind, 0, 0);
    put(into, HEADER, &tail);
    Ok(seal(&mut into[..HEADER + tail.len()]))
}

/// Writes a probe of exactly `into.len()` bytes, at least the header's length.
pub(super) fn write_probe(into: &mut [u8], header: &Header) -> usize {
    into.fill(0);
    put_header(into, header, PROBE, 0, 0);
    seal(into)
}

fn within(length: usize, limit: usize) -> Result<(), Error> {
    if length <= limit { Ok(()) } else { Err(Error::TooLong { length: length as u64, limit: limit as u64 }) }
}
