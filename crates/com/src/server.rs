//! The serving side: connections are accepted, and each is served by a thread of its own, or by a loop of the program's.

mod caller;
mod clients;
mod connection;
mod gate;
mod group;

pub use caller::is_cancelled;
pub(crate) use caller::{Caller, Identity, caller, take_back_sent};
pub(crate) use clients::{Clients, Presence};
pub use connection::{Loop, Served, set_loop};
pub(crate) use group::Fellowship;

use crate::binding::Transfers;
use crate::dcom;
use crate::error::Result;
use crate::presentation::Visitor;
use crate::runtime::Runtime;
use crate::{security, trace};
use obvia_rpc::co::ServerOptions;
use obvia_rpc::co::relay::{self, Attribution};
use obvia_rpc::security::Level;
use obvia_via::provider::shm::Listener;
use obvia_via::stream::{Stream, StreamListener};
use obvia_via::window::{self, Window};
use obvia_via::{Deadline, Error as ViError, Nic};
use std::sync::Arc;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// How long a listener that failed is left alone.
const BREATHER: Duration = Duration::from_millis(50);

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
    let counters = Arc::clone(runtime.own_interfaces().counters());
    let acceptor = security::acceptor();
    let witness = Some(Arc::clone(&visitor) as Arc<_>);
    let options = ServerOptions {
        groups: Some(Arc::clone(&visitor) as Arc<_>),
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
