//! The client's relay: requests become calls of an association, and the calls' results become
//! responses.

use super::exchange::{Awaited, cache_target, put_fault, put_pdu};
use super::translation::Translation;
use super::{FILLS_MAX, PEER_TIMEOUT, Route, Routes, fill, limits, over, wait};
use crate::co::pdu::{ACCEPTED, Bind, BindAck, Context, FragmentSizes, Outcome};
use crate::co::{AssociationError, ClientAssociation, ClientEvent, ClientOptions, Limits, OutgoingCall};
use crate::security::Security;
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use crate::vi_call::TargetId;
use obvia_via::stream::Stream;
use obvia_via::window::{Inbox, Options, Outgoing, Peer, Relay, Window, relayed};
use obvia_via::{Deadline, Error as ViError, Header, Kind};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Creates a window whose requests travel over a stream as calls of an association. The relay binds
/// the association with a separate unit before the first call. `security` authenticates this client
/// and protects all calls.
///
/// # Errors
///
/// If memory for the window cannot be allocated.
pub fn client(
    stream: Stream,
    routes: Arc<dyn Routes>,
    options: &Options,
    security: Option<Security>,
) -> Result<Window, ViError> {
    let association = ClientAssociation::new(ClientOptions { limits: Limits { calls_max: 1, ..limits(options) } });
    let state = State {
        association,
        wanted: 0,
        has_joined: false,
        protection: security.as_ref().map(|_| FIRST_SECURITY),
        security,
        ways: HashMap::new(),
        contexts: HashMap::new(),
        next_context: 0,
        requested_bind: None,
        call: None,
        refused: None,
        is_waiting: false,
        scratch: Vec::new(),
    };
    relayed(Box::new(ClientRelay { stream, routes, state: Mutex::new(state) }), options)
}

/// The identifier of the first bind's security context.
const FIRST_SECURITY: u32 = 0;

#[derive(Debug)]
struct ClientRelay {
    stream: Stream,
    routes: Arc<dyn Routes>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    association: ClientAssociation,
    /// The association group that the client requests until it has joined a group; 0 for a new
    /// group.
    wanted: u32,
    /// Whether the server has answered that the association is in the group of this client's other
    /// associations with the server.
    has_joined: bool,
    /// The security parameters of the first bind.
    security: Option<Security>,
    /// The security context of all calls.
    protection: Option<u32>,
    ways: HashMap<TargetId, Way>,
    /// The outcomes of the proposed contexts, by interface: the context's identifier, or the status
    /// for calls.
    contexts: HashMap<SyntaxId, Result<u16, Status>>,
    next_context: u16,
    /// The bind that an upper layer has requested.
    requested_bind: Option<RequestedBind>,
    /// The outstanding call.
    call: Option<Call>,
    /// A call that failed before it was sent: the number of the call's message in the window, and
    /// the status of the fault.
    refused: Option<(u32, Status)>,
    /// Whether a thread waits for the server's bytes. The thread is woken to deliver the fault of a
    /// refused call, for which no bytes arrive.
    is_waiting: bool,
    /// The buffer for translations.
    scratch: Vec<u8>,
}

/// The negotiated address of a target in units.
#[derive(Clone, Copy, Debug)]
struct Way {
    context_id: u16,
    object: Option<Uuid>,
    translation: Translation,
}

/// A bind that an upper layer has requested.
#[derive(Debug)]
struct RequestedBind {
    /// The number that [`ClientAssociation::bind`] returned.
    id: u32,
    /// The message's number in the window.
    sequence: u32,
    bind: Bind,
}

#[derive(Debug)]
struct Call {
    /// The call's identifier in the association.
    id: u32,
    awaited: Awaited,
}

/// Returns the error that ends the association. A server that refused the bind may have been
/// restarted and may not know the group any more. The next association therefore asks for a new
/// group.
fn failed(error: AssociationError, wanted: u32, group: &AtomicU32) -> ViError {
    if let AssociationError::Refused { .. } = error {
        // Another thread may have stored a new group in the meantime, which must not be replaced.
        let _ = group.compare_exchange(wanted, 0, Ordering::AcqRel, Ordering::Acquire);
    }
    over(error)
}

impl ClientRelay {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the association's output.
    fn flush(&self, state: &mut State) -> Result<(), ViError> {
        let output = state.association.output();
        self.stream.send(output, Deadline::Within(PEER_TIMEOUT))?;
        output.clear();
        Ok(())
    }

    fn request(&self, state: &mut State, message: &Outgoing<'_>) -> Result<(), ViError> {
        let Header { kind, opnum, first: index, second: generation } = message.header;
        let is_maybe = kind == Kind::Oneway;
        let way = self.way(state, TargetId { index, generation })?;
        let State { association, scratch, protection, .. } = state;
        let prepared = way.and_then(|way| {
            let (request, stub) = way.translation.encode_request(opnum, message.frame, scratch)?;
            Ok((way, way.translation.opnum_to_wire(&request)?, request, stub))
        });
        let (Way { context_id, object, translation }, opnum, request, stub) = match prepared {
            Ok(prepared) => prepared,
            Err(status) => {
                state.refused = Some((message.sequence, status)).filter(|_| !is_maybe);
                return Ok(());
            }
        };
        let call = OutgoingCall { context_id, opnum, object, is_maybe, security: *protection, stub };
        let id = association.call(&call).map_err(over)?;
        if !is_maybe {
            state.call = Some(Call { id, awaited: Awaited { sequence: message.sequence, translation, request } });
        }
        self.flush(state)
    }

    /// Returns the address of a target in units, and negotiates a context if necessary.
    fn way(&self, state: &mut State, target: TargetId) -> Result<Result<Way, Status>, ViError> {
        if let Some(way) = state.ways.get(&target) {
            return Ok(Ok(*way));
        }
        let Some(route) = self.routes.find(target) else {
            return Ok(Err(Status::OBJECT_NOT_FOUND));
        };
        let Route { object, syntax, interface, transfers } = route;
        let agreed = match state.contexts.get(&syntax) {
            Some(agreed) => *agreed,
            None => self.negotiate(state, syntax, transfers)?,
        };
        let way = agreed.and_then(|context_id| {
            let presentation = state.association.presentation(context_id);
            let translation = presentation.and_then(|agreed| Translation::new(agreed.transfer, interface));
            Ok(Way { context_id, object, translation: translation.ok_or(Status::UNK_IF)? })
        });
        if let Ok(way) = way {
            cache_target(&mut state.ways, target, way);
        }
        Ok(way)
    }

    /// Proposes a context for an interface and waits for the answer. Other events are ignored,
    /// because no call is outstanding during the wait.
    fn negotiate(
        &self,
        state: &mut State,
        interface: SyntaxId,
        transfers: Vec<SyntaxId>,
    ) -> Result<Result<u16, Status>, ViError> {
        let number = self.propose(state, vec![Context { id: 0, interface, transfers }])?;
        self.flush(state)?;
        let deadline = Deadline::Within(PEER_TIMEOUT).start();
        let mut was_interrupted = false;
        loop {
            match state.association.poll().map_err(|error| failed(error, state.wanted, self.routes.group()))? {
                Some(ClientEvent::Bound(id, outcomes)) if id == number => {
                    state.note_group(self.routes.group())?;
                    state.note(&[interface], &outcomes);
                    break;
                }
                Some(ClientEvent::Fault(fault)) if fault.id == number => {
                    state.contexts.insert(interface, Err(fault.status));
                    break;
                }
                Some(_) => {}
                None if deadline.is_over() => return Err(ViError::TimedOut),
                None => match self.stream.receive(state.association.input.room(), deadline) {
                    Ok(count) => state.association.input.filled(count),
                    // The interrupt is meant for a thread that waits for messages. It is repeated
                    // after the negotiation.
                    Err(ViError::Cancelled) => was_interrupted = true,
                    Err(error) => return Err(error),
                },
            }
        }
        if was_interrupted {
            self.stream.interrupt();
        }
        Ok(state.contexts.get(&interface).copied().unwrap_or(Err(Status::UNK_IF)))
    }

    /// Proposes contexts. Until the association has joined a group, the proposal requests the group
    /// of this client's other associations.
    fn propose(&self, state: &mut State, contexts: Vec<Context>) -> Result<u32, ViError> {
        if !state.has_joined {
            state.wanted = self.routes.group().load(Ordering::Acquire);
            state.association.join(state.wanted);
        }
        state.propose(contexts)
    }

    /// Sends a bind that an upper layer has made. The association assigns the contexts'
    /// identifiers.
    fn bind(&self, state: &mut State, message: &Outgoing<'_>) -> Result<(), ViError> {
        let bind = Bind::from_wire(message.frame).map_err(|error| over(error.into()))?;
        let id = self.propose(state, bind.contexts.clone())?;
        state.requested_bind = Some(RequestedBind { id, sequence: message.sequence, bind });
        self.flush(state)
    }
}

impl State {
    fn propose(&mut self, mut contexts: Vec<Context>) -> Result<u32, ViError> {
        for context in &mut contexts {
            context.id = self.next_context;
            let too_many = ViError::BadState { what: "the association has too many presentation contexts" };
            self.next_context = self.next_context.checked_add(1).ok_or(too_many)?;
        }
        let security = self.security.take();
        self.association.bind(contexts, security).map_err(over)
    }

    /// Stores the group that the association has joined.
    fn note_group(&mut self, group: &AtomicU32) -> Result<(), ViError> {
        let joined = self.association.group();
        let noted = || group.compare_exchange(self.wanted, joined, Ordering::AcqRel, Ordering::Acquire);
        if !self.has_joined && noted().is_err_and(|known| known != joined) {
            // Another association of this client has joined another group in the meantime. This
            // attempt fails, and the next attempt joins that group.
            return Err(over(AssociationError::Group));
        }
        self.has_joined = true;
        Ok(())
    }

    /// Stores the outcomes of the contexts proposed last, one for each of `interfaces`.
    fn note(&mut self, interfaces: &[SyntaxId], outcomes: &[Outcome]) {
        let first = self.next_context - interfaces.len() as u16;
        for ((interface, outcome), id) in interfaces.iter().zip(outcomes).zip(first..) {
            let agreed = if outcome.result == ACCEPTED { Ok(id) } else { Err(Status::UNK_IF) };
            self.contexts.insert(*interface, agreed);
        }
    }

    /// Puts the message for the next event into the inbox, if the event has one. Returns whether
    /// there was an event.
    fn deliver(&mut self, inbox: &mut Inbox<'_>, group: &AtomicU32) -> Result<bool, ViError> {
        if let Some((sequence, status)) = self.refused.take() {
            put_fault(inbox, sequence, status)?;
            return Ok(true);
        }
        let Some(event) = self.association.poll().map_err(|error| failed(error, self.wanted, group))? else {
            return Ok(false);
        };
        match event {
            ClientEvent::Response(response) => {
                if let Some(call) = self.call.take_if(|call| call.id == response.id) {
                    call.awaited.put_response(inbox, response.order, response.stub, &mut self.scratch)?;
                }
            }
            ClientEvent::Fault(found) => {
                if let Some(call) = self.call.take_if(|call| call.id == found.id) {
                    put_fault(inbox, call.awaited.sequence, found.status)?;
                } else if let Some(bind) = self.requested_bind.take_if(|bind| bind.id == found.id) {
                    put_fault(inbox, bind.sequence, found.status)?;
                }
            }
            ClientEvent::Bound(id, outcomes) => {
                self.note_group(group)?;
                if let Some(RequestedBind { bind, .. }) = self.requested_bind.take_if(|bind| bind.id == id) {
                    let interfaces: Vec<_> = bind.contexts.iter().map(|context| context.interface).collect();
                    self.note(&interfaces, &outcomes);
                    let ack = self.acknowledged(&bind, outcomes);
                    put_pdu(inbox, &ack.to_wire())?;
                }
            }
            // The association continues until the server closes it.
            ClientEvent::ShutDown => {}
        }
        Ok(true)
    }

    fn acknowledged(&self, bind: &Bind, outcomes: Vec<Outcome>) -> BindAck {
        BindAck {
            alters: bind.alters,
            flags: 0,
            call_id: bind.call_id,
            sizes: FragmentSizes::GREATEST,
            group: self.association.group(),
            secondary_address: self.association.secondary_address().to_owned(),
            outcomes,
        }
    }
}

impl Relay for ClientRelay {
    fn send(&self, message: Outgoing<'_>) -> Result<(), ViError> {
        let mut state = self.lock();
        let outcome = match message.header.kind {
            Kind::Request | Kind::Oneway => self.request(&mut state, &message),
            Kind::Pdu => self.bind(&mut state, &message),
            Kind::Cancel => {
                if let Some(call) = state.call.take() {
                    state.association.orphan(call.id);
                }
                self.flush(&mut state)
            }
            Kind::Response | Kind::Fault => Err(ViError::BadState { what: "a client cannot send responses" }),
        };
        if state.is_waiting && state.refused.is_some() {
            self.stream.interrupt();
        }
        outcome
    }

    fn receive(&self, inbox: &mut Inbox<'_>, span: Duration) -> Result<(), ViError> {
        let mut span = Some(span).filter(|span| !span.is_zero());
        for _ in 0..FILLS_MAX {
            let mut state = self.lock();
            let delivered = state.deliver(inbox, self.routes.group());
            // A bind may take several exchanges, so processing the input may have produced output.
            self.flush(&mut state)?;
            if delivered? {
                return Ok(());
            }
            if let Some(span) = span.take() {
                state.is_waiting = true;
                drop(state);
                let waited = wait(&self.stream, span);
                state = self.lock();
                state.is_waiting = false;
                if !waited? {
                    return Ok(());
                }
            }
            if !fill(&self.stream, &mut state.association.input)? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn wake(&self) {
        self.stream.interrupt();
    }

    fn check(&self) -> Result<(), ViError> {
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.stream.has_ended()
    }

    fn peer(&self) -> Peer {
        self.stream.peer().clone()
    }

    fn local(&self) -> Option<&str> {
        self.stream.local_host()
    }

    fn end(&self) {
        self.stream.close();
    }
}

#[cfg(test)]
mod tests;
