//! The client's relay: requests become calls of an activity, and the calls' outcomes become
//! responses and faults.

use super::keeper::{Keeper, Kept};
use super::{BIND, draw, flush, limits};
use crate::co::pdu::{Bind, BindAck, Outcome as Agreed};
use crate::co::relay::exchange::{Awaited, cache_target, put_fault, put_pdu};
use crate::co::relay::translation::Translation;
use crate::co::relay::{Route, Routes};
use crate::dg::{Activity, Failure, Outcome, OutgoingCall, Semantics};
use crate::status::Status;
use crate::uuid::{NDR, SyntaxId, Uuid};
use crate::vi_call::TargetId;
use obvia_via::datagram::{DatagramSocket, LONGEST, Received};
use obvia_via::window::{Inbox, Options, Outgoing, Peer, Relay, Window, relayed};
use obvia_via::{Deadline, Ended, Error as ViError, Header, Kind};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Creates a window whose requests travel through a connected socket as calls of an activity.
/// `keeper` does the activity's periodic work between calls. `client` identifies this process to
/// servers.
///
/// # Errors
///
/// If the socket is not connected, memory cannot be allocated, or the system provides no random
/// numbers.
pub fn client(
    socket: DatagramSocket,
    routes: Arc<dyn Routes>,
    keeper: &Keeper,
    client: Uuid,
    options: &Options,
) -> Result<Window, ViError> {
    let peer = socket.peer().ok_or(ViError::BadState { what: "the socket is not connected" })?;
    let activity = Activity::new(draw()?, client, limits(options, &socket), peer.host().is_loopback());
    let state = State {
        activity,
        routes,
        ways: HashMap::new(),
        call: None,
        bind_sequence: None,
        is_introduced: false,
        refused: None,
        own_bind_ack: None,
        is_waiting: false,
        room: vec![0; LONGEST],
        scratch: Vec::new(),
    };
    let shared = Arc::new(Shared { socket, state: Mutex::new(state), is_over: AtomicBool::new(false) });
    keeper.add(Arc::downgrade(&shared) as _);
    let local = shared.socket.local_host().map(|host| host.to_string());
    relayed(Box::new(ClientRelay { shared, peer: Peer::Host(peer.host().to_string()), local }), options)
}

#[derive(Debug)]
struct ClientRelay {
    shared: Arc<Shared>,
    peer: Peer,
    local: Option<String>,
}

/// The state shared by the window and the keeper.
#[derive(Debug)]
struct Shared {
    socket: DatagramSocket,
    state: Mutex<State>,
    /// Whether this client has introduced itself to a server's process that is gone now.
    is_over: AtomicBool,
}

#[derive(Debug)]
struct State {
    activity: Activity,
    routes: Arc<dyn Routes>,
    ways: HashMap<TargetId, Way>,
    /// The outstanding call.
    call: Option<Awaited>,
    /// The number of the bind's message in the window, if the outstanding call is a bind.
    bind_sequence: Option<u32>,
    /// Whether the server has answered a bind, which shows that the server is an obvia process.
    is_introduced: bool,
    /// A call or bind that failed before it was sent: the number of its message in the window, and
    /// the status of the fault.
    refused: Option<(u32, Status)>,
    /// The bind_ack that this relay has made in the server's place.
    own_bind_ack: Option<Vec<u8>>,
    /// Whether a thread waits for datagrams. The thread has to be told of each new call, because no
    /// other thread retransmits lost datagrams of the call.
    is_waiting: bool,
    /// The receive buffer.
    room: Vec<u8>,
    /// The buffer for translations.
    scratch: Vec<u8>,
}

/// The values by which the headers of units name a target, and the translation of its calls.
#[derive(Clone, Copy, Debug)]
struct Way {
    interface: SyntaxId,
    object: Option<Uuid>,
    translation: Translation,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the activity's output.
    fn flush(&self, state: &mut State) {
        if !flush(&self.socket, state.activity.output()) {
            state.activity.refused(Instant::now());
        }
    }

    /// Receives all available datagrams and answers callbacks.
    fn fill(&self, state: &mut State) -> Result<(), ViError> {
        loop {
            match self.socket.receive(&mut state.room)? {
                Received::Nothing => return Ok(()),
                Received::Datagram(length, _) => state.activity.receive(Instant::now(), &state.room[..length]),
                Received::Refused => state.activity.refused(Instant::now()),
            }
            self.flush(state);
        }
    }
}

impl Kept for Shared {
    fn keep(&self) {
        // If another thread holds the lock, that thread is making a call, which includes the
        // periodic work.
        let Ok(mut state) = self.state.try_lock() else { return };
        state.activity.keep(Instant::now());
        self.flush(&mut state);
        // During a call, the keeper leaves the datagrams to the call's thread. If the keeper
        // received them, that thread would not wake.
        if state.call.is_none() && state.bind_sequence.is_none() {
            // The next call reports the error.
            let _ = self.fill(&mut state);
        }
    }
}

impl State {
    fn request(&mut self, message: &Outgoing<'_>) -> Result<(), Status> {
        let Header { kind, opnum, first: index, second: generation } = message.header;
        let Way { interface, object, translation } = self.way(TargetId { index, generation })?;
        let (request, stub) = translation.encode_request(opnum, message.frame, &mut self.scratch)?;
        let semantics = match kind {
            Kind::Oneway => Semantics::Maybe,
            _ if translation.is_idempotent(opnum) => Semantics::Idempotent,
            _ => Semantics::AtMostOnce,
        };
        let opnum = translation.opnum_to_wire(&request)?;
        self.activity.call(Instant::now(), &OutgoingCall { interface, opnum, object, semantics, stub })?;
        if semantics != Semantics::Maybe {
            self.call = Some(Awaited { sequence: message.sequence, translation, request });
        }
        Ok(())
    }

    /// Returns the values by which the headers of units name a target.
    fn way(&mut self, target: TargetId) -> Result<Way, Status> {
        if let Some(way) = self.ways.get(&target) {
            return Ok(*way);
        }
        let Route { object, syntax, interface, .. } = self.routes.find(target).ok_or(Status::OBJECT_NOT_FOUND)?;
        let translation = Translation::without_context(interface).ok_or(Status::UNK_IF)?;
        let way = Way { interface: syntax, object, translation };
        cache_target(&mut self.ways, target, way);
        Ok(way)
    }

    /// Sends a bind to the server as a call, or answers the bind in place of the server.
    fn bind(&mut self, unit: &[u8], sequence: u32) -> Result<(), ViError> {
        let bind = Bind::from_wire(unit).map_err(|error| ViError::Relay { source: Box::new(error) })?;
        // A server that has not answered the first bind is not an obvia process, so this relay
        // answers for it.
        if bind.alters && !self.is_introduced {
            self.own_bind_ack = Some(make_bind_ack(bind));
            return Ok(());
        }
        let interface = self.routes.bind_interface();
        let call = OutgoingCall { interface, opnum: BIND, object: None, semantics: Semantics::Idempotent, stub: unit };
        match self.activity.call(Instant::now(), &call) {
            Ok(()) => self.bind_sequence = Some(sequence),
            Err(status) => self.refused = Some((sequence, status)),
        }
        Ok(())
    }

    /// Puts the next answer into the inbox, if there is one. Returns whether there was one.
    fn deliver(&mut self, inbox: &mut Inbox<'_>, is_over: &AtomicBool) -> Result<bool, ViError> {
        if let Some(ack) = self.own_bind_ack.take() {
            put_pdu(inbox, &ack)?;
            return Ok(true);
        }
        if let Some((sequence, status)) = self.refused.take() {
            put_fault(inbox, sequence, status)?;
            return Ok(true);
        }
        let Some(outcome) = self.activity.take_outcome() else { return Ok(false) };
        let is_lost = self.has_lost_server(&outcome);
        if is_lost {
            is_over.store(true, Ordering::Release);
        }
        match (outcome, self.bind_sequence.take(), self.call.take()) {
            (Ok((_, ack)), Some(_), _) => {
                self.is_introduced = true;
                put_pdu(inbox, &ack)?;
            }
            (Err(Failure { status, .. }), Some(sequence), _) => put_fault(inbox, sequence, status)?,
            (Ok((order, stub)), None, Some(call)) => call.put_response(inbox, order, &stub, &mut self.scratch)?,
            // The process to which the client has introduced itself is gone. The client gets the
            // status of a failed connection instead of the outcome's status.
            (Err(_), None, Some(call)) if is_lost => put_fault(inbox, call.sequence, Status::COMM_FAILURE)?,
            (Err(Failure { status, .. }), None, Some(call)) => put_fault(inbox, call.sequence, status)?,
            (_, None, None) => return Ok(false),
        }
        Ok(true)
    }

    /// Whether the outcome shows that the process to which this client has introduced itself is
    /// gone. A client that has not introduced itself calls only plain interfaces, which do not
    /// depend on a certain process.
    fn has_lost_server(&self, outcome: &Outcome) -> bool {
        let is_lost = |failure: &Failure| {
            matches!(failure.status, Status::COMM_FAILURE | Status::SERVER_UNAVAILABLE | Status::WRONG_BOOT_TIME)
        };
        self.is_introduced && outcome.as_ref().is_err_and(is_lost)
    }
}

/// Makes the bind_ack by which a server of the connection-oriented protocol would answer the bind
/// if NDR 2.0 were the server's only transfer syntax.
fn make_bind_ack(bind: Bind) -> Vec<u8> {
    let outcomes = bind.contexts.iter().map(|context| Agreed::choose(context, &[NDR])).collect();
    let Bind { alters, call_id, sizes, .. } = bind;
    BindAck { alters, flags: 0, call_id, sizes, group: 1, secondary_address: String::new(), outcomes }.to_wire()
}

impl Relay for ClientRelay {
    fn send(&self, message: Outgoing<'_>) -> Result<(), ViError> {
        let mut state = self.shared.lock();
        match message.header.kind {
            Kind::Request | Kind::Oneway => {
                if let Err(status) = state.request(&message) {
                    let is_awaited = message.header.kind == Kind::Request;
                    state.refused = Some((message.sequence, status)).filter(|_| is_awaited);
                }
            }
            Kind::Pdu => state.bind(message.frame, message.sequence)?,
            Kind::Cancel => {
                (state.call, state.bind_sequence) = (None, None);
                state.activity.orphan();
            }
            Kind::Response | Kind::Fault => return Err(ViError::BadState { what: "a client cannot send responses" }),
        }
        self.shared.flush(&mut state);
        if state.is_waiting {
            self.shared.socket.interrupt();
        }
        Ok(())
    }

    fn receive(&self, inbox: &mut Inbox<'_>, span: Duration) -> Result<(), ViError> {
        let mut span = Some(span).filter(|span| !span.is_zero());
        let mut state = self.shared.lock();
        loop {
            self.shared.fill(&mut state)?;
            state.activity.tick(Instant::now());
            self.shared.flush(&mut state);
            if state.deliver(inbox, &self.shared.is_over)? {
                return Ok(());
            }
            let Some(span) = span.take() else { return Ok(()) };
            let due = state.activity.due().map_or(span, |due| due.saturating_duration_since(Instant::now()));
            state.is_waiting = true;
            drop(state);
            let waited = self.shared.socket.wait(Deadline::Within(span.min(due)));
            state = self.shared.lock();
            state.is_waiting = false;
            match waited {
                Ok(()) | Err(ViError::TimedOut) => {}
                Err(ViError::Cancelled) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn wake(&self) {
        self.shared.socket.interrupt();
    }

    fn check(&self) -> Result<(), ViError> {
        if self.shared.is_over.load(Ordering::Acquire) {
            return Err(ViError::Disconnected { peer: self.peer.to_string(), why: Ended::ByPeer });
        }
        Ok(())
    }

    fn peer(&self) -> Peer {
        self.peer.clone()
    }

    fn local(&self) -> Option<&str> {
        self.local.as_deref()
    }

    fn end(&self) {
        let mut state = self.shared.lock();
        state.activity.end();
        // If the acknowledgement gets lost, the server keeps the last response a little longer.
        self.shared.flush(&mut state);
    }
}

#[cfg(test)]
mod tests;
