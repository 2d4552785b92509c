//! Protocol data units of the connection-oriented protocol (C706 12.6) that open an association: bind, alter_context and their
//! answers.

use crate::uuid::{SyntaxId, Uuid};
use std::fmt;

/// PDU types (C706 12.6.4).
const BIND: u8 = 11;
const BIND_ACK: u8 = 12;
const ALTER_CONTEXT: u8 = 14;
const ALTER_CONTEXT_RESP: u8 = 15;
/// Bytes of the common header.
const HEADER: usize = 16;
/// First and last fragment: these units are never in pieces here.
const WHOLE: u8 = 3;
/// Contexts and transfer syntaxes that one unit may have.
const LIST_MAX: usize = 64;

/// What is wrong with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PduError {
    /// It ends before its contents do.
    Short,
    /// It is of another version than 5.
    Version(u8),
    /// It is of a type that is out of place.
    Type(u8),
    /// It is in a byte order or a character set that is not understood.
    Representation(u8),
    /// Its length field says something else than its length.
    Length(u16),
    /// It is a fragment.
    Fragment,
    /// It has more entries than a unit of this kind needs.
    TooMany(usize),
    /// Its secondary address is no text.
    Address,
}

impl fmt::Display for PduError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => write!(f, "the protocol data unit ends before its contents do"),
            Self::Version(version) => write!(f, "protocol version {version} is not 5"),
            Self::Type(kind) => write!(f, "a protocol data unit of type {kind} is out of place"),
            Self::Representation(drep) => write!(f, "data representation {drep:#04x} is not understood"),
            Self::Length(length) => write!(f, "a length of {length} bytes is not the unit's"),
            Self::Fragment => write!(f, "the unit is only a part"),
            Self::TooMany(count) => write!(f, "{count} entries are too many"),
            Self::Address => write!(f, "the secondary address is no text"),
        }
    }
}

impl std::error::Error for PduError {}

/// One presentation context that is proposed: an interface, and the transfer syntaxes that would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Its number.
    pub id: u16,
    /// The interface.
    pub interface: SyntaxId,
    /// The transfer syntaxes.
    pub transfers: Vec<SyntaxId>,
}

/// bind, or alter_context on an association that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    /// Whether it is alter_context.
    pub alters: bool,
    /// The number that the answer repeats.
    pub call_id: u32,
    /// The association group that it joins; 0 for a new one.
    pub group: u32,
    /// What is proposed.
    pub contexts: Vec<Context>,
}

/// What became of a proposed context (C706 12.6.3.1, p_result_t).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// 0 accepted, 2 refused by the provider, 3 something was negotiated.
    pub result: u16,
    /// Why it was refused.
    pub reason: u16,
    /// The transfer syntax taken.
    pub transfer: SyntaxId,
}

/// The context is accepted.
pub const ACCEPTED: u16 = 0;
/// The provider refuses the context.
pub const REFUSED: u16 = 2;
/// Not a context, but something that was negotiated beside them.
pub const NEGOTIATED: u16 = 3;
/// Refused: the interface is not known.
pub const UNKNOWN_INTERFACE: u16 = 1;
/// Refused: no proposed transfer syntax will do.
pub const NO_TRANSFER_SYNTAX: u16 = 2;

/// bind_ack, or the answer to alter_context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindAck {
    /// Whether it answers alter_context.
    pub alters: bool,
    /// The number of the unit that it answers.
    pub call_id: u32,
    /// The association group.
    pub group: u32,
    /// The endpoint for further connections.
    pub secondary_address: String,
    /// An outcome for each context, in their order.
    pub outcomes: Vec<Outcome>,
}

/// Reads little-endian values from front to back.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], PduError> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or(PduError::Short)?;
        self.0 = rest;
        Ok(*first)
    }

    fn u8(&mut self) -> Result<u8, PduError> {
        Ok(self.take::<1>()?[0])
    }

    fn u16(&mut self) -> Result<u16, PduError> {
        Ok(u16::from_le_bytes(self.take()?))
    }

    fn u32(&mut self) -> Result<u32, PduError> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn syntax(&mut self) -> Result<SyntaxId, PduError> {
        Ok(SyntaxId { uuid: Uuid::from_wire(self.take()?), version: self.u32()? })
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], PduError> {
        let (first, rest) = self.0.split_at_checked(count).ok_or(PduError::Short)?;
        self.0 = rest;
        Ok(first)
    }
}

fn put_syntax(bytes: &mut Vec<u8>, syntax: SyntaxId) {
    bytes.extend(syntax.uuid.to_wire());
    bytes.extend(syntax.version.to_le_bytes());
}

/// Begins a unit; [`finish`] fills in its length.
fn start(kind: u8, call_id: u32, group: u32) -> Vec<u8> {
    let mut bytes = vec![5, 0, kind, WHOLE, 0x10, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(call_id.to_le_bytes());
    // Fragments of the greatest length: there is no stream to cut them for.
    bytes.extend([0xff; 4]);
    bytes.extend(group.to_le_bytes());
    bytes
}

fn finish(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    bytes[8..10].copy_from_slice(&length.to_le_bytes());
    bytes
}

/// Checks the common header; returns the type, the call id, the group and what follows.
fn open(bytes: &[u8]) -> Result<(u8, u32, u32, Reader<'_>), PduError> {
    let mut reader = Reader(bytes);
    let [version, _minor, kind, flags] = reader.take()?;
    if version != 5 {
        return Err(PduError::Version(version));
    }
    if flags & WHOLE != WHOLE {
        return Err(PduError::Fragment);
    }
    let [representation, ..] = reader.take::<4>()?;
    if representation != 0x10 {
        return Err(PduError::Representation(representation));
    }
    let (length, auth_length) = (reader.u16()?, reader.u16()?);
    let call_id = reader.u32()?;
    // Frames are padded to eight bytes, so a unit may be followed by a few.
    if auth_length != 0 || usize::from(length) < HEADER || usize::from(length) > bytes.len() {
        return Err(PduError::Length(length));
    }
    reader.0 = &bytes[HEADER..usize::from(length)];
    reader.u32()?;
    let group = reader.u32()?;
    Ok((kind, call_id, group, reader))
}

impl Bind {
    /// The unit's bytes.
    pub fn to_wire(&self) -> Vec<u8> {
        let mut bytes = start(if self.alters { ALTER_CONTEXT } else { BIND }, self.call_id, self.group);
        bytes.extend([self.contexts.len() as u8, 0, 0, 0]);
        for context in &self.contexts {
            bytes.extend(context.id.to_le_bytes());
            bytes.extend([context.transfers.len() as u8, 0]);
            put_syntax(&mut bytes, context.interface);
            for transfer in &context.transfers {
                put_syntax(&mut bytes, *transfer);
            }
        }
        finish(bytes)
    }

    /// Reads the unit.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn from_wire(bytes: &[u8]) -> Result<Self, PduError> {
        let (kind, call_id, group, mut reader) = open(bytes)?;
        if kind != BIND && kind != ALTER_CONTEXT {
            return Err(PduError::Type(kind));
        }
        let [count, ..] = reader.take::<4>()?;
        if usize::from(count) > LIST_MAX {
            return Err(PduError::TooMany(count.into()));
        }
        let mut contexts = Vec::with_capacity(count.into());
        for _ in 0..count {
            let id = reader.u16()?;
            let [transfers, _reserved] = reader.take()?;
            if usize::from(transfers) > LIST_MAX {
                return Err(PduError::TooMany(transfers.into()));
            }
            let interface = reader.syntax()?;
            let transfers = (0..transfers).map(|_| reader.syntax()).collect::<Result<_, _>>()?;
            contexts.push(Context { id, interface, transfers });
        }
        Ok(Self { alters: kind == ALTER_CONTEXT, call_id, group, contexts })
    }
}

impl BindAck {
    /// The unit's bytes.
    pub fn to_wire(&self) -> Vec<u8> {
        let mut bytes = start(if self.alters { ALTER_CONTEXT_RESP } else { BIND_ACK }, self.call_id, self.group);
        let address = self.secondary_address.as_bytes();
        bytes.extend((address.len() as u16 + 1).to_le_bytes());
        bytes.extend(address);
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend([self.outcomes.len() as u8, 0, 0, 0]);
        for outcome in &self.outcomes {
            bytes.extend(outcome.result.to_le_bytes());
            bytes.extend(outcome.reason.to_le_bytes());
            put_syntax(&mut bytes, outcome.transfer);
        }
        finish(bytes)
    }

    /// Reads the unit.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn from_wire(bytes: &[u8]) -> Result<Self, PduError> {
        let (kind, call_id, group, mut reader) = open(bytes)?;
        if kind != BIND_ACK && kind != ALTER_CONTEXT_RESP {
            return Err(PduError::Type(kind));
        }
        let length = usize::from(reader.u16()?);
        let address = reader.bytes(length)?;
        let text = address.split(|&byte| byte == 0).next().unwrap_or_default();
        // Not made legible: that could make it longer than a unit can be.
        let secondary_address = str::from_utf8(text).map_err(|_| PduError::Address)?.to_owned();
        // What came so far begins at a multiple of 4 but for the two bytes of the length.
        reader.bytes((2 + length).next_multiple_of(4) - (2 + length))?;
        let count = reader.u8()?;
        reader.take::<3>()?;
        if usize::from(count) > LIST_MAX {
            return Err(PduError::TooMany(count.into()));
        }
        let outcome = |reader: &mut Reader<'_>| {
            Ok(Outcome { result: reader.u16()?, reason: reader.u16()?, transfer: reader.syntax()? })
        };
        let outcomes = (0..count).map(|_| outcome(&mut reader)).collect::<Result<_, _>>()?;
        Ok(Self { alters: kind == ALTER_CONTEXT_RESP, call_id, group, secondary_address, outcomes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uuid::FLAT;

    const NDR: SyntaxId = SyntaxId { uuid: Uuid(0x8a88_5d04_1ceb_11c9_9fe8_0800_2b10_4860), version: 2 };

    fn bind() -> Bind {
        let mapper = SyntaxId { uuid: Uuid(0xe1af_8308_5d1f_11c9_91a4_0800_2b14_a0fa), version: 3 };
        let contexts = vec![Context { id: 0, interface: mapper, transfers: vec![NDR] }];
        Bind { alters: false, call_id: 1, group: 0, contexts }
    }

    /// A bind to the endpoint mapper, byte by byte after C706 12.6.4.3 and its structures.
    #[test]
    fn a_bind_is_laid_out_as_the_standard_says() {
        let expected = [
            "05000b03 10000000 48000000 01000000",
            "ffffffff 00000000 01000000",
            "00000100 0883afe1 1f5dc911 91a40800 2b14a0fa 03000000",
            "045d888a eb1cc911 9fe80800 2b104860 02000000",
        ];
        let hex: String = bind().to_wire().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected.concat().replace(' ', ""));
    }

    fn ack() -> BindAck {
        let refused = Outcome { result: REFUSED, reason: NO_TRANSFER_SYNTAX, transfer: NDR };
        BindAck {
            alters: false,
            call_id: 7,
            group: 0x1234,
            secondary_address: "135".to_owned(),
            outcomes: vec![Outcome { result: ACCEPTED, reason: 0, transfer: FLAT }, refused],
        }
    }

    #[test]
    fn units_round_trip() {
        assert_eq!(Bind::from_wire(&bind().to_wire()), Ok(bind()));
        for address in ["", "1", "12", "135", "oxid-0123456789abcdef"] {
            let ack = BindAck { secondary_address: address.to_owned(), ..ack() };
            assert_eq!(BindAck::from_wire(&ack.to_wire()), Ok(ack));
        }
    }

    #[test]
    fn addresses_that_are_no_text_are_refused() {
        let longest = BindAck { secondary_address: "x".repeat(65_000), ..ack() };
        assert_eq!(BindAck::from_wire(&longest.to_wire()).as_ref(), Ok(&longest));
        for wrong in [vec![0xff], vec![0xff; 65_000], b"oxid-\xc3".to_vec()] {
            let text = "x".repeat(wrong.len());
            let mut bytes = BindAck { secondary_address: text, ..ack() }.to_wire();
            bytes[26..26 + wrong.len()].copy_from_slice(&wrong);
            assert_eq!(BindAck::from_wire(&bytes), Err(PduError::Address));
        }
    }

    #[test]
    fn padding_behind_a_unit_is_passed_over() {
        let mut bytes = ack().to_wire();
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        assert_eq!(BindAck::from_wire(&bytes), Ok(ack()));
    }

    #[test]
    fn every_shorter_unit_is_refused() {
        for bytes in [bind().to_wire(), ack().to_wire()] {
            for length in 0..bytes.len() {
                let mut short = bytes[..length].to_vec();
                assert!(Bind::from_wire(&short).is_err() && BindAck::from_wire(&short).is_err(), "{length} bytes");
                if length >= HEADER {
                    // Also when the length field agrees.
                    short[8..10].copy_from_slice(&(length as u16).to_le_bytes());
                    assert!(Bind::from_wire(&short).is_err() && BindAck::from_wire(&short).is_err(), "{length} bytes");
                }
            }
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic() {
        let mut state = 0x9e37_79b9_u32;
        for _ in 0..if cfg!(miri) { 200 } else { 20_000 } {
            let mut bytes = if state & 1 == 0 { bind().to_wire() } else { ack().to_wire() };
            for _ in 0..3 {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                let at = state as usize % bytes.len();
                bytes[at] = (state >> 16) as u8;
            }
            let _ = Bind::from_wire(&bytes);
            let _ = BindAck::from_wire(&bytes);
        }
    }
}
