//! The server's relay: calls of an association become requests, responses their results.

use super::translation::{self, Translation};
use super::{Interfaces, PATIENCE, TARGETS_MAX, fill, limits, over, wait};
use crate::co::{IncomingCall, Presentation, ServerAssociation, ServerEvent, ServerOptions};
use crate::status::Status;
use crate::uuid::Uuid;
use crate::vi_call::TargetId;
use obvia_via::stream::Stream;
use obvia_via::window::{Inbox, Options, Outgoing, Peer, Relay, Window, relayed};
use obvia_via::{Deadline, Error as ViError, Header, Kind};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A window to which calls of an association come over a stream.
///
/// # Errors
///
/// Where there is no memory.
pub fn server(
    stream: Stream,
    interfaces: Arc<dyn Interfaces>,
    options: &Options,
    mut association: ServerOptions,
) -> Result<Window, ViError> {
    association.limits = limits(options);
    let association = ServerAssociation::new(association);
    let state = State { association, known: HashMap::new(), call: None, scratch: Vec::new() };
    relayed(Box::new(ServerRelay { stream, interfaces, state: Mutex::new(state) }), options)
}

#[derive(Debug)]
struct ServerRelay {
    stream: Stream,
    interfaces: Arc<dyn Interfaces>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    association: ServerAssociation,
    /// Whom requests are for, by context and object.
    known: HashMap<(u16, Option<Uuid>), Addressee>,
    call: Option<Call>,
    /// Where what is translated is put together.
    scratch: Vec<u8>,
}

/// Whom a request is for.
#[derive(Clone, Copy, Debug)]
struct Addressee {
    target: TargetId,
    translation: Translation,
}

/// The call that is being answered.
#[derive(Debug)]
struct Call {
    id: u32,
    translation: Translation,
    request: translation::Request,
}

impl ServerRelay {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends what the association has to say.
    fn flush(&self, state: &mut State) -> Result<(), ViError> {
        let output = state.association.output();
        if !output.is_empty() {
            self.stream.send(output, Deadline::Within(PATIENCE))?;
            output.clear();
        }
        Ok(())
    }

    /// Puts what has come into the inbox. Whether there was something.
    fn deliver(&self, state: &mut State, inbox: &mut Inbox<'_>) -> Result<bool, ViError> {
        let State { association, known, call: under_way, scratch } = &mut *state;
        let call = match association.poll(&mut |context| self.interfaces.judge(context)).map_err(over)? {
            None => return Ok(false),
            Some(ServerEvent::Call(call)) => call,
            // The call has been answered, or this thread would not be here.
            Some(ServerEvent::Orphaned(_) | ServerEvent::Cancelled(_)) => return Ok(true),
        };
        let prepared = self.find(known, &call).and_then(|Addressee { target, translation }| {
            let opnum = translation.opnum_from_wire(call.opnum)?;
            let decoded = translation.decode_request(opnum, call.order, call.stub, inbox.frame_max(), scratch)?;
            Ok((target, translation, opnum, decoded))
        });
        match prepared {
            Ok((TargetId { index, generation }, translation, opnum, (request, frame))) => {
                let kind = if call.is_maybe { Kind::Oneway } else { Kind::Request };
                inbox.put(Header { kind, opnum, first: index, second: generation }, frame)?;
                *under_way = (!call.is_maybe).then_some(Call { id: call.id, translation, request });
            }
            Err(_) if call.is_maybe => {}
            Err(status) => {
                let id = call.id;
                association.fault(id, status, false).map_err(over)?;
            }
        }
        Ok(true)
    }

    fn find(
        &self,
        known: &mut HashMap<(u16, Option<Uuid>), Addressee>,
        call: &IncomingCall<'_>,
    ) -> Result<Addressee, Status> {
        let Presentation { id, interface, transfer } = call.presentation;
        let key = (id, call.object);
        if let Some(known) = known.get(&key) {
            return Ok(*known);
        }
        let (target, interface) = self.interfaces.find(call.object, interface)?;
        let translation = Translation::new(transfer, interface).ok_or(Status::UNK_IF)?;
        if known.len() == TARGETS_MAX {
            known.clear();
        }
        let found = Addressee { target, translation };
        known.insert(key, found);
        Ok(found)
    }
}

impl Relay for ServerRelay {
    fn send(&self, message: Outgoing<'_>) -> Result<(), ViError> {
        let mut state = self.lock();
        let Header { kind, first: status, .. } = message.header;
        let State { association, call, scratch, .. } = &mut *state;
        let call = call.take().ok_or(ViError::BadState { what: "there is no call to be answered" })?;
        let Call { id, translation, request } = call;
        let encoded = match kind {
            Kind::Response => translation.encode_response(&request, status, message.frame, scratch),
            Kind::Fault => Err(Status(status)),
            _ => return Err(ViError::BadState { what: "a server only answers" }),
        };
        let answered = match encoded {
            Ok(()) => association.respond(id, scratch),
            Err(status) => association.fault(id, status, true),
        };
        answered.map_err(over)?;
        self.flush(&mut state)
    }

    fn receive(&self, inbox: &mut Inbox<'_>, span: Duration) -> Result<(), ViError> {
        let mut span = Some(span).filter(|span| !span.is_zero());
        loop {
            let mut state = self.lock();
            let outcome = self.deliver(&mut state, inbox);
            // Also when the association is over: the client is told why.
            let flushed = self.flush(&mut state);
            let was_something = outcome?;
            flushed?;
            if inbox.is_full() {
                return Ok(());
            }
            if was_something {
                continue;
            }
            if let Some(span) = span.take() {
                drop(state);
                if !wait(&self.stream, span)? {
                    return Ok(());
                }
                state = self.lock();
            }
            if !fill(&self.stream, &mut state.association.input)? {
                return Ok(());
            }
        }
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
