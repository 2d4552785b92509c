//! The units of calls: request, response and fault (C706 12.6.4.7 to 12.6.4.10).

use super::{Header, Message, PduError, PduType, Unit, flags};
use crate::status::Status;
use crate::uuid::Uuid;

/// The length of the fields that follow the header in a request, response and fault, in bytes.
pub(crate) const HEAD: usize = 8;
/// The length of an object UUID, in bytes.
pub(crate) const OBJECT: usize = 16;

/// A fragment of a call's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The length of the stub data from this fragment on, in bytes; 0 if the sender does not tell
    /// the length.
    pub alloc_hint: u32,
    /// The presentation context: interface and transfer syntax.
    pub context_id: u16,
    /// The method's opnum.
    pub opnum: u16,
    /// The object's UUID.
    pub object: Option<Uuid>,
    /// The arguments, or a part of them, in the transfer syntax.
    pub stub: &'a [u8],
}

impl<'a> Request<'a> {
    /// Reads the unit.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the unit is malformed.
    pub fn read(unit: &Unit<'a>) -> Result<Self, PduError> {
        let mut reader = unit.expect(&[PduType::REQUEST])?;
        let (alloc_hint, context_id, opnum) = (reader.u32()?, reader.u16()?, reader.u16()?);
        let object = if unit.has_object() { Some(reader.uuid()?) } else { None };
        Ok(Self { alloc_hint, context_id, opnum, object, stub: reader.rest() })
    }

    /// Begins a unit, up to the stub data.
    pub(crate) fn begin<'b>(&self, bytes: &'b mut Vec<u8>, header: &Header) -> Message<'b> {
        let object = if self.object.is_some() { flags::OBJECT } else { 0 };
        let mut message = Message::begin(bytes, &Header { flags: header.flags | object, ..*header });
        let body = message.body();
        body.u32(self.alloc_hint);
        body.u16(self.context_id);
        body.u16(self.opnum);
        if let Some(object) = self.object {
            body.uuid(object);
        }
        message
    }

    /// Appends a unit without a trailer. The stub data has to fit one unit.
    pub fn write(&self, bytes: &mut Vec<u8>, header: &Header) {
        let mut message = self.begin(bytes, &Header { kind: PduType::REQUEST, ..*header });
        message.body().bytes(self.stub);
        message.finish(0);
    }
}

/// A fragment of a call's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// The length of the stub data from this fragment on, as in [`Request`].
    pub alloc_hint: u32,
    /// The presentation context of the request.
    pub context_id: u16,
    /// The number of cancels received for the call.
    pub cancels: u8,
    /// The results, or a part of them, in the transfer syntax.
    pub stub: &'a [u8],
}

impl<'a> Response<'a> {
    /// Reads the unit.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the unit is malformed.
    pub fn read(unit: &Unit<'a>) -> Result<Self, PduError> {
        let mut reader = unit.expect(&[PduType::RESPONSE])?;
        let (alloc_hint, context_id, [cancels, _reserved]) = (reader.u32()?, reader.u16()?, reader.take()?);
        Ok(Self { alloc_hint, context_id, cancels, stub: reader.rest() })
    }

    /// Begins a unit, up to the stub data.
    pub(crate) fn begin<'b>(&self, bytes: &'b mut Vec<u8>, header: &Header) -> Message<'b> {
        let mut message = Message::begin(bytes, header);
        let body = message.body();
        body.u32(self.alloc_hint);
        body.u16(self.context_id);
        body.bytes(&[self.cancels, 0]);
        message
    }

    /// Appends a unit without a trailer. The stub data has to fit one unit.
    pub fn write(&self, bytes: &mut Vec<u8>, header: &Header) {
        let mut message = self.begin(bytes, &Header { kind: PduType::RESPONSE, ..*header });
        message.body().bytes(self.stub);
        message.finish(0);
    }
}

/// The failure of a call. [`flags::DID_NOT_EXECUTE`] in the header tells that the call has not
/// begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The presentation context of the request.
    pub context_id: u16,
    /// The number of cancels received for the call.
    pub cancels: u8,
    /// The fault's status.
    pub status: Status,
}

impl Fault {
    /// The length of the unit, in bytes. Servers send this length in the field of the allocation
    /// hint. The field has no use in a fault, because there are no results to allocate.
    const SIZE: u32 = 32;

    /// Reads the unit. Stub data of the fault is ignored, because no interface of this
    /// implementation defines such data.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the unit is malformed.
    pub fn read(unit: &Unit<'_>) -> Result<Self, PduError> {
        let mut reader = unit.expect(&[PduType::FAULT])?;
        let (_alloc_hint, context_id, [cancels, _]) = (reader.u32()?, reader.u16()?, reader.take()?);
        Ok(Self { context_id, cancels, status: Status(reader.u32()?) })
    }

    /// Appends a unit.
    pub fn write(&self, bytes: &mut Vec<u8>, header: &Header) {
        let mut message = Message::begin(bytes, &Header { kind: PduType::FAULT, ..*header });
        let body = message.body();
        body.u32(Self::SIZE);
        body.u16(self.context_id);
        body.bytes(&[self.cancels, 0]);
        body.u32(self.status.0);
        body.u32(0);
        message.finish(0);
    }
}
