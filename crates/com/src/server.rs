//! The serving side: connections are accepted, and each is served by a thread of its own.

use crate::binding;
use crate::dispatch::Dispatch;
use crate::error::Result;
use crate::exports::{self, Client};
use crate::objref::ObjRef;
use crate::proxy::{Imported, split_reference};
use crate::registry::InterfaceInfo;
use crate::runtime::{Runtime, janitor};
use crate::system;
use obvia_rpc::object_table::Watch;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall, Service, TargetId, serve};
use obvia_via::provider::shm::Listener;
use obvia_via::window::{self, Alarm, Peer, Window};
use obvia_via::{Deadline, Error as ViError, Nic};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use windows_core::IUnknown;

/// How long a listener that failed is left alone.
const BREATHER: Duration = Duration::from_millis(50);

/// The processes that are connected, and how many connections each has.
#[derive(Default)]
pub(crate) struct Clients {
    /// By OXID.
    connections: Mutex<HashMap<u64, Known>>,
    alarms: Mutex<Vec<Alarm>>,
}

/// A process that is connected: what is known of it for certain, and its connections.
#[derive(Default)]
struct Known {
    pid: Option<u32>,
    host: Option<String>,
    /// The host that this process is to it.
    local: Option<String>,
    count: usize,
}

impl Clients {
    /// Counts a connection. False for one that comes from another process than those that are there: nobody gives back
    /// what another process holds.
    fn enter(&self, oxid: u64, peer: &Peer, local: Option<&str>) -> bool {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let known = connections.entry(oxid).or_default();
        let is_same = match peer {
            Peer::Process(pid) => known.pid.get_or_insert(*pid) == pid,
            Peer::Host(host) => known.host.get_or_insert_with(|| host.clone()) == host,
        };
        if is_same {
            known.count += 1;
            known.local = local.map(str::to_owned).or_else(|| known.local.take());
        }
        is_same
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
        alarms.retain(|alarm| !alarm.is_closed());
        alarms.push(alarm);
    }

    /// Has every service thread look whether it keeps objects that are no longer exported.
    pub(crate) fn wake_all(&self) {
        let mut alarms = self.alarms.lock().unwrap_or_else(PoisonError::into_inner);
        alarms.retain(|alarm| !alarm.is_closed());
        for alarm in alarms.iter() {
            alarm.ring();
        }
    }
}

/// Accepts connections on a listener until it is closed, on a thread of its own.
pub(crate) fn accept_on(runtime: &'static Runtime, listener: Arc<Listener>) -> Result<()> {
    let accept = move || {
        loop {
            match listener.accept(Deadline::after_secs(3600)) {
                Ok(incoming) => start_service(runtime, move || incoming.complete(&runtime.options()).ok()),
                Err(ViError::TimedOut) => {}
                Err(ViError::Cancelled) => return,
                // Out of file descriptors, most likely: the peers in the queue wait until some are free.
                Err(_) => std::thread::sleep(BREATHER),
            }
        }
    };
    start_accepting(accept)
}

/// Accepts connections over a network as long as the process lives.
pub(crate) fn accept_from(runtime: &'static Runtime, nic: Nic, mut listener: obvia_via::Listener) -> Result<()> {
    let accept = move || {
        loop {
            match listener.wait(Deadline::after_secs(3600)) {
                Ok(request) => {
                    let nic = nic.clone();
                    start_service(runtime, move || {
                        window::accept(&nic, request, &runtime.options(), Deadline::after_secs(5)).ok()
                    });
                }
                Err(ViError::TimedOut) => {}
                Err(_) => std::thread::sleep(BREATHER),
            }
        }
    };
    start_accepting(accept)
}

fn start_accepting(accept: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new().name("obvia-accept".to_owned()).spawn(accept).map_err(|error| {
        crate::Error::new(crate::code::E_OUTOFMEMORY, format!("starting a thread to accept connections: {error}"))
    })?;
    Ok(())
}

/// Serves the connection that `complete` makes, on a thread of its own: a peer that greets slowly holds up nobody else.
fn start_service(runtime: &'static Runtime, complete: impl FnOnce() -> Option<Window> + Send + 'static) {
    let serve = move || {
        // A peer that does not get through the greeting has no connection to lose.
        let Some(mut window) = complete() else {
            return;
        };
        let clients = runtime.clients();
        clients.watch(window.alarm());
        let mut connection = Connection {
            runtime,
            client: None,
            peer: window.peer(),
            local: window.local().map(str::to_owned),
            dispatch: Dispatch::new(&runtime.exports().table),
            alarm: window.alarm(),
        };
        serve(&mut window, &mut connection);
        drop(window);
        connection.end();
    };
    // Without a thread the peer's connection closes, which it notices at once.
    let _ = std::thread::Builder::new().name("obvia-serve".to_owned()).spawn(serve);
}

/// What a method can ask about its caller.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) runtime: &'static Runtime,
    pub(crate) oxid: u64,
    alarm: Alarm,
    // The next call takes the long way when this is invalid.
    watch: Arc<Watch>,
}

thread_local! {
    /// The connection that this thread serves. Set once, since the thread serves no other.
    static CALLER: RefCell<Option<Caller>> = const { RefCell::new(None) };
    /// The references in the last response.
    static SENT: RefCell<Sent> = const { RefCell::new(Sent { own: Vec::new(), home: Vec::new() }) };
}

/// The references in a response: the caller does not have them if it gave up the call. Whoever adds to them invalidates the
/// connection's watch, so that the next call forgets them.
#[derive(Default)]
struct Sent {
    /// To objects of this process, counted for the caller.
    own: Vec<(TargetId, u64)>,
    /// To objects of the caller's, which travel home with references of this process.
    home: Vec<Imported>,
}

impl Caller {
    /// A reference to an object, in the response to the caller.
    pub(crate) fn marshal(&self, object: &IUnknown, info: &'static InterfaceInfo) -> Result<ObjRef> {
        let mut reference = self.runtime.marshal(object, info, self.oxid)?;
        if reference.oxid == self.runtime.oxid() {
            self.note_sent(reference.target, reference.public_refs.into());
        } else if reference.oxid == self.oxid {
            // The method's pointer is dropped when the response is out, which must not be the last of it.
            let interface = exports::query(object, info)?;
            if let Some(imported) = split_reference(&interface, self.runtime.oxid())? {
                reference.public_refs = 1;
                SENT.with_borrow_mut(|sent| sent.home.push(imported));
                self.watch.invalidate();
            }
        }
        Ok(reference)
    }

    /// References have been counted for the caller, and are in the response.
    pub(crate) fn note_sent(&self, target: TargetId, refs: u64) {
        SENT.with_borrow_mut(|sent| sent.own.push((target, refs)));
        self.watch.invalidate();
    }
}

/// Takes back the references of a response that the caller did not get.
#[cold]
pub(crate) fn take_back_sent() {
    let sent = SENT.take();
    if sent.own.is_empty() && sent.home.is_empty() {
        return;
    }
    for imported in sent.home {
        imported.link.release_later(imported.target, 1);
    }
    if let Some(caller) = caller() {
        caller.runtime.exports().release(Client(caller.oxid), sent.own);
        caller.runtime.clients().wake_all();
    }
}

/// The caller of the method that runs on this thread, if it was called from another process.
pub(crate) fn caller() -> Option<Caller> {
    CALLER.with_borrow(Clone::clone)
}

/// Whether the caller of the method that runs on this thread no longer waits for it: it gave up, or ended.
///
/// Long methods look now and then. In a method that was called in its own process this is always false.
pub fn is_cancelled() -> bool {
    CALLER.with_borrow(|caller| caller.as_ref().is_some_and(|caller| caller.alarm.is_closed()))
}

/// One connection and what it is served with.
struct Connection {
    runtime: &'static Runtime,
    client: Option<u64>,
    peer: Peer,
    local: Option<String>,
    dispatch: Dispatch,
    alarm: Alarm,
}

impl Connection {
    fn end(self) {
        let Self { runtime, client, dispatch, .. } = self;
        drop(dispatch);
        if let Some(client) = client
            && let Some(dropped) = runtime.clients().leave(client, || runtime.exports().drop_client(client))
        {
            drop(dropped);
            runtime.clients().wake_all();
            // This process may have been its client, too.
            janitor::wake();
        }
    }
}

impl Connection {
    /// A call of the runtime's own, the first one of a target, or the first one after something has happened.
    #[cold]
    #[inline(never)]
    fn dispatch_slowly(&mut self, call: &mut ServerCall<'_>) -> Answer {
        // Who calls again has taken the last response.
        drop(SENT.take());
        if call.target() != system::TARGET.word() {
            self.dispatch.fetch_and_perform(&self.runtime.exports().table, call)
        } else if self.client.is_some() {
            system::perform(call)
        } else {
            Answer::fault(Status::PROTOCOL_ERROR)
        }
    }
}

impl Service for Connection {
    #[inline(always)]
    fn dispatch(&mut self, call: &mut ServerCall<'_>) -> Answer {
        match self.dispatch.perform(call) {
            Some(answer) => answer,
            None => self.dispatch_slowly(call),
        }
    }

    fn answer_pdu(&mut self, pdu: &[u8]) -> Option<Vec<u8>> {
        let (answer, client) = binding::answer(pdu, self.runtime.oxid())?;
        match (self.client, client) {
            (None, Some(client)) => {
                if !self.runtime.clients().enter(client, &self.peer, self.local.as_deref()) {
                    return None;
                }
                self.client = Some(client);
                let watch = Arc::clone(self.dispatch.watch());
                let caller = Caller { runtime: self.runtime, oxid: client, alarm: self.alarm.clone(), watch };
                CALLER.set(Some(caller));
            }
            // Who has said who it is does not become somebody else; who has not may not go on.
            (Some(known), Some(client)) if known != client => return None,
            (None, None) => return None,
            _ => {}
        }
        Some(answer)
    }

    fn abandoned(&mut self) {
        take_back_sent();
    }

    fn tidy(&mut self) {
        self.dispatch.purge(&self.runtime.exports().table);
    }
}
