//! The server's relay: calls that arrive at a socket become requests in the windows of their
//! clients, and responses are sent back.
//!
//! One thread of the upper layer receives from the socket. A client is a process, which can have
//! several activities. Each client has windows of its own, its *lanes*, each with a thread that
//! executes one call at a time.

mod lane;
mod shared;

use super::{draw, limits};
use crate::co::relay::Interfaces;
use crate::dg::{CallKey, IncomingCall, Limits, Server, ServerEvent, ServerOptions};
use crate::status::Status;
use crate::uuid::Uuid;
use lane::{Client, FurtherLanes, Lane};
use obvia_via::datagram::{DatagramSocket, Host, LONGEST, Place, Received};
use obvia_via::window::Options;
use obvia_via::{Deadline, Error as ViError};
use shared::SharedServer;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The time without a unit after which the client of a call that is being executed counts as gone.
/// A waiting client sends several pings in this time.
const SILENCE_MAX: Duration = Duration::from_secs(90);
/// The maximum number of known clients; one host may have half of them.
const CLIENTS_MAX: usize = 256;
/// The time without a unit after which a client without state yields its place to a new client of
/// any host.
const MOMENT: Duration = Duration::from_millis(750);
/// The interval of the timers while there are clients.
const TIMER_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of datagrams processed between two checks of the timers.
const TAKEN_MAX: u32 = 64;

/// The clients of an endpoint, as the upper layer admits and serves them.
pub trait Clients: Send + Sync + fmt::Debug {
    /// Returns the interfaces for a new client at a host, or `None` if there is no room for the
    /// client.
    fn admit(&self, host: Host) -> Option<Arc<dyn Interfaces>>;
    /// Notes that a new client at a host is refused, because no client yields its place.
    fn note_refusal(&self, host: Host);
}

/// The options of an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointOptions {
    /// The options of the clients' windows.
    pub window: Options,
    /// The time without a unit after which a client is released (C706 5.1.6).
    pub rundown: Duration,
}

/// A socket that receives calls.
#[derive(Debug)]
pub struct Endpoint {
    shared: Arc<SharedEndpoint>,
    state: Mutex<State>,
}

/// The state shared by the endpoint and its lanes.
#[derive(Debug)]
struct SharedEndpoint {
    socket: DatagramSocket,
    server: SharedServer,
    further_lanes: FurtherLanes,
    options: EndpointOptions,
}

/// The state of the thread that receives.
#[derive(Debug)]
struct State {
    /// The clients by their identity. Calls without response whose callers have not identified
    /// themselves share the client `None`.
    clients: HashMap<Option<Uuid>, Arc<Client>>,
    served: Arc<dyn Clients>,
    /// The identity of the client of each call that may be outstanding.
    calls: HashMap<CallKey, Option<Uuid>>,
    room: Vec<u8>,
    timers_due: Instant,
}

impl SharedEndpoint {
    /// Calls a function on the server, and then sends the output.
    fn with_server(&self, what: impl FnOnce(&mut Server)) {
        self.server.with(what, |datagram, to| {
            // A datagram that the system rejects counts as lost. An unreachable client is detected
            // by its silence.
            let _ = self.socket.send(datagram, Some(to));
        });
    }

    fn respond(&self, key: CallKey, stub: &[u8]) {
        let stub = stub.to_vec();
        self.with_server(|server| server.respond(Instant::now(), key, stub));
    }

    fn fault(&self, key: CallKey, status: Status, began: bool) {
        self.with_server(|server| server.fault(Instant::now(), key, status, began));
    }
}

impl Endpoint {
    /// Creates an endpoint at a socket. The caller has to call [`Self::attend`] repeatedly.
    ///
    /// # Errors
    ///
    /// [`ViError::System`] if the system provides no random numbers.
    pub fn new(socket: DatagramSocket, served: Arc<dyn Clients>, options: EndpointOptions) -> Result<Self, ViError> {
        let limits = Limits { silence_max: SILENCE_MAX, ..limits(&options.window, &socket) };
        // The unit is a tenth of a second, so that a quickly restarted server has another boot time
        // than its predecessor. 0 is reserved for an unknown boot time.
        let boot =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| (since.as_millis() / 100) as u32).max(1);
        let secret = draw()?.0.to_ne_bytes();
        let server = SharedServer::new(Server::new(ServerOptions { limits, boot, secret }));
        let shared = SharedEndpoint { socket, server, further_lanes: FurtherLanes::default(), options };
        let (clients, calls) = (HashMap::new(), HashMap::new());
        let state = State { clients, served, calls, room: vec![0; LONGEST], timers_due: Instant::now() };
        Ok(Self { shared: Arc::new(shared), state: Mutex::new(state) })
    }

    /// Waits a limited time for datagrams and processes them. One thread has to call this method
    /// repeatedly.
    ///
    /// # Errors
    ///
    /// The system's error for the socket.
    pub fn attend(&self) -> Result<(), ViError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_idle = state.clients.is_empty() && self.shared.server.activities() == 0;
        let span = if is_idle { Duration::from_secs(3600) } else { TIMER_INTERVAL };
        match self.shared.socket.wait(Deadline::Within(span)) {
            Ok(()) => state.take(&self.shared)?,
            Err(ViError::TimedOut | ViError::Cancelled) => {}
            Err(error) => return Err(error),
        }
        if Instant::now() >= state.timers_due {
            state.run_timers(&self.shared);
        }
        Ok(())
    }
}

impl State {
    /// Processes the available datagrams.
    fn take(&mut self, shared: &Arc<SharedEndpoint>) -> Result<(), ViError> {
        for _ in 0..TAKEN_MAX {
            let Received::Datagram(length, from) = shared.socket.receive(&mut self.room)? else { break };
            shared.with_server(|server| server.receive(Instant::now(), from, &self.room[..length]));
            self.process_events(shared);
        }
        Ok(())
    }

    /// Processes the server's events.
    fn process_events(&mut self, shared: &Arc<SharedEndpoint>) {
        while let Some(event) = shared.server.next_event() {
            match event {
                ServerEvent::Call(call) => self.dispatch(shared, call),
                ServerEvent::Cancelled(key) => {
                    if let Some(client) = self.calls.get(&key).and_then(|id| self.clients.get(id)) {
                        client.cancel(key);
                    }
                }
                ServerEvent::Alive(id) => {
                    if let Some(client) = self.clients.get(&Some(id)) {
                        client.note_alive();
                    }
                }
            }
        }
    }

    /// Queues a call for a lane of its client.
    fn dispatch(&mut self, shared: &Arc<SharedEndpoint>, call: IncomingCall) {
        let (key, id) = (call.key, call.client);
        let Some(client) = self.client(shared, id, call.from) else {
            return shared.fault(key, Status::SERVER_TOO_BUSY, false);
        };
        if !call.is_maybe {
            self.calls.insert(key, id);
        }
        match client.enqueue(call) {
            Ok(false) => {}
            // If the new lane cannot be started, one of the existing lanes takes the call.
            Ok(true) => drop(Lane::begin(&client)),
            Err(status) => shared.fault(key, status, false),
        }
    }

    /// Returns a call's client, which may be new. Returns `None` if the call comes from another
    /// host than its client, or if there is no room for a new client.
    fn client(&mut self, shared: &Arc<SharedEndpoint>, id: Option<Uuid>, from: Place) -> Option<Arc<Client>> {
        if let Some(client) = self.clients.get(&id) {
            // An identity belongs to the host that used it first. Calls with this identity from
            // another host are refused.
            return (client.host() == from.host() || id.is_none()).then(|| Arc::clone(client));
        }
        // The addresses of callers without an identity are not proved, so such callers take no
        // other client's place.
        if id.is_some() && !self.make_room(from.host().counted()) {
            self.served.note_refusal(from.host());
            return None;
        }
        // Callers without an identity share one client, and may be at any host.
        let host = if id.is_none() { Host::NONE } else { from.host() };
        let client = Arc::new(Client::new(Arc::clone(shared), host, self.served.admit(host)?));
        self.clients.insert(id, Arc::clone(&client));
        Some(client)
    }

    /// Makes room for a new client at a host. If the endpoint has the maximum number of clients, or
    /// the host has half of that number, a known client yields its place. Only clients without
    /// calls and without state yield. Among these, a client of a host with the most clients yields,
    /// and if there are several, the client that has been silent for the longest time. Returns
    /// false if no client yields.
    fn make_room(&mut self, newcomer: Host) -> bool {
        if self.clients.len() < CLIENTS_MAX / 2 {
            return true;
        }
        let hosts = || self.clients.values().map(|client| client.host().counted());
        let neighbours = hosts().filter(|host| *host == newcomer).count();
        let is_host_full = neighbours >= CLIENTS_MAX / 2;
        if !is_host_full && self.clients.len() < CLIENTS_MAX {
            return true;
        }
        let mut by_host = HashMap::<Host, usize>::new();
        hosts().for_each(|host| *by_host.entry(host).or_default() += 1);
        let candidates = self.clients.iter().filter_map(|(id, client)| {
            let host = client.host().counted();
            let silence = client.silence().filter(|_| id.is_some() && (!is_host_full || host == newcomer))?;
            client.is_dispensable().then(|| (by_host[&host], silence, *id))
        });
        let Some((count, silence, id)) = candidates.max_by_key(|(count, silence, _)| (*count, *silence)) else {
            return false;
        };
        // A client that was active within the last `MOMENT` yields only if its host has more
        // clients than the newcomer's host would have.
        let yields = silence >= MOMENT || count > neighbours + 1;
        if yields && let Some(client) = self.clients.remove(&id) {
            client.end();
        }
        yields
    }

    /// Performs the actions that are due.
    fn run_timers(&mut self, shared: &Arc<SharedEndpoint>) {
        self.timers_due = Instant::now() + TIMER_INTERVAL;
        shared.with_server(|server| server.tick(Instant::now()));
        self.process_events(shared);
        self.calls.retain(|key, id| self.clients.get(id).is_some_and(|client| client.has(*key)));
        let is_over = |client: &Client| client.silence().is_some_and(|silence| silence >= shared.options.rundown);
        self.clients.extract_if(|_, client| is_over(client)).for_each(|(_, client)| client.end());
        for client in self.clients.values().filter(|client| client.lacks_lanes()) {
            drop(Lane::begin(client));
        }
    }
}

#[cfg(test)]
mod tests;
