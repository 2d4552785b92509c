//! The server's side of an association: answers binds, reassembles calls and fragments their
//! results.

mod accepting;
mod denial;

use super::assembly::{Added, Assemblies, Origin, Stub};
use super::contexts::SecurityContexts;
use super::groups::{Joined, Joins};
use super::pdu::{BindNak, Context, Fault, FragmentSizes, Header, Outcome, PduType, Request, Response, Unit, flags};
use super::{AssociationError, Budget, CallSecurity, Input, Limits, Presentation, Reservation, output};
use crate::mgmt::Counters;
use crate::octets::ByteOrder;
use crate::security::{Acceptor, Authenticated, Level, SecurityError};
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// The options of a server's associations.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The associations' limits.
    pub limits: Limits,
    /// The server's association groups. `None` if associations share no state. Each bind is then
    /// answered with the group number that it requests, or with 1 if it requests a new group.
    pub groups: Option<Arc<dyn Joins>>,
    /// The endpoint for further connections: the port, or the name of the socket.
    pub secondary_address: String,
    /// The acceptor, which authenticates clients. Without an acceptor, the server rejects binds
    /// that ask for authentication.
    pub acceptor: Option<Arc<dyn Acceptor>>,
    /// The counters of calls and units.
    pub counters: Arc<Counters>,
    /// The minimum level of calls; `None` if unprotected calls are accepted, too. Calls below the
    /// level are not delivered, and are refused with [`Status::ACCESS_DENIED`], as by Windows.
    pub least: Option<Level>,
    /// The calls that have another minimum level than `least`.
    pub exemptions: Vec<Exemption>,
    /// The observer that is notified of refused calls.
    pub denial_observer: Option<Arc<dyn DenialObserver>>,
    /// The budget for the memory of arguments that arrive in several fragments. All associations of
    /// the server share the budget. The limits of each association apply, too.
    pub budget: Option<Arc<dyn Budget>>,
}

/// Calls of one interface with another minimum level than [`ServerOptions::least`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exemption {
    /// The interface.
    pub interface: SyntaxId,
    /// The opnums of the methods; empty for all methods.
    pub opnums: &'static [u16],
    /// The minimum level. If it is `None`, a client whose authentication failed can also make the
    /// calls, as an anonymous client.
    pub least: Option<Level>,
}

impl Exemption {
    fn holds_for(&self, presentation: &Presentation, opnum: u16) -> bool {
        self.interface == presentation.interface && (self.opnums.is_empty() || self.opnums.contains(&opnum))
    }
}

/// A refusal because of the client's identity or the call's protection. Such a refusal precedes any
/// access check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial<'a> {
    /// The refusal of a call, because the call is below the minimum level, the client's
    /// authentication failed, or the verification trailer names another call.
    Call {
        /// The interface, if the call's context is known.
        interface: Option<SyntaxId>,
        /// The method's opnum.
        opnum: u16,
        /// The identity of the call's maker, if the maker was authenticated.
        maker: Option<&'a Authenticated>,
    },
    /// The failure of an authentication.
    Proof,
}

/// An observer of refusals and of successful authentications.
pub trait DenialObserver: Send + Sync + fmt::Debug {
    /// Reports that a client has authenticated successfully.
    fn proved(&self) {}
    /// Reports a refusal. The client is also told of it.
    fn denied(&self, denial: Denial<'_>);
}

/// An event of a server's association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerEvent<'a> {
    /// A complete call. Unless [`IncomingCall::is_maybe`] is set, the server has to answer the call
    /// by [`ServerAssociation::respond`] or [`ServerAssociation::fault`].
    Call(IncomingCall<'a>),
    /// The client asked for this call to be cancelled; the call still needs an answer.
    Cancelled(u32),
    /// The client abandoned this call. The call's response will not be sent. If the response was
    /// sent before, the client ignores it.
    Orphaned(u32),
}

/// A call with all of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncomingCall<'a> {
    /// The call's identifier, for its answer.
    pub id: u32,
    /// The presentation context: interface and transfer syntax.
    pub presentation: Presentation,
    /// The method's opnum.
    pub opnum: u16,
    /// The object's UUID.
    pub object: Option<Uuid>,
    /// The byte order of the arguments.
    pub order: ByteOrder,
    /// Whether the call has no response and must not be answered.
    pub is_maybe: bool,
    /// The call's protection, if any.
    pub security: Option<CallSecurity>,
    /// The identity of the call's maker, if the maker was authenticated.
    pub maker: Option<&'a Authenticated>,
    /// The arguments in the transfer syntax.
    pub stub: &'a [u8],
}

/// The head of a request, from its first fragment.
#[derive(Clone, Copy, Debug)]
struct Head {
    context_id: u16,
    opnum: u16,
    object: Option<Uuid>,
    flags: u8,
}

/// A call that has not been answered.
#[derive(Clone, Copy, Debug)]
struct Pending {
    id: u32,
    context_id: u16,
    security: Option<CallSecurity>,
    cancels: u8,
    is_orphan: bool,
}

/// The result of processing a unit.
enum Found {
    Nothing,
    Call { id: u32, origin: Origin, head: Head, presentation: Presentation, stub: Stub },
    Cancelled(u32),
    Orphaned(u32),
}

/// The server's side of an association.
#[derive(Debug)]
pub struct ServerAssociation {
    /// The bytes received from the client.
    pub input: Input,
    output: Vec<u8>,
    options: ServerOptions,
    is_bound: bool,
    // The granted flags of the bind.
    granted: u8,
    // The length of sent fragments.
    length: u16,
    // The membership in an association group.
    joined: Option<Joined>,
    presentations: Vec<Presentation>,
    security: SecurityContexts,
    // Whether an authentication failed. Later calls must not count as anonymous then.
    is_denied: bool,
    assemblies: Assemblies<Head>,
    pending: Vec<Pending>,
}

impl ServerAssociation {
    /// Creates an association that waits for a bind.
    pub fn new(options: ServerOptions) -> Self {
        Self {
            input: Input::new(options.limits.sizes.received.max(FragmentSizes::LEAST)),
            output: Vec::new(),
            is_bound: false,
            granted: 0,
            length: FragmentSizes::LEAST,
            joined: None,
            presentations: Vec::new(),
            security: SecurityContexts::default(),
            is_denied: false,
            assemblies: Assemblies::new(&options.limits, options.budget.clone()),
            pending: Vec::new(),
            options,
        }
    }

    /// Processes the input and returns the next event, or `None` until more bytes arrive.
    ///
    /// `judge` decides on each proposed context: see [`Outcome::choose`].
    ///
    /// # Errors
    ///
    /// [`AssociationError`] if the association has failed. The caller still has to send the output.
    pub fn poll(
        &mut self,
        judge: &mut dyn FnMut(&Context) -> Outcome,
    ) -> Result<Option<ServerEvent<'_>>, AssociationError> {
        self.assemblies.end_last();
        loop {
            let unit = match self.input.next() {
                Ok(Some(unit)) => unit,
                Ok(None) => return Ok(None),
                Err(error) => return Err(self.refuse_input(error)),
            };
            self.options.counters.count_packet_in();
            match self.handle(unit, judge)? {
                Found::Nothing => {}
                Found::Cancelled(id) => return Ok(Some(ServerEvent::Cancelled(id))),
                Found::Orphaned(id) => return Ok(Some(ServerEvent::Orphaned(id))),
                Found::Call { id, origin, head, presentation, stub } => {
                    self.options.counters.count_call();
                    let stub = stub.bytes(&self.input, &self.assemblies);
                    let Head { opnum, object, flags, .. } = head;
                    let is_maybe = flags & flags::MAYBE != 0;
                    let Origin { order, security } = origin;
                    let entry = security.and_then(|security| self.security.get(security.context_id));
                    let maker = entry.and_then(|entry| entry.peer.as_ref());
                    let call = IncomingCall { id, presentation, opnum, object, order, is_maybe, security, maker, stub };
                    return Ok(Some(ServerEvent::Call(call)));
                }
            }
        }
    }

    /// Returns the reservation in [`ServerOptions::budget`] for the arguments of the call that the
    /// last [`Self::poll`] returned, if the call had several fragments. The caller drops the
    /// reservation when no copy of the arguments is left. If this function is not called, the next
    /// [`Self::poll`] ends the reservation.
    pub fn take_memory(&mut self) -> Option<Reservation> {
        self.assemblies.take_memory()
    }

    fn handle(
        &mut self,
        unit: Range<usize>,
        judge: &mut dyn FnMut(&Context) -> Outcome,
    ) -> Result<Found, AssociationError> {
        let header = Header::read(self.input.bytes(unit.clone()))?;
        let (kind, id) = (header.kind, header.call_id);
        match kind {
            PduType::BIND if !self.is_bound => self.bind(unit, id, judge)?,
            PduType::ALTER_CONTEXT if self.is_bound => self.bind(unit, id, judge)?,
            PduType::AUTH3 if self.is_bound => self.finish_authentication(unit)?,
            PduType::REQUEST if self.is_bound => return self.request(unit, &header),
            PduType::CO_CANCEL if self.is_bound => {
                if let Some(pending) = self.pending.iter_mut().find(|pending| pending.id == id) {
                    pending.cancels = pending.cancels.saturating_add(1);
                    return Ok(Found::Cancelled(id));
                }
            }
            PduType::ORPHANED if self.is_bound => {
                self.assemblies.remove(id);
                if let Some(pending) = self.pending.iter_mut().find(|pending| pending.id == id) {
                    pending.is_orphan = true;
                }
                return Ok(Found::Orphaned(id));
            }
            PduType::BIND => {
                BindNak::new(id, BindNak::NOT_SPECIFIED).write(&mut self.output);
                return Err(AssociationError::OutOfTurn(kind));
            }
            _ => {
                self.put_fault(id, 0, Status::PROTOCOL_ERROR, flags::DID_NOT_EXECUTE);
                return Err(AssociationError::OutOfTurn(kind));
            }
        }
        Ok(Found::Nothing)
    }

    /// Processes a request. A malformed request is answered with a fault before the association
    /// ends.
    fn request(&mut self, unit: Range<usize>, header: &Header) -> Result<Found, AssociationError> {
        // The fields before the stub data are never encrypted, so they can be read before
        // decryption.
        let Request { context_id, opnum, .. } = Request::read(&Unit::open(self.input.bytes(unit.clone()))?)?;
        let security = match self.security.unprotect(self.input.bytes_mut(unit.clone())) {
            Ok(security) => security,
            Err(_) if self.is_exempt_without_proof(context_id, opnum, unit.clone()) => None,
            Err(error) => {
                let is_forged = error == AssociationError::Security(SecurityError::Signature);
                let status = if is_forged { Status::SEC_PKG_ERROR } else { Status::ACCESS_DENIED };
                self.put_fault(header.call_id, context_id, status, 0);
                return Err(error);
            }
        };
        let opened = Unit::open(self.input.bytes(unit.clone()))?;
        let request = Request::read(&opened)?;
        let head = Head { context_id, opnum: request.opnum, object: request.object, flags: header.flags };
        let origin = Origin { order: header.order, security };
        let (id, hint) = (header.call_id, request.alloc_hint as usize);
        // The stub data is at the end of the body. The body is the unit without trailer and
        // padding.
        let end = unit.start + Header::SIZE + opened.body.len();
        let stub = end - request.stub.len()..end;
        let other = self.assemblies.other(id).filter(|_| !self.is_multiplexed());
        if let Some((other, context_id)) = other.map(|(other, head)| (other, head.context_id)) {
            // Without multiplexing, a client has to complete a call before it begins the next. The
            // fault is for the incomplete call.
            self.put_fault(other, context_id, Status::PROTOCOL_ERROR, 0);
            return Err(AssociationError::Fragment { call_id: id });
        }
        let found = self.fragment(header, origin, head, stub, hint);
        if let Err(error) = &found {
            let is_denied = matches!(error, AssociationError::TooLong { .. } | AssociationError::Security(_));
            let status = if is_denied { Status::ACCESS_DENIED } else { Status::PROTOCOL_ERROR };
            self.put_fault(id, context_id, status, 0);
        }
        found
    }

    /// Processes a fragment of a request. If it is the last fragment, completes the call.
    fn fragment(
        &mut self,
        header: &Header,
        origin: Origin,
        head: Head,
        stub: Range<usize>,
        hint: usize,
    ) -> Result<Found, AssociationError> {
        let (id, limit) = (header.call_id, self.options.limits.message_max);
        // Refused clients must not occupy memory: their first incomplete fragment ends the
        // association. The same holds for anonymous clients if there is a minimum level.
        let is_anonymous = origin.security.is_none() && self.options.least.is_some();
        if !header.has(flags::WHOLE) && (is_anonymous || self.denies(origin, &head)) {
            self.note_denied(origin, &head);
            return Err(SecurityError::Denied.into());
        }
        if self.pending.iter().any(|pending| pending.id == id) {
            return Err(AssociationError::Fragment { call_id: id });
        }
        let is_whole = header.has(flags::WHOLE);
        // The allocation hint of a request in one fragment is ignored.
        if stub.len() > limit || (hint > limit && !is_whole) {
            return Err(AssociationError::TooLong { limit });
        }
        if !is_whole {
            return match self.assemblies.add(header, origin, head, self.input.bytes(stub))? {
                Added::Whole(origin, head) => self.complete(id, origin, head, Stub::Assembled),
                Added::Incomplete => Ok(Found::Nothing),
                // Only this call is refused; the association's other calls continue.
                Added::Refused(head) => Ok(self.refuse_call(id, head.flags, head.context_id, Status::REMOTE_NO_MEMORY)),
            };
        }
        if self.assemblies.has(id) {
            return Err(AssociationError::Fragment { call_id: id });
        }
        self.complete(id, origin, head, Stub::InPlace(stub))
    }

    /// Completes a request of which all fragments have arrived.
    fn complete(&mut self, id: u32, origin: Origin, head: Head, mut stub: Stub) -> Result<Found, AssociationError> {
        let Head { context_id, flags, .. } = head;
        let is_maybe = flags & flags::MAYBE != 0;
        let is_denied = self.denies(origin, &head);
        if is_denied {
            self.note_denied(origin, &head);
        }
        let presentation = match self.presentation(context_id) {
            _ if is_denied => Err((context_id, Status::ACCESS_DENIED)),
            Some(presentation) => Ok(*presentation),
            // The fault names context 0, because the call's context is unknown.
            None => Err((0, Status::UNK_IF)),
        };
        let presentation = presentation.and_then(|presentation| {
            self.verify(id, origin, &head, presentation, &mut stub).map_err(|status| (context_id, status))
        });
        let presentation = match presentation {
            Ok(presentation) => presentation,
            Err((context_id, status)) => return Ok(self.refuse_call(id, flags, context_id, status)),
        };
        if !is_maybe {
            let limit = self.options.limits.calls_max;
            if self.pending.len() == limit {
                return Err(AssociationError::TooManyCalls { limit });
            }
            let security = origin.security;
            self.pending.push(Pending { id, context_id, security, cancels: 0, is_orphan: false });
        }
        Ok(Found::Call { id, origin, head, presentation, stub })
    }

    /// Answers a call that will not be executed, with a fault unless the call has no response.
    /// `head_flags` are the flags of the call's first fragment.
    fn refuse_call(&mut self, id: u32, head_flags: u8, context_id: u16, status: Status) -> Found {
        if head_flags & flags::MAYBE == 0 {
            self.put_fault(id, context_id, status, flags::DID_NOT_EXECUTE);
        }
        Found::Nothing
    }

    /// Answers a call with its results.
    ///
    /// # Errors
    ///
    /// [`AssociationError::Misuse`] if there is no such call, and the security context's error if
    /// the context cannot sign the response.
    pub fn respond(&mut self, id: u32, stub: &[u8]) -> Result<(), AssociationError> {
        let Pending { context_id, security, cancels, is_orphan, .. } = self.answered(id)?;
        if is_orphan {
            return Ok(());
        }
        let response = Response { alloc_hint: 0, context_id, cancels, stub };
        let header = Header::new(PduType::RESPONSE, 0, id);
        let entry = match security {
            Some(security) => Some(self.security.get_mut(security.context_id).ok_or(SecurityError::NotReady)?),
            None => None,
        };
        output::put(&mut self.output, self.length, &header, &response, &[], entry)?;
        Ok(())
    }

    /// Answers a call with a fault. `began` tells whether the method was called.
    ///
    /// # Errors
    ///
    /// [`AssociationError::Misuse`] if there is no such call.
    pub fn fault(&mut self, id: u32, status: Status, began: bool) -> Result<(), AssociationError> {
        let Pending { context_id, is_orphan, .. } = self.answered(id)?;
        if !is_orphan {
            self.put_fault(id, context_id, status, if began { 0 } else { flags::DID_NOT_EXECUTE });
        }
        Ok(())
    }

    fn answered(&mut self, id: u32) -> Result<Pending, AssociationError> {
        let at = self.pending.iter().position(|pending| pending.id == id);
        at.map(|at| self.pending.swap_remove(at)).ok_or(AssociationError::Misuse("no such call awaits a response"))
    }

    /// Appends a fault. Faults are not signed: clients do not expect a signature, and a forged
    /// fault does no more harm than a closed connection.
    fn put_fault(&mut self, id: u32, context_id: u16, status: Status, flags: u8) {
        let header = Header::new(PduType::FAULT, flags | flags::WHOLE, id);
        Fault { context_id, cancels: 0, status }.write(&mut self.output, &header);
    }

    /// Asks the client to close the connection (C706 12.6.4.11).
    pub fn shut_down(&mut self) {
        super::pdu::Message::begin(&mut self.output, &Header::new(PduType::SHUTDOWN, flags::WHOLE, 0)).finish(0);
    }

    /// Returns the bytes to be sent. The caller clears them once they are sent.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Replaces the contents of a buffer by the bytes to be sent, and counts their units.
    pub(super) fn take_output(&mut self, buffer: &mut Vec<u8>) {
        buffer.clear();
        std::mem::swap(buffer, &mut self.output);
        self.options.counters.count_packets_out(output::units(buffer));
    }

    /// Returns the time from which on [`Self::check_pace`] refuses the client, unless a fragment is
    /// completed before.
    pub(super) fn pace_due(&self) -> Option<Instant> {
        let unit = self.input.due(self.options.limits.silence_max);
        unit.into_iter().chain(self.assemblies.due()).min()
    }

    /// Refuses a client whose incomplete call or fragment has not arrived in time. The caller calls
    /// this function when it has processed all bytes that have arrived, or very many of them.
    ///
    /// # Errors
    ///
    /// [`AssociationError::Slow`].
    pub(super) fn check_pace(&self) -> Result<(), AssociationError> {
        match self.pace_due() {
            Some(due) if due <= Instant::now() => Err(AssociationError::Slow),
            _ => Ok(()),
        }
    }

    /// Whether a client has bound.
    pub fn is_bound(&self) -> bool {
        self.is_bound
    }

    /// Whether the client may have several outstanding calls.
    pub fn is_multiplexed(&self) -> bool {
        self.granted & flags::MULTIPLEX != 0
    }

    /// Returns the number of unanswered calls.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Returns the accepted presentation context with an identifier, if there is one.
    pub fn presentation(&self, id: u16) -> Option<&Presentation> {
        self.presentations.iter().find(|presentation| presentation.id == id)
    }
}

impl Presentation {
    pub(super) fn of(context: &Context, transfer: SyntaxId) -> Self {
        Self { id: context.id, interface: context.interface, transfer }
    }
}
