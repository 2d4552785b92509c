//! The server's relay: calls of an association become requests, responses their results.

use super::{Interfaces, PATIENCE, TARGETS_MAX, fill, limits, over, wait};
use crate::co::{IncomingCall, ServerAssociation, ServerEvent, ServerOptions};
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
    known: HashMap<(u16, Option<Uuid>), TargetId>,
    /// The number of the call that is being answered.
    call: Option<u32>,
    /// Stub data that is being put together.
    scratch: Vec<u8>,
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
        let State { association, known, call: under_way, .. } = &mut *state;
        let refused = match association.poll(&mut |context| self.interfaces.judge(context)).map_err(over)? {
            None => return Ok(false),
            Some(ServerEvent::Call(call)) => match self.find(known, &call) {
                Ok(target) => {
                    *under_way = Some(call.id).filter(|_| !call.is_maybe);
                    put_request(inbox, target, &call)?;
                    return Ok(true);
                }
                Err(status) => Some((call.id, status)).filter(|_| !call.is_maybe),
            },
            // The call has been answered, or this thread would not be here.
            Some(ServerEvent::Orphaned(_) | ServerEvent::Cancelled(_)) => None,
        };
        if let Some((id, status)) = refused {
            association.fault(id, status, false).map_err(over)?;
        }
        Ok(true)
    }

    fn find(
        &self,
        known: &mut HashMap<(u16, Option<Uuid>), TargetId>,
        call: &IncomingCall<'_>,
    ) -> Result<TargetId, Status> {
        let key = (call.presentation.id, call.object);
        if let Some(target) = known.get(&key) {
            return Ok(*target);
        }
        let target = self.interfaces.find(call.object, call.presentation.interface)?;
        if known.len() == TARGETS_MAX {
            known.clear();
        }
        known.insert(key, target);
        Ok(target)
    }
}

fn put_request(inbox: &mut Inbox<'_>, target: TargetId, call: &IncomingCall<'_>) -> Result<(), ViError> {
    let TargetId { index, generation } = target;
    let kind = if call.is_maybe { Kind::Oneway } else { Kind::Request };
    inbox.put(Header { kind, opnum: call.opnum, first: index, second: generation }, call.stub)
}

impl Relay for ServerRelay {
    fn send(&self, message: Outgoing<'_>) -> Result<(), ViError> {
        let mut state = self.lock();
        let Header { kind, first: status, .. } = message.header;
        let State { association, call, scratch, .. } = &mut *state;
        let id = call.take().ok_or(ViError::BadState { what: "there is no call to be answered" })?;
        match kind {
            Kind::Response => {
                scratch.clear();
                scratch.extend_from_slice(message.frame);
                scratch.extend_from_slice(&status.to_le_bytes());
                association.respond(id, scratch).map_err(over)?;
            }
            Kind::Fault => association.fault(id, Status(status), true).map_err(over)?,
            _ => return Err(ViError::BadState { what: "a server only answers" }),
        }
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
