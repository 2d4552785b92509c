//! The conversation interfaces (C706 appendix P): callbacks of servers to their clients, and
//! keep-alive messages of clients.
//!
//! Clients implement `conv`, on the socket that their calls come from. Before a server executes an
//! activity's first call, the server asks the client for the activity's identity and current call.
//! Servers implement `convc`: with its method, a client shows that it is alive.

use super::pdu::{Header, PduType, flags};
use crate::octets::{ByteOrder, Reader, Short, Writer};
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};

/// The interface that clients implement, version 3.
pub(super) const CONV: SyntaxId = SyntaxId { uuid: Uuid(0x333a_2276_0000_0000_0d00_0080_9c00_0000), version: 3 };
/// The interface that servers implement, version 1.
pub(super) const CONVC: SyntaxId = SyntaxId { uuid: Uuid(0x4a96_7f14_3000_0000_0d00_0128_8200_0000), version: 1 };

const WHO_ARE_YOU: u16 = 0;
pub(super) const WHO_ARE_YOU_2: u16 = 1;
const ARE_YOU_THERE: u16 = 2;
const INDY: u16 = 0;

/// A server's question about an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// The activity.
    pub(super) activity: Uuid,
    /// The server's boot time.
    pub(super) boot: u32,
}

/// A client's answer about its activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The sequence number of the activity's current call.
    pub(super) sequence: u32,
    /// The client's address space, which all of its activities share. `None` if the client does not
    /// name it.
    pub(super) client: Option<Uuid>,
    /// 0 if the client confirms the call, otherwise the reason why the client does not confirm it.
    pub(super) status: Status,
}

impl Question {
    /// Appends the request: the call `sequence` of the server's own activity `asking`. `is_simple`
    /// selects the operation that older clients support.
    pub(super) fn write(self, (asking, sequence): (Uuid, u32), is_simple: bool, bytes: &mut Vec<u8>) {
        let opnum = if is_simple { WHO_ARE_YOU } else { WHO_ARE_YOU_2 };
        let header = Header {
            flags: flags::IDEMPOTENT,
            interface: CONV,
            opnum,
            ..Header::new(PduType::REQUEST, asking, sequence)
        };
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
    /// Reads the results of the operation that the header's opnum names.
    pub(super) fn read(header: &Header, stub: &[u8]) -> Result<Self, Short> {
        let mut reader = Reader::new(stub, header.order);
        let sequence = reader.u32()?;
        let client = if header.opnum == WHO_ARE_YOU { None } else { Some(reader.uuid()?) };
        Ok(Self { sequence, client, status: Status(reader.u32()?) })
    }
}

/// Appends a client's response to a request: the results of a method of `conv`, or a refusal.
/// `about` returns the state of an activity.
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

/// Appends a client's keep-alive request, a call of an activity that makes no other calls.
pub(super) fn write_indy(activity: Uuid, sequence: u32, client: Uuid, bytes: &mut Vec<u8>) {
    let flags = flags::MAYBE | flags::IDEMPOTENT;
    let header = Header { flags, interface: CONVC, opnum: INDY, ..Header::new(PduType::REQUEST, activity, sequence) };
    header.write_with(bytes, |writer| writer.uuid(client));
}

/// Reads a keep-alive request. Returns the client's address space, or `None` if the request is
/// malformed or is not a keep-alive request.
pub(super) fn read_indy(header: &Header, stub: &[u8]) -> Option<Uuid> {
    (header.opnum == INDY).then(|| Reader::new(stub, header.order).uuid().ok())?
}
