//! The translation of messages in windows to calls in units and back, for both ends of a call. The
//! connection-oriented and the connectionless protocol use it.

use super::translation::{Request, Translation};
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::vi_call::TargetId;
use obvia_via::window::{Inbox, Outgoing};
use obvia_via::{Error as ViError, Header, Kind};
use std::collections::HashMap;
use std::hash::Hash;

/// The maximum number of targets that a relay caches.
const TARGETS_MAX: usize = 4096;

/// Caches the properties of a target. If the cache is full, empties it first.
pub(crate) fn cache_target<K: Hash + Eq, V>(known: &mut HashMap<K, V>, target: K, found: V) {
    if known.len() == TARGETS_MAX {
        known.clear();
    }
    known.insert(target, found);
}

/// A call whose client's window waits for the response.
#[derive(Debug)]
pub(crate) struct Awaited {
    /// The message's number in the window.
    pub(crate) sequence: u32,
    pub(crate) translation: Translation,
    pub(crate) request: Request,
}

impl Awaited {
    /// Puts the response for `stub` into the inbox, or a fault if the stub data is malformed.
    pub(crate) fn put_response(
        &self,
        inbox: &mut Inbox<'_>,
        order: ByteOrder,
        stub: &[u8],
        scratch: &mut Vec<u8>,
    ) -> Result<(), ViError> {
        match self.translation.decode_response(&self.request, order, stub, inbox.frame_max(), scratch) {
            Ok((status, frame)) => {
                // The frame of a failed method holds error information or is empty.
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

/// Puts a fault for the message with this number into a client's inbox.
pub(crate) fn put_fault(inbox: &mut Inbox<'_>, sequence: u32, status: Status) -> Result<(), ViError> {
    inbox.put(Header { kind: Kind::Fault, opnum: 0, first: status.0, second: sequence }, &[])
}

/// The target of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addressee {
    pub(crate) target: TargetId,
    pub(crate) translation: Translation,
}

/// A request received in units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived<'a> {
    pub(crate) opnum: u16,
    pub(crate) order: ByteOrder,
    pub(crate) stub: &'a [u8],
    pub(crate) is_maybe: bool,
}

/// A call whose request is in a server's window, with the data that its response needs.
#[derive(Debug)]
pub(crate) struct Performed {
    translation: Translation,
    request: Request,
}

impl Addressee {
    /// Puts a request into a server's inbox, or returns the status of the fault if the request
    /// fails.
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
    /// Notes that the call has ended without stub data for a response. Without this call, the
    /// headers of the call's request would apply to the thread's next call.
    pub(crate) fn end(&self) {
        self.translation.end(&self.request);
    }

    /// Encodes the window's answer as stub data in `scratch`. Returns the status if the answer is a
    /// fault.
    pub(crate) fn encode(&self, message: &Outgoing<'_>, scratch: &mut Vec<u8>) -> Result<Result<(), Status>, ViError> {
        let Header { kind, first: status, .. } = message.header;
        match kind {
            // A fault without error information means that no method was entered, or that the
            // method did not return.
            Kind::Fault if message.frame.is_empty() => {
                self.end();
                Ok(Err(Status(status)))
            }
            Kind::Response | Kind::Fault => {
                let encoded = self.translation.encode_response(&self.request, status, message.frame, scratch);
                Ok(encoded.map_err(Status::in_a_fault))
            }
            _ => Err(ViError::BadState { what: "a server can send only responses and faults" }),
        }
    }
}
