//! The units that open an association: bind, alter_context and their answers (C706 12.6.4.1 to
//! 12.6.4.5).

use super::{Header, Message, PduError, PduType, TrailerHead, Unit, flags};
use crate::octets::{Reader, Writer};
use crate::uuid::{SyntaxId, Uuid};

/// The maximum number of contexts, and of transfer syntaxes, in one unit.
const LIST_MAX: usize = 64;
/// The maximum number of protocol versions in a bind_nak.
const VERSIONS_MAX: usize = 16;

/// A proposed presentation context: an interface and its acceptable transfer syntaxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The context's identifier.
    pub id: u16,
    /// The interface.
    pub interface: SyntaxId,
    /// The transfer syntaxes.
    pub transfers: Vec<SyntaxId>,
}

/// The longest fragments of one side, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentSizes {
    /// The longest sent fragment.
    pub sent: u16,
    /// The longest accepted fragment.
    pub received: u16,
}

impl FragmentSizes {
    /// The longest fragments whose length fits 16 bits and is a multiple of 8.
    pub const GREATEST: Self = Self { sent: 0xfff8, received: 0xfff8 };
    /// The length of fragments that every implementation accepts (C706 12.6.3.1, MustRecvFragSize).
    pub const LEAST: u16 = 1432;
    /// The length that this server assumes, as Windows does, if a client announces less than
    /// [`Self::LEAST`].
    const INSTEAD: u16 = 2048;

    /// Returns the length of the longest fragment that both sides support. A client's length below
    /// [`Self::LEAST`], which C706 forbids, counts as [`Self::INSTEAD`]. Windows raises every
    /// length below [`Self::INSTEAD`]. This function raises no length from [`Self::LEAST`] on,
    /// because the client may be unable to receive more.
    pub(crate) fn agreed(self, theirs: Self) -> u16 {
        let least = |sizes: Self| sizes.sent.min(sizes.received);
        let theirs = Some(least(theirs) & !7).filter(|length| *length >= Self::LEAST);
        theirs.unwrap_or(Self::INSTEAD).min(least(self).max(Self::LEAST)) & !7
    }
}

/// A bind, or an alter_context on an existing association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    /// Whether the unit is an alter_context.
    pub alters: bool,
    /// The header's flags without the flags of fragments: see [`flags`].
    pub flags: u8,
    /// The call identifier, which the answer repeats.
    pub call_id: u32,
    /// The fragments' lengths.
    pub sizes: FragmentSizes,
    /// The association group to join; 0 for a new one.
    pub group: u32,
    /// The proposed contexts.
    pub contexts: Vec<Context>,
}

/// The outcome of a proposed context (C706 12.6.3.1, p_result_t).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The result: 0 accepted, 2 refused by the provider, 3 features were negotiated.
    pub result: u16,
    /// The reason for a refusal, or the negotiated features.
    pub reason: u16,
    /// The chosen transfer syntax.
    pub transfer: SyntaxId,
}

/// The context is accepted.
pub const ACCEPTED: u16 = 0;
/// The provider refuses the context.
pub const REFUSED: u16 = 2;
/// The entry holds negotiated features rather than a context.
pub const NEGOTIATED: u16 = 3;
/// The refusal for an unknown interface.
pub const UNKNOWN_INTERFACE: u16 = 1;
/// The refusal for lack of a supported transfer syntax.
pub const NO_TRANSFER_SYNTAX: u16 = 2;
/// The reason code of a refusal because a limit is reached (C706 12.6.3.1, local_limit_exceeded).
pub const LIMIT_EXCEEDED: u16 = 3;

impl Outcome {
    const NO_SYNTAX: SyntaxId = SyntaxId { uuid: Uuid(0), version: 0 };

    /// Creates the outcome of an accepted context.
    pub const fn accepted(transfer: SyntaxId) -> Self {
        Self { result: ACCEPTED, reason: 0, transfer }
    }

    /// Creates the outcome of a refused context.
    pub const fn refused(reason: u16) -> Self {
        Self { result: REFUSED, reason, transfer: Self::NO_SYNTAX }
    }

    /// Creates the outcome of a negotiation of features.
    pub const fn negotiated(features: u16) -> Self {
        Self { result: NEGOTIATED, reason: features, transfer: Self::NO_SYNTAX }
    }

    /// Accepts the first transfer syntax of `supported` that the client has proposed, or refuses
    /// the context if the client has proposed none of them.
    pub fn choose(context: &Context, supported: &[SyntaxId]) -> Self {
        let chosen = supported.iter().find(|syntax| context.transfers.contains(syntax));
        chosen.map_or(Self::refused(NO_TRANSFER_SYNTAX), |syntax| Self::accepted(*syntax))
    }
}

/// A bind_ack or alter_context_resp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindAck {
    /// Whether the unit answers an alter_context.
    pub alters: bool,
    /// The header's flags without the flags of fragments. In a bind_ack these are the flags that
    /// the server grants.
    pub flags: u8,
    /// The call identifier of the unit that is answered.
    pub call_id: u32,
    /// The fragments' lengths.
    pub sizes: FragmentSizes,
    /// The association group.
    pub group: u32,
    /// The endpoint for further connections.
    pub secondary_address: String,
    /// The outcomes in the order of the proposed contexts.
    pub outcomes: Vec<Outcome>,
}

/// A bind_nak: the bind is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindNak {
    /// The call identifier of the bind.
    pub call_id: u32,
    /// The reason: one of the constants below.
    pub reason: u16,
    /// The protocol versions that the server supports.
    pub versions: Vec<(u8, u8)>,
}

/// The authentication token of a bind, an alter_context, or the answer to one, and the head of the
/// trailer that holds it.
pub(crate) type Token<'a> = Option<(TrailerHead, &'a [u8])>;

/// Appends a unit with its token.
fn write(bytes: &mut Vec<u8>, header: &Header, token: Token<'_>, body: impl FnOnce(&mut Writer<'_>)) {
    let mut message = Message::begin(bytes, &Header { flags: header.flags | flags::WHOLE, ..*header });
    body(message.body());
    if let Some((head, token)) = token {
        let length = message.body().len();
        message.trailer(&head, length.next_multiple_of(4) - length, token.len());
        message.body().bytes(token);
    }
    message.finish(0);
}

fn put_sizes(body: &mut Writer<'_>, sizes: FragmentSizes) {
    body.u16(sizes.sent);
    body.u16(sizes.received);
}

fn sizes(reader: &mut Reader<'_>) -> Result<FragmentSizes, PduError> {
    Ok(FragmentSizes { sent: reader.u16()?, received: reader.u16()? })
}

/// Reads the count of a list and the reserved bytes after it.
fn count(reader: &mut Reader<'_>) -> Result<u8, PduError> {
    let count = reader.u8()?;
    if usize::from(count) > LIST_MAX {
        return Err(PduError::TooMany(count.into()));
    }
    // Some implementations omit the reserved bytes of an empty list.
    if count > 0 {
        reader.bytes(3)?;
    }
    Ok(count)
}

impl Bind {
    const TYPES: [PduType; 2] = [PduType::BIND, PduType::ALTER_CONTEXT];

    /// Returns the unit's bytes.
    pub fn to_wire(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes, None);
        bytes
    }

    /// Appends the unit.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>, token: Token<'_>) {
        let header = Header::new(Self::TYPES[usize::from(self.alters)], self.flags, self.call_id);
        write(bytes, &header, token, |body| {
            put_sizes(body, self.sizes);
            body.u32(self.group);
            body.bytes(&[self.contexts.len() as u8, 0, 0, 0]);
            for context in &self.contexts {
                body.u16(context.id);
                body.bytes(&[context.transfers.len() as u8, 0]);
                body.syntax(context.interface);
                for transfer in &context.transfers {
                    body.syntax(*transfer);
                }
            }
        });
    }

    /// Reads the unit.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the unit is malformed.
    pub fn from_wire(bytes: &[u8]) -> Result<Self, PduError> {
        Self::read(&Unit::whole(bytes)?)
    }

    /// Reads the unit.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the unit is malformed.
    pub fn read(unit: &Unit<'_>) -> Result<Self, PduError> {
        let mut reader = unit.expect(&Self::TYPES)?;
        let (sizes, group) = (sizes(&mut reader)?, reader.u32()?);
        let count = count(&mut reader)?;
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
        let Header { kind, call_id, .. } = unit.header;
        let flags = unit.header.flags & !flags::WHOLE;
        Ok(Self { alters: kind == PduType::ALTER_CONTEXT, flags, call_id, sizes, group, contexts })
    }
}

impl BindAck {
    const TYPES: [PduType; 2] = [PduType::BIND_ACK, PduType::ALTER_CONTEXT_RESP];

    /// Returns the unit's bytes.
    pub fn to_wire(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes, None);
        bytes
    }

    /// Appends the unit.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>, token: Token<'_>) {
        let header = Header::new(Self::TYPES[usize::from(self.alters)], self.flags, self.call_id);
        write(bytes, &header, token, |body| {
            put_sizes(body, self.sizes);
            body.u32(self.group);
            let address = self.secondary_address.as_bytes();
            let end = usize::from(!address.is_empty());
            body.u16((address.len() + end) as u16);
            body.bytes(address);
            body.zeros(end);
            body.align(4);
            body.bytes(&[self.outcomes.len() as u8, 0, 0, 0]);
            for outcome in &self.outcomes {
                body.u16(outcome.result);
                body.u16(outcome.reason);
                body.syntax(outcome.transfer);
            }
        });
    }

    /// Reads the unit.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the unit is malformed.
    pub fn from_wire(bytes: &[u8]) -> Result<Self, PduError> {
        Self::read(&Unit::whole(bytes)?)
    }

    /// Reads the unit.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the unit is malformed.
    pub fn read(unit: &Unit<'_>) -> Result<Self, PduError> {
        let mut reader = unit.expect(&Self::TYPES)?;
        let (sizes, group, length) = (sizes(&mut reader)?, reader.u32()?, reader.u16()?);
        let address = reader.bytes(length.into())?;
        let text = address.split(|&byte| byte == 0).next().unwrap_or_default();
        // Invalid UTF-8 is an error. A conversion that replaces it could yield an address that is
        // too long for a unit.
        let secondary_address = str::from_utf8(text).map_err(|_| PduError::Address)?.to_owned();
        // The padding counts from the beginning of the unit. Here it counts from the body, which is
        // equivalent because the header's length is a multiple of 4.
        reader.align(4)?;
        let outcome = |reader: &mut Reader<'_>| {
            Ok(Outcome { result: reader.u16()?, reason: reader.u16()?, transfer: reader.syntax()? })
        };
        let outcomes = (0..count(&mut reader)?).map(|_| outcome(&mut reader)).collect::<Result<_, PduError>>()?;
        let Header { kind, call_id, .. } = unit.header;
        let flags = unit.header.flags & !flags::WHOLE;
        let alters = kind == PduType::ALTER_CONTEXT_RESP;
        Ok(Self { alters, flags, call_id, sizes, group, secondary_address, outcomes })
    }
}

impl BindNak {
    /// No reason is given.
    pub const NOT_SPECIFIED: u16 = 0;
    /// The server has no memory for another association (C706: local_limit_exceeded).
    pub const LIMIT: u16 = 2;
    /// The server does not support this protocol version.
    pub const VERSION: u16 = 4;
    /// The server does not support this security provider (MS-RPCE 2.2.2.5).
    pub const AUTH_TYPE: u16 = 8;
    /// The authentication failed (MS-RPCE 2.2.2.5, invalid_checksum).
    pub const CHECKSUM: u16 = 9;

    /// Creates a refusal by a server of version 5.0.
    pub fn new(call_id: u32, reason: u16) -> Self {
        Self { call_id, reason, versions: vec![(5, 0)] }
    }

    /// Appends the unit.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        write(bytes, &Header::new(PduType::BIND_NAK, 0, self.call_id), None, |body| {
            body.u16(self.reason);
            body.u8(self.versions.len() as u8);
            for (major, minor) in &self.versions {
                body.bytes(&[*major, *minor]);
            }
            body.align(4);
        });
    }

    /// Reads the unit. An extended error after the versions is ignored.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the unit is malformed.
    pub fn read(unit: &Unit<'_>) -> Result<Self, PduError> {
        let mut reader = unit.expect(&[PduType::BIND_NAK])?;
        let reason = reader.u16()?;
        // Some implementations omit the list of versions.
        let count = if reader.rest().is_empty() { 0 } else { reader.u8()? };
        if usize::from(count) > VERSIONS_MAX {
            return Err(PduError::TooMany(count.into()));
        }
        let version = |_| reader.take().map(|[major, minor]| (major, minor));
        let versions = (0..count).map(version).collect::<Result<_, _>>()?;
        Ok(Self { call_id: unit.header.call_id, reason, versions })
    }
}
