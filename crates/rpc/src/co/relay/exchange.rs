//! What both ends of a call do with messages of windows, whatever carries it.

use super::translation::{Request, Translation};
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::vi_call::TargetId;
use obvia_via::window::{Inbox, Outgoing};
use obvia_via::{Error as ViError, Header, Kind};
use std::collections::HashMap;
use std::hash::Hash;

/// Targets that a relay remembers.
const TARGETS_MAX: usize = 4096;

/// Remembers what was found out about a target.
pub(crate) fn remember<K: Hash + Eq, V>(known: &mut HashMap<K, V>, target: K, found: V) {
    if known.len() == TARGETS_MAX {
        known.clear();
    }
    known.insert(target, found);
}

/// A call that a client's window waits for.
#[derive(Debug)]
pub(crate) struct Awaited {
    /// Its number in the window.
    pub(crate) sequence: u32,
    pub(crate) translation: Translation,
    pub(crate) request: Request,
}

impl Awaited {
    /// Puts its response into the inbox, of stub data; a fault if that is none.
    pub(crate) fn put_response(
        &self,
        inbox: &mut Inbox<'_>,
        order: ByteOrder,
        stub: &[u8],
        scratch: &mut Vec<u8>,
    ) -> Result<(), ViError> {
        match self.translation.decode_response(&self.request, order, stub, inbox.frame_max(), scratch) {
            Ok((status, frame)) => {
                // A frame of a method that failed has words.
                let has_words = status.cast_signed() < 0 && !frame.is_empty();
                let kind = if has_words { Kind::Fault } else { Kind::Response };
                inbox.put(Header { kind, opnum: 0, first: status, second: self.sequence }, frame)
            }
            Err(status) => put_fault(inbox, self.sequence, status),
        }
    }
}

/// Puts the answer to a bind or an alter_context into a client's inbox.
pub(crate) fn put_pdu(inbox: &mut Inbox<'_>, pdu: &[u8]) -> Result<(), ViError> {
    inbox.put(Header { kind: Kind::Pdu, opnum: 0, first: 0, second: 0 }, pdu)
}

/// Puts a fault into a client's inbox: what became of the message of this number.
pub(crate) fn put_fault(inbox: &mut Inbox<'_>, sequence: u32, status: Status) -> Result<(), ViError> {
    inbox.put(Header { kind: Kind::Fault, opnum: 0, first: status.0, second: sequence }, &[])
}

/// Whom a request is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addressee {
    pub(crate) target: TargetId,
    pub(crate) translation: Translation,
}

/// A request as units bring it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived<'a> {
    pub(crate) opnum: u16,
    pub(crate) order: ByteOrder,
    pub(crate) stub: &'a [u8],
    pub(crate) is_maybe: bool,
}

/// A call that a server's window has been given.
#[derive(Debug)]
pub(crate) struct Performed {
    translation: Translation,
    request: Request,
}

impl Addressee {
    /// Puts a request into a server's inbox, unless its answer is a fault.
    pub(crate) fn put_request(
        self,
        inbox: &mut Inbox<'_>,
        arrived: Arrived<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<Result<Performed, Status>, ViError> {
        let Self { target: TargetId { index, generation }, translation } = self;
        let Arrived { opnum, order, stub, is_maybe } = arrived;
        let (opnum, has_context) = translation.split_opnum(opnum);
        let stub = if has_context { translation.take_context(stub) } else { Ok(stub) };
        let decoded = translation.opnum_from_wire(opnum).and_then(|opnum| {
            let (mut request, frame) = translation.decode_request(opnum, order, stub?, inbox.frame_max(), scratch)?;
            request.has_context = has_context;
            Ok((opnum, (request, frame)))
        });
        let (opnum, (request, frame)) = match decoded {
            Ok(decoded) => decoded,
            Err(status) => return Ok(Err(status)),
        };
        if is_maybe {
            translation.forget();
        }
        let kind = if is_maybe { Kind::Oneway } else { Kind::Request };
        inbox.put(Header { kind, opnum, first: index, second: generation }, frame)?;
        Ok(Ok(Performed { translation, request }))
    }
}

impl Performed {
    /// The method has returned, and nobody waits for what: nothing that the request said holds for the thread's next call.
    pub(crate) fn end(&self) {
        self.translation.end(&self.request);
    }

    /// The stub data of what the window answers, in `scratch`; or the status of the fault that it is.
    pub(crate) fn encode(&self, message: &Outgoing<'_>, scratch: &mut Vec<u8>) -> Result<Result<(), Status>, ViError> {
        let Header { kind, first: status, .. } = message.header;
        match kind {
            // A fault without words is of a call that did not get to its method, or out of it.
            Kind::Fault if message.frame.is_empty() => {
                self.end();
                Ok(Err(Status(status)))
            }
            Kind::Response | Kind::Fault => {
                let encoded = self.translation.encode_response(&self.request, status, message.frame, scratch);
                Ok(encoded.map_err(Status::in_a_fault))
            }
            _ => Err(ViError::BadState { what: "a server only answers" }),
        }
    }
}
