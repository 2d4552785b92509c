//! The serving side: connections are accepted, and each is served by a thread of its own, or by a loop of the program's.

mod caller;
mod connection;
mod gate;

pub use caller::is_cancelled;
pub(crate) use caller::{Caller, Identity, caller, take_back_sent};
pub use connection::{Loop, Served, set_loop};

use crate::binding::Transfers;
use crate::dcom;
use crate::error::Result;
use crate::presentation::Visitor;
use crate::runtime::{Runtime, janitor};
use crate::{security, trace};
use obvia_rpc::co::ServerOptions;
use obvia_rpc::co::relay::{self, Attribution};
use obvia_rpc::security::{Level, Principal};
use obvia_via::provider::shm::Listener;
use obvia_via::stream::{Stream, StreamListener};
use obvia_via::window::{self, Alarm, Peer, Window};
use obvia_via::{Deadline, Error as ViError, Nic};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

#[cfg(test)]
mod tests;

/// How long a listener that failed is left alone.
const BREATHER: Duration = Duration::from_millis(50);

/// The processes that are connected, and how many connections each has.
#[derive(Default)]
pub(crate) struct Clients {
    /// By OXID.
    connections: Mutex<HashMap<u64, Known>>,
    alarms: Mutex<Vec<Alarm>>,
    waiting: gate::Waiting,
}

/// A process that is connected: what is known of it for certain, and its connections.
#[derive(Default)]
struct Known {
    pid: Option<u32>,
    host: Option<String>,
    /// The host that this process is to it.
    local: Option<String>,
    /// Whose it is, where somebody has proved that it is theirs.
    owner: Option<Arc<Principal>>,
    count: usize,
}

impl Clients {
    /// Counts a connection. False for one that comes from another process than those that are there: nobody gives back
    /// what another process holds.
    fn enter(&self, oxid: u64, peer: &Peer, local: Option<&str>) -> bool {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let known = connections.entry(oxid).or_default();
        let is_same = match peer {
            Peer::Process { pid, .. } => known.pid.get_or_insert(*pid) == pid,
            Peer::Host(host) => known.host.get_or_insert_with(|| host.clone()) == host,
        };
        if is_same {
            known.count += 1;
            known.local = local.map(str::to_owned).or_else(|| known.local.take());
        }
        is_same
    }

    /// A client has made a call over a network, as this principal where it has proved that. False where the process is another's.
    fn prove(&self, oxid: u64, principal: Option<&Arc<Principal>>) -> bool {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let known = connections.entry(oxid).or_default();
        if known.owner.is_none() {
            known.owner = principal.cloned();
        }
        known.owner.as_ref() == principal
    }

    /// Whether a process is connected.
    pub(crate) fn has(&self, oxid: u64) -> bool {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&oxid)
    }

    /// The host that this process is to a client.
    pub(crate) fn local_to(&self, oxid: u64) -> Option<String> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).get(&oxid)?.local.clone()
    }

    /// Ends a connection. Returns what `end_client` does when it was the client's last, before it can connect again.
    fn leave<R>(&self, oxid: u64, end_client: impl FnOnce() -> R) -> Option<R> {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let known = connections.get_mut(&oxid)?;
        known.count -= 1;
        if known.count > 0 {
            return None;
        }
        connections.remove(&oxid);
        Some(end_client())
    }

    /// Remembers a connection for [`Self::wake_all`], and forgets those that have ended.
    fn watch(&self, alarm: Alarm) {
        let mut alarms = self.alarms.lock().unwrap_or_else(PoisonError::into_inner);
        alarms.retain(|alarm| !alarm.is_gone());
        alarms.push(alarm);
    }

    /// Has every service thread look whether it keeps objects that are no longer exported.
    pub(crate) fn wake_all(&self) {
        let mut alarms = self.alarms.lock().unwrap_or_else(PoisonError::into_inner);
        alarms.retain(|alarm| !alarm.is_gone());
        let all = alarms.clone();
        drop(alarms);
        // Without the lock: who rings may be the last to hold a connection, and an association's client leaves with it, which wakes everybody.
        all.iter().for_each(Alarm::ring);
    }
}

/// A connection of a client that has said who it is. Without one nobody is there to hold references.
pub(crate) struct Presence {
    runtime: &'static Runtime,
    oxid: u64,
}

impl Presence {
    /// Counts a connection. `None` where the process that it comes from is another one than that which is known.
    pub(crate) fn enter(runtime: &'static Runtime, oxid: u64, peer: &Peer, local: Option<&str>) -> Option<Self> {
        // Made only where it was counted: dropping it counts down.
        runtime.clients().enter(oxid, peer, local).then(|| Self { runtime, oxid })
    }

    /// Whether the process is that of who makes its calls. Of one of this host the kernel has said whose it is.
    pub(crate) fn prove(&self, peer: &Peer, principal: Option<&Arc<Principal>>) -> bool {
        matches!(peer, Peer::Process { .. }) || self.runtime.clients().prove(self.oxid, principal)
    }

    /// Which process it is.
    pub(crate) fn oxid(&self) -> u64 {
        self.oxid
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let Self { runtime, oxid } = *self;
        if let Some(dropped) =
            runtime.clients().leave(oxid, || (runtime.exports().drop_client(oxid), runtime.contexts().end_client(oxid)))
        {
            drop(dropped);
            runtime.clients().wake_all();
            // This process may have been its client, too.
            janitor::wake();
        }
    }
}

/// Accepts connections on a listener until it is closed, on a thread of its own.
pub(crate) fn accept_on(runtime: &'static Runtime, listener: Arc<Listener>) -> Result<()> {
    let accept = move || {
        loop {
            match listener.accept(Deadline::after_secs(3600)) {
                Ok(incoming) => {
                    trace::note_shared_memory();
                    start_service(runtime, move || incoming.complete(&runtime.options()).ok().map(Caught::from))
                }
                Err(ViError::TimedOut) => {}
                Err(ViError::Cancelled) => return,
                // Out of file descriptors, most likely: the peers in the queue wait until some are free.
                Err(_) => std::thread::sleep(BREATHER),
            }
        }
    };
    start_accepting(accept)
}

/// Accepts connections over a network as long as the process lives. Calls by them are to be protected at this level at least.
pub(crate) fn accept_from(
    runtime: &'static Runtime,
    nic: Nic,
    mut listener: obvia_via::Listener,
    least: Option<Level>,
) -> Result<()> {
    let accept = move || {
        loop {
            match listener.wait(Deadline::after_secs(3600)) {
                Ok(request) => {
                    let nic = nic.clone();
                    start_service(runtime, move || {
                        let options = runtime.options();
                        let window = window::accept(&nic, request, &options, Deadline::after_secs(5)).ok()?;
                        Some(Caught { window, via: Via::Network(least) })
                    });
                }
                Err(ViError::TimedOut) => {}
                Err(_) => std::thread::sleep(BREATHER),
            }
        }
    };
    start_accepting(accept)
}

/// What associations over streams are accepted on.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    /// Calls go in one of these transfer syntaxes.
    pub(crate) transfers: Transfers,
    /// They are protected at this level at least.
    pub(crate) least: Option<Level>,
    /// The least level of activation, where it is another than that of calls.
    pub(crate) activation: Option<Option<Level>>,
    /// What clients are told to use for further associations.
    pub(crate) endpoint: String,
}

/// Accepts associations over streams as long as the process lives.
pub(crate) fn accept_streams(runtime: &'static Runtime, listener: StreamListener, terms: Terms) -> Result<()> {
    let accept = move || {
        loop {
            match listener.accept(Deadline::after_secs(3600)) {
                Ok(stream) => {
                    let terms = terms.clone();
                    start_service(runtime, move || visited(runtime, stream, terms).ok());
                }
                Err(ViError::TimedOut) => {}
                Err(_) => std::thread::sleep(BREATHER),
            }
        }
    };
    start_accepting(accept)
}

/// Does something again and again as long as the process lives, on a thread of its own.
pub(crate) fn attend(
    name: &str,
    mut work: impl FnMut() -> std::result::Result<(), ViError> + Send + 'static,
) -> Result<()> {
    let attend = move || {
        loop {
            if work().is_err() {
                std::thread::sleep(BREATHER);
            }
        }
    };
    start_thread(name, attend)
}

fn visited(runtime: &'static Runtime, stream: Stream, terms: Terms) -> std::result::Result<Caught, ViError> {
    let Terms { transfers, least, activation, endpoint } = terms;
    let visitor = Arc::new(Visitor::new(runtime, &stream, transfers));
    // The group is this process: any part of its number that is not zero does.
    let group = runtime.oxid() as u32 | 1;
    let counters = Arc::clone(runtime.own_interfaces().counters());
    let acceptor = security::acceptor();
    let witness = Some(Arc::clone(&visitor) as Arc<_>);
    let options = ServerOptions {
        group,
        secondary_address: endpoint,
        acceptor,
        least,
        exemptions: dcom::exemptions(least, activation),
        counters,
        witness,
        ..ServerOptions::default()
    };
    let (window, attribution) = relay::server(stream, Arc::clone(&visitor) as Arc<_>, &runtime.options(), options)?;
    Ok(Caught { window, via: Via::Association(visitor, attribution) })
}

/// Serves a further window of an association.
pub(crate) fn serve_lane(runtime: &'static Runtime, window: Window, visitor: Arc<Visitor>, attribution: Attribution) {
    start_service(runtime, move || Some(Caught { window, via: Via::Association(visitor, attribution) }));
}

/// A connection to be served.
struct Caught {
    window: Window,
    via: Via,
}

/// How a connection came about.
enum Via {
    /// By shared memory: the kernel has said who is there.
    Memory,
    /// By a virtual interface over a network. Calls are to be protected at this level at least.
    Network(Option<Level>),
    /// It is one of an association's.
    Association(Arc<Visitor>, Attribution),
}

impl From<Window> for Caught {
    fn from(window: Window) -> Self {
        Self { window, via: Via::Memory }
    }
}

fn start_accepting(accept: impl FnOnce() + Send + 'static) -> Result<()> {
    start_thread("obvia-accept", accept)
}

fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(|error| {
        crate::Error::new(crate::code::E_OUTOFMEMORY, format!("starting a thread to accept calls: {error}"))
    })?;
    Ok(())
}

/// Serves the connection that `complete` makes, on a thread of its own: a peer that greets slowly holds up nobody else.
fn start_service(runtime: &'static Runtime, complete: impl FnOnce() -> Option<Caught> + Send + 'static) {
    let serve = move || {
        // A peer that does not get through the greeting has no connection to lose.
        if let Some(Caught { window, via }) = complete() {
            runtime.clients().watch(window.alarm());
            connection::serve_connection(runtime, window, via);
        }
    };
    // Without a thread the peer's connection closes, which it notices at once.
    let _ = std::thread::Builder::new().name("obvia-serve".to_owned()).spawn(serve);
}
