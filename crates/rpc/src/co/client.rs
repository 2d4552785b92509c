//! The client's side of an association: proposes contexts, fragments calls and reassembles their
//! results.

mod opening;

use super::assembly::{Added, Assemblies, Origin, Stub};
use super::contexts::SecurityContexts;
use super::pdu::{BindAck, BindNak, Context, Fault, FragmentSizes, Header, Outcome, PduType, Request, Response, Unit};
use super::pdu::{Message, flags};
use super::verification::Verified;
use super::{AssociationError, CallSecurity, Input, Limits, Presentation, output};
use crate::octets::ByteOrder;
use crate::security::Level;
use crate::status::Status;
use crate::uuid::Uuid;
use opening::Opening;
use std::ops::Range;

/// The options of a client's association.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    /// The association's limits.
    pub limits: Limits,
}

/// An event of a client's association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent<'a> {
    /// The server answered the bind or alter_context whose number [`ClientAssociation::bind`]
    /// returned. There is one outcome for each proposed context.
    Bound(u32, Vec<Outcome>),
    /// The results of a call arrived.
    Response(IncomingResponse<'a>),
    /// A call or an alter_context failed.
    Fault(IncomingFault),
    /// The server asks the client to close the connection after the outstanding calls.
    ShutDown,
}

/// The results of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncomingResponse<'a> {
    /// The call's identifier.
    pub id: u32,
    /// The call's presentation context.
    pub presentation: Presentation,
    /// The byte order of the results.
    pub order: ByteOrder,
    /// The results in the context's transfer syntax.
    pub stub: &'a [u8],
}

/// The failure of a call or a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncomingFault {
    /// The call's identifier, or the number that [`ClientAssociation::bind`] returned.
    pub id: u32,
    /// The fault's status.
    pub status: Status,
    /// Whether the server may have executed the method.
    pub began: bool,
}

/// A call to be made.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingCall<'a> {
    /// An accepted presentation context.
    pub context_id: u16,
    /// The method's opnum.
    pub opnum: u16,
    /// The object's UUID.
    pub object: Option<Uuid>,
    /// Whether the call has no response.
    pub is_maybe: bool,
    /// The identifier of the security context that protects the call.
    pub security: Option<u32>,
    /// The arguments in the context's transfer syntax, little endian.
    pub stub: &'a [u8],
}

/// A call whose response has not arrived.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    id: u32,
    presentation: Presentation,
    security: Option<CallSecurity>,
}

enum Found {
    Nothing,
    Bound(u32, Vec<Outcome>),
    Response { call: Outstanding, order: ByteOrder, stub: Stub },
    Fault(IncomingFault),
    ShutDown,
}

/// The client's side of an association.
#[derive(Debug)]
pub struct ClientAssociation {
    /// The bytes received from the server.
    pub input: Input,
    output: Vec<u8>,
    options: ClientOptions,
    is_bound: bool,
    granted: u8,
    keeps_on_orphan: bool,
    // The length of sent fragments.
    length: u16,
    group: u32,
    secondary_address: String,
    last_id: u32,
    next_security: u32,
    opening: Option<Opening>,
    presentations: Vec<Presentation>,
    security: SecurityContexts,
    assemblies: Assemblies<()>,
    outstanding: Vec<Outstanding>,
}

impl ClientAssociation {
    /// Creates an association, which has to be bound: see [`Self::bind`].
    pub fn new(options: ClientOptions) -> Self {
        Self {
            input: Input::new(options.limits.sizes.received.max(FragmentSizes::LEAST)),
            output: Vec::new(),
            is_bound: false,
            granted: 0,
            keeps_on_orphan: false,
            length: FragmentSizes::LEAST,
            group: 0,
            secondary_address: String::new(),
            last_id: 0,
            next_security: 0,
            opening: None,
            presentations: Vec::new(),
            security: SecurityContexts::default(),
            assemblies: Assemblies::new(&options.limits, None),
            outstanding: Vec::new(),
            options,
        }
    }

    /// Sets the association group that the first bind asks for. If this function is not called, the
    /// server creates a group.
    pub fn join(&mut self, group: u32) {
        if self.opening.is_none() && !self.is_bound {
            self.group = group;
        }
    }

    /// Processes the input and returns the next event, or `None` until more bytes arrive.
    ///
    /// # Errors
    ///
    /// [`AssociationError`] if the association has failed.
    pub fn poll(&mut self) -> Result<Option<ClientEvent<'_>>, AssociationError> {
        self.assemblies.end_last();
        loop {
            let Some(unit) = self.input.next()? else {
                return Ok(None);
            };
            match self.handle(unit)? {
                Found::Nothing => {}
                Found::Bound(id, outcomes) => return Ok(Some(ClientEvent::Bound(id, outcomes))),
                Found::Fault(fault) => return Ok(Some(ClientEvent::Fault(fault))),
                Found::ShutDown => return Ok(Some(ClientEvent::ShutDown)),
                Found::Response { call, order, stub } => {
                    let stub = stub.bytes(&self.input, &self.assemblies);
                    let Outstanding { id, presentation, .. } = call;
                    return Ok(Some(ClientEvent::Response(IncomingResponse { id, presentation, order, stub })));
                }
            }
        }
    }

    fn handle(&mut self, unit: Range<usize>) -> Result<Found, AssociationError> {
        let opened = Unit::open(self.input.bytes(unit.clone()))?;
        let Header { kind, call_id: id, .. } = opened.header;
        match kind {
            PduType::BIND_ACK | PduType::ALTER_CONTEXT_RESP => {
                let ack = BindAck::read(&opened)?;
                let token = opened.trailer.map(|trailer| (trailer.head, trailer.token.to_vec()));
                self.opened(ack, token)
            }
            PduType::BIND_NAK if !self.is_bound => {
                let nak = BindNak::read(&opened)?;
                Err(AssociationError::Refused { reason: nak.reason })
            }
            PduType::RESPONSE => self.response(unit),
            PduType::FAULT => {
                let fault = Fault::read(&opened)?;
                let began = !opened.header.has(flags::DID_NOT_EXECUTE);
                let id = match self.opening.take_if(|opening| opening.id == id) {
                    Some(opening) => {
                        opening.security.inspect(|context| self.security.remove(*context));
                        opening.first_id
                    }
                    None if self.answered(id)?.is_none() => return Ok(Found::Nothing),
                    None => id,
                };
                Ok(Found::Fault(IncomingFault { id, status: fault.status, began }))
            }
            PduType::SHUTDOWN => Ok(Found::ShutDown),
            _ => Err(AssociationError::OutOfTurn(kind)),
        }
    }

    fn response(&mut self, unit: Range<usize>) -> Result<Found, AssociationError> {
        let security = self.security.unprotect(self.input.bytes_mut(unit.clone()))?;
        let opened = Unit::open(self.input.bytes(unit.clone()))?;
        let header = opened.header;
        let (id, stub) = (header.call_id, Response::read(&opened)?.stub);
        let origin = Origin { order: header.order, security };
        let is_whole = header.has(flags::WHOLE);
        if self.outstanding.iter().all(|call| call.id != id) {
            self.assemblies.remove(id);
            return self.answered(id).map(|_| Found::Nothing);
        }
        // The stub data is at the end of the body. The body is the unit without trailer and
        // padding.
        let end = unit.start + Header::SIZE + opened.body.len();
        let in_place = end - stub.len()..end;
        let stub = if is_whole {
            if self.assemblies.has(id) {
                return Err(AssociationError::Fragment { call_id: id });
            }
            Stub::InPlace(in_place)
        } else {
            let Added::Whole(..) = self.assemblies.add(&header, origin, (), stub)? else { return Ok(Found::Nothing) };
            Stub::Assembled
        };
        let Some(call) = self.answered(id)? else {
            return Ok(Found::Nothing);
        };
        // The response needs the same protection as the call.
        let signed = |security: &CallSecurity| security.level > Level::Connect;
        if call.security.filter(signed) != origin.security.filter(signed) {
            return Err(AssociationError::Answer);
        }
        Ok(Found::Response { call, order: header.order, stub })
    }

    /// Removes and returns the outstanding call to which a response belongs. `None` if the call was
    /// abandoned.
    fn answered(&mut self, id: u32) -> Result<Option<Outstanding>, AssociationError> {
        let at = self.outstanding.iter().position(|call| call.id == id);
        match at {
            Some(at) => Ok(Some(self.outstanding.swap_remove(at))),
            // Identifiers are assigned in sequence, so this identifier belonged to an earlier call.
            None if self.last_id.wrapping_sub(id) < u32::MAX / 2 && id != 0 => Ok(None),
            None => Err(AssociationError::Answer),
        }
    }

    /// Makes a call and returns its identifier.
    ///
    /// # Errors
    ///
    /// [`AssociationError::Busy`] if the maximum number of calls is outstanding, which is one
    /// unless the server supports multiplexing. [`AssociationError::Misuse`] if the presentation or
    /// security context was not established. The error of the security context if that context
    /// cannot protect the call.
    pub fn call(&mut self, call: &OutgoingCall<'_>) -> Result<u32, AssociationError> {
        let presentation = *self.presentation(call.context_id).ok_or(UNKNOWN_CONTEXT)?;
        if !self.outstanding.is_empty() && !self.is_multiplexed() {
            return Err(AssociationError::Busy);
        }
        let limit = self.options.limits.calls_max;
        if self.outstanding.len() == limit {
            return Err(AssociationError::Busy);
        }
        let id = self.next_id();
        let OutgoingCall { context_id, opnum, object, is_maybe, stub, .. } = *call;
        let header = Header::new(PduType::REQUEST, if is_maybe { flags::MAYBE } else { 0 }, id);
        let request = Request { alloc_hint: 0, context_id, opnum, object, stub };
        let entry = match call.security {
            Some(id) => Some(self.security.get_mut(id).filter(|entry| entry.is_done).ok_or(UNKNOWN_SECURITY)?),
            None => None,
        };
        let security = entry.as_ref().map(|entry| CallSecurity { context_id: entry.id, level: entry.level });
        let tail = match security {
            Some(security) if security.level > Level::Connect => {
                let order = ByteOrder::Little;
                Verified { presentation, call_id: id, opnum, order }.trailer(stub.len())
            }
            _ => Vec::new(),
        };
        output::put(&mut self.output, self.length, &header, &request, &tail, entry)?;
        if !is_maybe {
            self.outstanding.push(Outstanding { id, presentation, security });
        }
        Ok(id)
    }

    /// Asks the server to cancel a call, which still gets a response (C706 12.6.4.6).
    pub fn cancel(&mut self, id: u32) {
        self.put_empty(PduType::CO_CANCEL, id);
    }

    /// Abandons a call (C706 12.6.4.8). [`Self::keeps_on_orphan`] tells whether the connection can
    /// be used for other calls afterwards.
    pub fn orphan(&mut self, id: u32) {
        self.outstanding.retain(|call| call.id != id);
        self.assemblies.remove(id);
        self.put_empty(PduType::ORPHANED, id);
    }

    fn put_empty(&mut self, kind: PduType, id: u32) {
        Message::begin(&mut self.output, &Header::new(kind, flags::WHOLE, id)).finish(0);
    }

    fn next_id(&mut self) -> u32 {
        self.last_id = self.last_id.wrapping_add(1).max(1);
        self.last_id
    }

    /// Returns the bytes to be sent. The caller clears them once they are sent.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Whether the server has accepted the association.
    pub fn is_bound(&self) -> bool {
        self.is_bound
    }

    /// Whether the server accepts several outstanding calls.
    pub fn is_multiplexed(&self) -> bool {
        self.granted & flags::MULTIPLEX != 0
    }

    /// Whether the connection can be used for further calls after a call was orphaned.
    pub fn keeps_on_orphan(&self) -> bool {
        self.keeps_on_orphan
    }

    /// Returns the association group, which further associations with this server may join.
    pub fn group(&self) -> u32 {
        self.group
    }

    /// Returns the endpoint that the server names for further connections.
    pub fn secondary_address(&self) -> &str {
        &self.secondary_address
    }

    /// Returns the accepted presentation context with an identifier, if there is one.
    pub fn presentation(&self, id: u16) -> Option<&Presentation> {
        self.presentations.iter().find(|presentation| presentation.id == id)
    }

    /// Whether an accepted context of another interface already has the identifier of `context`.
    fn is_taken(&self, context: &Context) -> bool {
        self.presentation(context.id).is_some_and(|known| known.interface != context.interface)
    }
}

const UNKNOWN_CONTEXT: AssociationError =
    AssociationError::Misuse("the server has not accepted this presentation context");
const UNKNOWN_SECURITY: AssociationError = AssociationError::Misuse("the association has no such security context");
