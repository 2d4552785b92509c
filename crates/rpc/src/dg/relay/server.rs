//! The server's relay: calls that come to a socket become requests in the windows of their clients, and what is answered goes back.
//!
//! One thread, which the floor above gives, attends to the socket. Each client, which is a process and has several activities, has windows of
//! its own, its *lanes*, and with each a thread that performs one call at a time.

mod lane;

use super::{draw, flush, limits};
use crate::co::relay::Interfaces;
use crate::dg::{CallKey, IncomingCall, Limits, Server, ServerEvent, ServerOptions};
use crate::status::Status;
use crate::uuid::Uuid;
use lane::{Client, Lane};
use obvia_via::datagram::{DatagramSocket, Host, LONGEST, Place, Received};
use obvia_via::window::Options;
use obvia_via::{Deadline, Error as ViError};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long a server hears nothing of a call that it performs, before it takes its client for gone: several pings.
const PATIENCE: Duration = Duration::from_secs(90);
/// Clients that are known at a time; one host may have half of them.
const CLIENTS_MAX: usize = 256;
/// How often it is looked what is due while anybody is known.
const ROUND: Duration = Duration::from_millis(100);
/// Datagrams that are taken at a time, before what is due gets its turn.
const TAKEN_MAX: u32 = 64;
/// The client of those that nobody has asked who they are, since they wait for no answer.
const UNASKED: Uuid = Uuid(0);

/// Who serves the calls of clients.
pub trait Clients: Send + Sync + fmt::Debug {
    /// What there is for a client at a host that has not called before. `None` where there is no room for it.
    fn admit(&self, host: Host) -> Option<Arc<dyn Interfaces>>;
}

/// What an endpoint is made with.
#[derive(Clone, Debug)]
pub struct EndpointOptions {
    /// What the windows are made with.
    pub window: Options,
    /// How long a client may say nothing before what is kept for it is given up (C706 5.1.6).
    pub rundown: Duration,
}

/// A socket to which calls come.
#[derive(Debug)]
pub struct Endpoint {
    hall: Arc<Hall>,
    state: Mutex<State>,
}

/// What the endpoint and its lanes share.
#[derive(Debug)]
struct Hall {
    socket: DatagramSocket,
    server: Mutex<Server>,
    options: EndpointOptions,
}

/// What belongs to the thread that attends.
#[derive(Debug)]
struct State {
    clients: HashMap<Uuid, Arc<Client>>,
    served: Arc<dyn Clients>,
    /// The clients of calls that may be under way.
    calls: HashMap<CallKey, Uuid>,
    room: Vec<u8>,
    rounds_at: Instant,
}

impl Hall {
    fn server(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the server say something, and sends it.
    fn say(&self, what: impl FnOnce(&mut Server)) {
        let mut server = self.server();
        what(&mut server);
        // Who is not there any more is noticed by its silence.
        flush(&self.socket, server.output(), Some);
    }

    fn respond(&self, key: CallKey, stub: &[u8]) {
        self.say(|server| server.respond(Instant::now(), key, stub.to_vec()));
    }

    fn fault(&self, key: CallKey, status: Status, began: bool) {
        self.say(|server| server.fault(Instant::now(), key, status, began));
    }
}

impl Endpoint {
    /// An endpoint at a socket, which [`Self::attend`] is to be called for.
    pub fn new(socket: DatagramSocket, served: Arc<dyn Clients>, options: EndpointOptions) -> Self {
        let limits = Limits { patience: PATIENCE, ..limits(&options.window, &socket) };
        // In tenths of seconds, so that a server that is started anew at once is another one; never 0, which says nothing.
        let boot =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| (since.as_millis() / 100) as u32).max(1);
        // Without random numbers nobody is asked, and nothing performed.
        let draw = Box::new(|| draw().unwrap_or(UNASKED));
        let server = Mutex::new(Server::new(ServerOptions { limits, boot, draw }));
        let (clients, calls) = (HashMap::new(), HashMap::new());
        let state = State { clients, served, calls, room: vec![0; LONGEST], rounds_at: Instant::now() };
        Self { hall: Arc::new(Hall { socket, server, options }), state: Mutex::new(state) }
    }

    /// Waits for datagrams, not long, and does what they ask for. It is to be called again and again, by one thread.
    ///
    /// # Errors
    ///
    /// What the system says against the socket.
    pub fn attend(&self) -> Result<(), ViError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_idle = state.clients.is_empty() && self.hall.server().activities() == 0;
        let span = if is_idle { Duration::from_secs(3600) } else { ROUND };
        match self.hall.socket.wait(Deadline::Within(span)) {
            Ok(()) => state.take(&self.hall)?,
            Err(ViError::TimedOut | ViError::Cancelled) => {}
            Err(error) => return Err(error),
        }
        if Instant::now() >= state.rounds_at {
            state.go_round(&self.hall);
        }
        Ok(())
    }
}

impl State {
    /// Takes datagrams that are there.
    fn take(&mut self, hall: &Arc<Hall>) -> Result<(), ViError> {
        for _ in 0..TAKEN_MAX {
            let Received::Datagram(length, from) = hall.socket.receive(&mut self.room)? else { break };
            hall.say(|server| server.receive(Instant::now(), from, &self.room[..length]));
            self.follow(hall);
        }
        Ok(())
    }

    /// Does what has come about.
    fn follow(&mut self, hall: &Arc<Hall>) {
        let next = || hall.server().next_event();
        while let Some(event) = next() {
            match event {
                ServerEvent::Call(call) => self.dispatch(hall, call),
                ServerEvent::Cancelled(key) => {
                    if let Some(client) = self.calls.get(&key).and_then(|id| self.clients.get(id)) {
                        client.cancel(key);
                    }
                }
                ServerEvent::Alive(id) => {
                    if let Some(client) = self.clients.get(&id) {
                        client.has_spoken();
                    }
                }
            }
        }
    }

    /// Gives a call to a lane of its client.
    fn dispatch(&mut self, hall: &Arc<Hall>, call: IncomingCall) {
        let (key, id) = (call.key, call.client.unwrap_or(UNASKED));
        let Some(client) = self.client(hall, id, call.from) else {
            return hall.fault(key, Status::SERVER_TOO_BUSY, false);
        };
        if !call.is_maybe {
            self.calls.insert(key, id);
        }
        match client.enqueue(call) {
            Ok(false) => {}
            // Without memory for one more, the lanes that there are take what waits.
            Ok(true) => drop(Lane::begin(&client)),
            Err(status) => hall.fault(key, status, false),
        }
    }

    /// A client, known or new.
    fn client(&mut self, hall: &Arc<Hall>, id: Uuid, from: Place) -> Option<Arc<Client>> {
        if let Some(client) = self.clients.get(&id) {
            // Nobody else is heard in a client's name: who takes it from elsewhere is not the one that it is of.
            return (client.host() == from.host() || id == UNASKED).then(|| Arc::clone(client));
        }
        let neighbours = self.clients.values().filter(|client| client.host() == from.host()).count();
        if self.clients.len() >= CLIENTS_MAX || neighbours >= CLIENTS_MAX / 2 {
            return None;
        }
        // Of those that nobody has asked, each may be from anywhere.
        let host = if id == UNASKED { Host::NONE } else { from.host() };
        let client = Arc::new(Client::new(Arc::clone(hall), host, self.served.admit(host)?));
        self.clients.insert(id, Arc::clone(&client));
        Some(client)
    }

    /// Does what is due.
    fn go_round(&mut self, hall: &Arc<Hall>) {
        self.rounds_at = Instant::now() + ROUND;
        hall.say(|server| server.tick(Instant::now()));
        self.follow(hall);
        self.calls.retain(|key, id| self.clients.get(id).is_some_and(|client| client.has(*key)));
        self.clients.retain(|_, client| !client.run_down());
        for client in self.clients.values().filter(|client| client.lacks_lanes()) {
            drop(Lane::begin(client));
        }
    }
}
