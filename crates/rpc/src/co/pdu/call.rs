//! The units that calls are made of: request, response and fault (C706 12.6.4.7 to 12.6.4.10).

use super::{Header, Message, PduError, PduType, Unit, flags};
use crate::status::Status;
use crate::uuid::Uuid;

/// Bytes behind the header that request, response and fault begin with.
pub(crate) const HEAD: usize = 8;
/// Bytes of an object UUID.
pub(crate) const OBJECT: usize = 16;

/// A fragment of a call's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// How many bytes of stub data are still to come, this fragment's included; 0 where the sender does not say.
    pub alloc_hint: u32,
    /// The presentation context: interface and transfer syntax.
    pub context_id: u16,
    /// Which method.
    pub opnum: u16,
    /// Which object.
    pub object: Option<Uuid>,
    /// The arguments in the transfer syntax, or a piece of them.
    pub stub: &'a [u8],
}

impl<'a> Request<'a> {
    /// Reads the unit.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
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

    /// Appends a unit without a trailer, of any length that a unit can have.
    pub fn write(&self, bytes: &mut Vec<u8>, header: &Header) {
        let mut message = self.begin(bytes, &Header { kind: PduType::REQUEST, ..*header });
        message.body().bytes(self.stub);
        message.finish(0);
    }
}

/// A fragment of a call's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// As in [`Request`].
    pub alloc_hint: u32,
    /// The presentation context of the request.
    pub context_id: u16,
    /// Cancels that came for the call.
    pub cancels: u8,
    /// The results in the transfer syntax, or a piece of them.
    pub stub: &'a [u8],
}

impl<'a> Response<'a> {
    /// Reads the unit.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
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

    /// Appends a unit without a trailer, of any length that a unit can have.
    pub fn write(&self, bytes: &mut Vec<u8>, header: &Header) {
        let mut message = self.begin(bytes, &Header { kind: PduType::RESPONSE, ..*header });
        message.body().bytes(self.stub);
        message.finish(0);
    }
}

/// Why a call has no results. Whether it began, [`flags::DID_NOT_EXECUTE`] in the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The presentation context of the request.
    pub context_id: u16,
    /// Cancels that came for the call.
    pub cancels: u8,
    /// Why.
    pub status: Status,
}

impl Fault {
    /// Bytes of the unit. Servers give it as the hint, of which there is no other use here.
    const SIZE: u32 = 32;

    /// Reads the unit. Its stub data, which no interface here has, is passed over.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
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
