//! The conversation interfaces (C706 appendix P): what servers ask their clients, and what clients tell servers on their own account.
//!
//! `conv` is performed by clients, on the socket that their calls come from. A server asks by it who an activity is and which call it
//! is at, before the first call is performed. `convc` is performed by servers: a client says by it that it is still there.

use super::pdu::{Header, PduType, flags};
use crate::octets::{ByteOrder, Reader, Short, Writer};
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};

/// What clients perform, version 3.
pub(super) const CONV: SyntaxId = SyntaxId { uuid: Uuid(0x333a_2276_0000_0000_0d00_0080_9c00_0000), version: 3 };
/// What servers perform, version 1.
pub(super) const CONVC: SyntaxId = SyntaxId { uuid: Uuid(0x4a96_7f14_3000_0000_0d00_0128_8200_0000), version: 1 };

const WHO_ARE_YOU: u16 = 0;
const WHO_ARE_YOU_2: u16 = 1;
const ARE_YOU_THERE: u16 = 2;
const INDY: u16 = 0;

/// What a server asks about an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// Which activity.
    pub(super) activity: Uuid,
    /// When the server was started.
    pub(super) boot: u32,
}

/// What a client says of its activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The call that the activity is at.
    pub(super) sequence: u32,
    /// The client's address space, which all of its activities have in common. `None` where it does not say.
    pub(super) client: Option<Uuid>,
    /// Whether it is so, 0, or why not.
    pub(super) status: Status,
}

impl Question {
    /// The request, made as an activity of the server's own.
    pub(super) fn write(self, asking: Uuid, is_simple: bool, bytes: &mut Vec<u8>) {
        let opnum = if is_simple { WHO_ARE_YOU } else { WHO_ARE_YOU_2 };
        let header =
            Header { flags: flags::IDEMPOTENT, interface: CONV, opnum, ..Header::new(PduType::REQUEST, asking, 0) };
        header.write_with(bytes, |writer| {
            writer.uuid(self.activity);
            writer.u32(self.boot);
        });
    }

    fn read(header: &Header, stub: &[u8]) -> Result<Self, Short> {
        let mut reader = Reader::new(stub, header.order);
        Ok(Self { activity: reader.uuid()?, boot: reader.u32()? })
    }
}

impl Answer {
    /// Reads the results of what was asked simply, or not.
    pub(super) fn read(header: &Header, stub: &[u8]) -> Result<Self, Short> {
        let mut reader = Reader::new(stub, header.order);
        let sequence = reader.u32()?;
        let client = if header.opnum == WHO_ARE_YOU { None } else { Some(reader.uuid()?) };
        Ok(Self { sequence, client, status: Status(reader.u32()?) })
    }
}

/// Appends what a client answers to a request for something that it performs: `about` says what is so of an activity.
pub(super) fn perform(
    request: &Header,
    stub: &[u8],
    boot: u32,
    client: Uuid,
    about: impl FnOnce(Question) -> (u32, Status),
    bytes: &mut Vec<u8>,
) {
    let answer = Header { kind: PduType::RESPONSE, flags: 0, flags2: 0, order: ByteOrder::Little, boot, ..*request };
    let refuse = |kind, status: Status, bytes: &mut Vec<u8>| {
        Header { kind, ..answer }.write(bytes, &super::pdu::write_status(status));
    };
    if request.interface != CONV {
        return refuse(PduType::REJECT, Status::UNK_IF, bytes);
    }
    if request.opnum > ARE_YOU_THERE {
        return refuse(PduType::REJECT, Status::OP_RNG_ERROR, bytes);
    }
    let Ok(question) = Question::read(request, stub) else {
        return refuse(PduType::FAULT, Status::BAD_STUB_DATA, bytes);
    };
    let (sequence, status) = about(question);
    answer.write_with(bytes, |writer: &mut Writer<'_>| {
        if request.opnum != ARE_YOU_THERE {
            writer.u32(sequence);
        }
        if request.opnum == WHO_ARE_YOU_2 {
            writer.uuid(client);
        }
        writer.u32(status.0);
    });
}

/// Appends what a client says to show that it is there, as an activity of its own.
pub(super) fn write_indy(activity: Uuid, sequence: u32, client: Uuid, bytes: &mut Vec<u8>) {
    let flags = flags::MAYBE | flags::IDEMPOTENT;
    let header = Header { flags, interface: CONVC, opnum: INDY, ..Header::new(PduType::REQUEST, activity, sequence) };
    header.write_with(bytes, |writer| writer.uuid(client));
}

/// The client that shows that it is there.
pub(super) fn read_indy(header: &Header, stub: &[u8]) -> Option<Uuid> {
    (header.opnum == INDY).then(|| Reader::new(stub, header.order).uuid().ok())?
}
