//! Registration with the endpoint mapper. The entries last as long as the connection over which
//! they were registered. When the mapper restarts, a new connection is made and the entries are
//! registered again.

use super::LOCAL_MAPPER;
use super::inquiry::{bind_to_mapper, call};
use super::mapper::way_of;
use crate::protocol::binding;
use crate::runtime::Runtime;
use crate::services::process;
use crate::transport::network;
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use obvia_rpc::co::DirectCalls;
use obvia_rpc::epm::{self, Change, Entry, REGISTERED_MAX, Tower};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::uuid::{NDR, Uuid};
use obvia_via::stream::Stream;
use obvia_via::{Deadline, Error as ViError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The time limit for the mapper's answer when the registration's thread adds or removes entries.
const PATIENCE: Deadline = Deadline::after_secs(2);
/// The pause between two attempts to reach a mapper that is gone.
const PAUSE: Duration = Duration::from_secs(1);

/// The registration of endpoints with the mapper of the host, for as long as this value lives.
#[must_use = "the endpoints are no longer registered when this is dropped"]
pub struct Registration {
    shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
}

/// The state that a registration shares with its thread.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    is_changed: Condvar,
}

#[derive(Default)]
struct State {
    is_over: bool,
    /// The connection to the mapper. Its end shows the registration's thread that the mapper has
    /// ended.
    stream: Option<Arc<Stream>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits before the next attempt. Returns whether the registration is over.
    fn pause(&self) -> bool {
        let waited = self.is_changed.wait_timeout_while(self.lock(), PAUSE, |state| !state.is_over);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_over = true;
        if let Some(stream) = &state.stream {
            stream.interrupt();
        }
        drop(state);
        self.shared.is_changed.notify_all();
        // The wait for the thread is short: after the interruption, each of the thread's steps has
        // a time limit. Once the thread has ended, the mapper refers no more clients to this
        // process.
        let _ = self.keeper.take().map(JoinHandle::join);
    }
}

/// Registers the interfaces that this process performs now with the endpoint mapper of this host,
/// at all `ncacn_ip_tcp`, `ncadg_ip_udp` and `ncalrpc` endpoints of this process. Interfaces and
/// endpoints that are added later need another registration. The annotation is a description for
/// users.
///
/// `mapper` is the mapper's `ncalrpc` binding; `None` means `ncalrpc:[epmapper]`. The entries
/// end with this process in any case. When the mapper restarts, the entries are registered again.
///
/// # Errors
///
/// RPC_S_SERVER_UNAVAILABLE where there is no mapper; RPC_S_NO_BINDINGS where this process has no
/// such endpoint; E_INVALIDARG where this process performs no interface of functions, and for a
/// mapper with another protocol sequence; EPT_S_CANT_PERFORM_OP where the mapper has no room, or
/// for too many endpoints.
pub fn register_endpoints(mapper: Option<&str>, annotation: &str) -> Result<Registration> {
    let runtime = process::runtime()?;
    let mapper = match mapper {
        Some(text) => network::parse(text)?,
        None => StringBinding::new(ProtocolSequence::Lrpc, "", LOCAL_MAPPER),
    };
    if mapper.protocol != ProtocolSequence::Lrpc || mapper.endpoint.is_empty() {
        let text = format!(
            "`{mapper}`: servers can register only with the endpoint mapper of their own host, \
                ncalrpc:[{LOCAL_MAPPER}]"
        );
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    let entries = entries(runtime, annotation)?;
    let calls = enter(&mapper, &entries, deadline::of_thread())?;
    let shared = Arc::new(Shared::default());
    shared.lock().stream = Some(Arc::clone(calls.stream()));
    let keep = {
        let shared = Arc::clone(&shared);
        move || keep(&shared, calls, &mapper, &entries)
    };
    let keeper = std::thread::Builder::new().name("obvia-endpoints".to_owned()).spawn(keep);
    let keeper = keeper.map_err(|error| {
        Error::new(code::E_OUTOFMEMORY, format!("starting a thread to keep endpoints registered: {error}"))
    })?;
    Ok(Registration { shared, keeper: Some(keeper) })
}

/// Returns the entries to register.
fn entries(runtime: &Runtime, annotation: &str) -> Result<Vec<Entry>> {
    let heard = runtime.network().bindings(None);
    let ways: Vec<_> = heard.iter().filter_map(way_of).collect();
    if ways.is_empty() {
        let text =
            "this process listens on no endpoint that can be registered: call obvia::listen(\"ncacn_ip_tcp:\") first";
        return Err(Error::new(code::RPC_S_NO_BINDINGS, text));
    }
    let mut entries = Vec::new();
    for (info, object) in runtime.functions().all() {
        for way in &ways {
            let tower = Tower { interface: binding::syntax_of(info), transfer: NDR, way: way.clone() };
            entries.push(Entry { object: Uuid(object), tower, annotation: annotation.to_owned() });
        }
    }
    match entries.len() {
        0 => {
            let text = "this process serves no interface that can be registered: call obvia::serve_interface first";
            Err(Error::new(code::E_INVALIDARG, text))
        }
        count if count > REGISTERED_MAX => {
            let text = format!("{count} endpoints exceed the limit of {REGISTERED_MAX} for one registration");
            Err(Error::new(code::EPT_S_CANT_PERFORM_OP, text))
        }
        _ => Ok(entries),
    }
}

fn enter(mapper: &StringBinding, entries: &[Entry], deadline: Deadline) -> Result<DirectCalls> {
    let deadline = deadline.start();
    let mut calls = bind_to_mapper(mapper, deadline)?;
    let (order, results) = call(&mut calls, epm::change_request(Change::Insert, entries), deadline)?;
    epm::changed(order, &results)?;
    Ok(calls)
}

/// Keeps the entries registered until the registration is over.
fn keep(shared: &Shared, calls: DirectCalls, mapper: &StringBinding, entries: &[Entry]) {
    let mut calls = Some(calls);
    while !shared.lock().is_over {
        match &calls {
            // The stream becomes readable when the mapper ends, or when the mapper violates the
            // protocol.
            Some(known) => match known.stream().wait(Deadline::after_secs(3600)) {
                Err(ViError::TimedOut | ViError::Cancelled) => {}
                Ok(()) | Err(_) => {
                    shared.lock().stream = None;
                    calls = None;
                }
            },
            None if shared.pause() => return,
            None => {
                calls = enter(mapper, entries, PATIENCE).ok();
                shared.lock().stream = calls.as_ref().map(|calls| Arc::clone(calls.stream()));
            }
        }
    }
    if let Some(mut calls) = calls {
        // If the call fails, the end of the connection removes the entries.
        let _ = calls.call(epm::change_request(Change::Delete, entries), PATIENCE);
    }
}
