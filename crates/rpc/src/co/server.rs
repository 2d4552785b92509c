//! The server's side of an association: binds are answered, calls put together, results cut into fragments.

mod accepting;

use super::assembly::{Assemblies, Origin, Stub};
use super::contexts::SecurityContexts;
use super::groups::{Joined, Joins};
use super::pdu::{BindNak, Context, Fault, FragmentSizes, Header, Outcome, PduType, Request, Response, Unit, flags};
use super::{AssociationError, CallSecurity, Input, Limits, Presentation, output};
use crate::mgmt::Counters;
use crate::octets::ByteOrder;
use crate::security::{Acceptor, Authenticated, Level, SecurityError};
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What a server says of itself when it is bound to.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// What it puts up with.
    pub limits: Limits,
    /// The association groups of the server. Where there are none, a client is told the number that it asks for, and its associations have nothing in
    /// common.
    pub groups: Option<Arc<dyn Joins>>,
    /// The endpoint for further connections: the port, the name of the socket.
    pub secondary_address: String,
    /// Who authenticates clients; without, only those are taken that do not want it.
    pub acceptor: Option<Arc<dyn Acceptor>>,
    /// Where calls and units are counted.
    pub counters: Arc<Counters>,
    /// The least level at which calls are taken; without, also those are that nothing protects. Others are never seen: the answer to
    /// them is [`Status::ACCESS_DENIED`], as it is Windows'.
    pub least: Option<Level>,
    /// Calls for which another least level holds.
    pub exemptions: Vec<Exemption>,
    /// Who is told of refused calls.
    pub witness: Option<Arc<dyn Witness>>,
}

/// Calls of one interface for which another level than [`ServerOptions::least`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exemption {
    /// The interface.
    pub interface: SyntaxId,
    /// Its methods; all of them for none.
    pub opnums: &'static [u16],
    /// The least level. Without one, clients who have failed to prove who they are may make the calls, too, as anonymous clients.
    pub least: Option<Level>,
}

impl Exemption {
    fn holds_for(&self, presentation: &Presentation, opnum: u16) -> bool {
        self.interface == presentation.interface && (self.opnums.is_empty() || self.opnums.contains(&opnum))
    }
}

/// What a client was refused for who it is, before anybody was asked about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial<'a> {
    /// A call that was protected below the least level, or by somebody who had failed to prove who it is.
    Call {
        /// The interface, where its context is known.
        interface: Option<SyntaxId>,
        /// Which method.
        opnum: u16,
        /// Who made it, if its maker has been authenticated.
        maker: Option<&'a Authenticated>,
    },
    /// A proof of who it is.
    Proof,
}

/// Who is told what clients are refused.
pub trait Witness: Send + Sync + fmt::Debug {
    /// A client was refused. It is told so itself.
    fn denied(&self, denial: Denial<'_>);
}

/// What a server has to know about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerEvent<'a> {
    /// A call is complete. It is answered by [`ServerAssociation::respond`] or [`ServerAssociation::fault`], sooner or later.
    Call(IncomingCall<'a>),
    /// The client would like this call to end; it still has to be answered.
    Cancelled(u32),
    /// Nobody waits for this call any more. Its answer will not be sent, or is not looked at if it has been.
    Orphaned(u32),
}

/// A call, with all its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncomingCall<'a> {
    /// Its number, by which it is answered.
    pub id: u32,
    /// Interface and transfer syntax.
    pub presentation: Presentation,
    /// Which method.
    pub opnum: u16,
    /// Which object.
    pub object: Option<Uuid>,
    /// The byte order of the arguments.
    pub order: ByteOrder,
    /// Whether no answer is wanted. Then there is nothing to be answered.
    pub is_maybe: bool,
    /// What it was protected by, if by anything.
    pub security: Option<CallSecurity>,
    /// Who made it, if that is known.
    pub maker: Option<&'a Authenticated>,
    /// The arguments, in the transfer syntax.
    pub stub: &'a [u8],
}

/// A request, as its first fragment has it.
#[derive(Clone, Copy, Debug)]
struct Head {
    context_id: u16,
    opnum: u16,
    object: Option<Uuid>,
    flags: u8,
}

/// A call that is not answered yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    id: u32,
    context_id: u16,
    security: Option<CallSecurity>,
    cancels: u8,
    is_orphan: bool,
}

/// What came of a unit.
enum Found {
    Nothing,
    Call { id: u32, origin: Origin, head: Head, presentation: Presentation, stub: Stub },
    Cancelled(u32),
    Orphaned(u32),
}

/// The server's side of an association.
#[derive(Debug)]
pub struct ServerAssociation {
    /// What came from the client.
    pub input: Input,
    output: Vec<u8>,
    options: ServerOptions,
    is_bound: bool,
    // What of the flags of the bind is granted.
    granted: u8,
    // Of fragments that this side sends.
    length: u16,
    // The place in a group of the server's.
    joined: Option<Joined>,
    presentations: Vec<Presentation>,
    security: SecurityContexts,
    // An authentication failed: nobody is to be taken for nobody in particular then.
    is_denied: bool,
    assemblies: Assemblies<Head>,
    pending: Vec<Pending>,
}

impl ServerAssociation {
    /// An association that waits to be bound.
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
            assemblies: Assemblies::new(&options.limits),
            pending: Vec::new(),
            options,
        }
    }

    /// Says what the input means, as far as it is there: an event, or nothing until more has come.
    ///
    /// The judge is asked what becomes of each context that the client proposes: see [`Outcome::choose`].
    ///
    /// # Errors
    ///
    /// When the association is over. What is left in the output is still to be sent.
    pub fn poll(
        &mut self,
        judge: &mut dyn FnMut(&Context) -> Outcome,
    ) -> Result<Option<ServerEvent<'_>>, AssociationError> {
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

    /// Takes a request. One that breaks the rules is answered with a fault before the association ends.
    fn request(&mut self, unit: Range<usize>, header: &Header) -> Result<Found, AssociationError> {
        // What is before the stub data is never encrypted.
        let Request { context_id, opnum, .. } = Request::read(&Unit::open(self.input.bytes(unit.clone()))?)?;
        let security = match self.security.unprotect(self.input.bytes_mut(unit.clone())) {
            Ok(security) => security,
            Err(_) if self.is_anyones(context_id, opnum, unit.clone()) => None,
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
        // The stub data is the end of the body, which is the unit without trailer and padding.
        let end = unit.start + Header::SIZE + opened.body.len();
        let stub = end - request.stub.len()..end;
        let other = self.assemblies.other(id).filter(|_| !self.is_multiplexed());
        if let Some((other, context_id)) = other.map(|(other, head)| (other, head.context_id)) {
            // It is the first call that breaks the rules, by not going on.
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

    /// Takes a fragment of a request, and says whether it was the last.
    fn fragment(
        &mut self,
        header: &Header,
        origin: Origin,
        head: Head,
        stub: Range<usize>,
        hint: usize,
    ) -> Result<Found, AssociationError> {
        let (id, limit) = (header.call_id, self.options.limits.message_max);
        // Nothing is kept for who may not call: a call of several fragments ends the association.
        if !header.has(flags::WHOLE) && self.denies(origin, &head) {
            self.note_denied(origin, &head);
            return Err(SecurityError::Denied.into());
        }
        if self.pending.iter().any(|pending| pending.id == id) {
            return Err(AssociationError::Fragment { call_id: id });
        }
        let is_whole = header.has(flags::WHOLE);
        // Of a request that is all there, nobody needs the hint.
        if stub.len() > limit || (hint > limit && !is_whole) {
            return Err(AssociationError::TooLong { limit });
        }
        if !is_whole {
            let complete = self.assemblies.add(header, origin, head, self.input.bytes(stub))?;
            return match complete {
                Some((origin, head)) => self.complete(id, origin, head, Stub::Assembled),
                None => Ok(Found::Nothing),
            };
        }
        if self.assemblies.has(id) {
            return Err(AssociationError::Fragment { call_id: id });
        }
        self.complete(id, origin, head, Stub::InPlace(stub))
    }

    /// A call is refused for who makes it.
    fn note_denied(&self, origin: Origin, head: &Head) {
        let Some(witness) = &self.options.witness else { return };
        let interface = self.presentation(head.context_id).map(|presentation| presentation.interface);
        let maker = origin.security.and_then(|security| self.security.get(security.context_id));
        let maker = maker.and_then(|entry| entry.peer.as_ref());
        witness.denied(Denial::Call { interface, opnum: head.opnum, maker });
    }

    /// The exemption of a call from the least level, if there is one.
    fn exemption(&self, context_id: u16, opnum: u16) -> Option<&Exemption> {
        let presentation = self.presentation(context_id)?;
        self.options.exemptions.iter().find(|exemption| exemption.holds_for(presentation, opnum))
    }

    /// Whether a call is taken although its maker has failed to prove who it is, and can be read all the same.
    fn is_anyones(&self, context_id: u16, opnum: u16, unit: Range<usize>) -> bool {
        let is_clear = || Unit::open(self.input.bytes(unit)).ok()?.trailer.map(|trailer| trailer.head.level);
        self.is_denied
            && self.exemption(context_id, opnum).is_some_and(|exemption| exemption.least.is_none())
            && is_clear().and_then(Level::from_wire).is_some_and(|level| level < Level::Privacy)
    }

    /// Whether a call is refused for who makes it, or for how it is protected.
    fn denies(&self, origin: Origin, head: &Head) -> bool {
        let level = origin.security.map(|security| security.level);
        if !self.is_denied && level >= self.options.least {
            return false;
        }
        let exempt = self.exemption(head.context_id, head.opnum);
        exempt.is_none_or(|exemption| level < exemption.least || self.is_denied && exemption.least.is_some())
    }

    /// All of a request is there.
    fn complete(&mut self, id: u32, origin: Origin, head: Head, stub: Stub) -> Result<Found, AssociationError> {
        let Head { context_id, flags, .. } = head;
        let is_maybe = flags & flags::MAYBE != 0;
        let is_denied = self.denies(origin, &head);
        if is_denied {
            self.note_denied(origin, &head);
        }
        let presentation = match self.presentation(context_id) {
            _ if is_denied => Err((context_id, Status::ACCESS_DENIED)),
            Some(presentation) => Ok(*presentation),
            // There is no such context that the fault could be in.
            None => Err((0, Status::UNK_IF)),
        };
        let presentation = match presentation {
            Ok(presentation) => presentation,
            Err((context_id, status)) => {
                if !is_maybe {
                    self.put_fault(id, context_id, status, flags::DID_NOT_EXECUTE);
                }
                return Ok(Found::Nothing);
            }
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

    /// Answers a call with its results.
    ///
    /// # Errors
    ///
    /// [`AssociationError::Misuse`] when there is no such call; a security context's when it cannot sign.
    pub fn respond(&mut self, id: u32, stub: &[u8]) -> Result<(), AssociationError> {
        let Pending { context_id, security, cancels, is_orphan, .. } = self.answered(id)?;
        if is_orphan {
            return Ok(());
        }
        let response = Response { alloc_hint: 0, context_id, cancels, stub };
        let header = Header::new(PduType::RESPONSE, 0, id);
        let entry = security.and_then(|security| self.security.get_mut(security.context_id));
        output::put(&mut self.output, self.length, &header, &response, entry)?;
        Ok(())
    }

    /// Answers a call with the reason why it has no results. `began` says whether the method was called.
    ///
    /// # Errors
    ///
    /// [`AssociationError::Misuse`] when there is no such call.
    pub fn fault(&mut self, id: u32, status: Status, began: bool) -> Result<(), AssociationError> {
        let Pending { context_id, is_orphan, .. } = self.answered(id)?;
        if !is_orphan {
            self.put_fault(id, context_id, status, if began { 0 } else { flags::DID_NOT_EXECUTE });
        }
        Ok(())
    }

    fn answered(&mut self, id: u32) -> Result<Pending, AssociationError> {
        let at = self.pending.iter().position(|pending| pending.id == id);
        at.map(|at| self.pending.swap_remove(at))
            .ok_or(AssociationError::Misuse("there is no such call to be answered"))
    }

    /// Faults are not signed: clients do not expect it, and one that is made up is no worse than a cut connection.
    fn put_fault(&mut self, id: u32, context_id: u16, status: Status, flags: u8) {
        let header = Header::new(PduType::FAULT, flags | flags::WHOLE, id);
        Fault { context_id, cancels: 0, status }.write(&mut self.output, &header);
    }

    /// Asks the client to end the connection (C706 12.6.4.11).
    pub fn shut_down(&mut self) {
        super::pdu::Message::begin(&mut self.output, &Header::new(PduType::SHUTDOWN, flags::WHOLE, 0)).finish(0);
    }

    /// What is to be sent. It is the caller's to clear when it is sent.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// What there was to be sent has been sent, or never will be. It is counted and cleared.
    pub(super) fn note_sent(&mut self) {
        self.options.counters.count_packets_out(output::units(&self.output));
        self.output.clear();
    }

    /// Whether a client has bound.
    pub fn is_bound(&self) -> bool {
        self.is_bound
    }

    /// Whether the client may have several calls under way.
    pub fn is_multiplexed(&self) -> bool {
        self.granted & flags::MULTIPLEX != 0
    }

    /// Calls that are to be answered.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The presentation context with a number.
    pub fn presentation(&self, id: u16) -> Option<&Presentation> {
        self.presentations.iter().find(|presentation| presentation.id == id)
    }
}

impl Presentation {
    pub(super) fn of(context: &Context, transfer: SyntaxId) -> Self {
        Self { id: context.id, interface: context.interface, transfer }
    }
}
