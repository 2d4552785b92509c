//! Accepting connections. Each accepted connection is served by a thread of its own.

use super::clients::Clients;
use super::connection::{self, Connection};
use super::entrance::{Full, NetworkWindow, Place};
use super::exporter::Exporter;
use super::gate;
use super::local_setups::LocalSetup;
use super::standing::Standing;
use crate::access;
use crate::protocol::binding::Transfers;
use crate::server::association::AssociationClient;
use crate::transport::network::Opened;
use crate::transport::trace;
use crate::types::error::Result;
use crate::types::threads::{BREATHER, start_thread};
use obvia_rpc::co::ServerOptions;
use obvia_rpc::co::relay::{self, Attribution};
use obvia_rpc::security::Level;
use obvia_rpc::vi_call::serve_next;
use obvia_via::provider::shm::{Incoming, Listener};
use obvia_via::stream::{Stream, StreamListener};
use obvia_via::window::{self, Peer, Window};
use obvia_via::{Deadline, Error as ViError, Request};
use std::net::SocketAddr;
use std::sync::Arc;

/// The time within which the client of an association must bind.
const BIND_LIMIT: Deadline = Deadline::after_secs(10);

/// Accepts connections over shared memory on a thread of its own until the listener is closed.
pub(crate) fn accept_on(exporter: &'static Exporter, listener: Arc<Listener>) -> Result<()> {
    let accept = move || {
        loop {
            match listener.accept(Deadline::after_secs(3600)) {
                Ok(incoming) => {
                    trace::note_shared_memory();
                    accept_local(exporter, incoming);
                }
                Err(ViError::TimedOut) => {}
                Err(ViError::Cancelled) => return,
                // Most likely the process is out of file descriptors. Peers stay in the queue until
                // some descriptors are free.
                Err(_) => std::thread::sleep(BREATHER),
            }
        }
    };
    start_accepting(accept)
}

/// Serves a connection over shared memory on a thread of its own. If the client is a process of
/// another user, the connection gets a thread only under two conditions: the name is open to that
/// user, and the limits on local connections permit one more.
fn accept_local(exporter: &'static Exporter, incoming: Incoming) {
    let Ok(user) = incoming.user() else { return };
    let Ok(setup) = exporter.clients().local_setups.enter(user, incoming.interrupter()) else {
        incoming.refuse_for_others();
        return incoming.peer().map_or((), access::log_refused_connection);
    };
    let mut unserved = Unserved(Some(incoming));
    start_service(exporter, move || {
        let window = unserved.0.take()?.complete(&exporter.options()).ok()?;
        Some(Accepted { window, via: Via::Memory(setup) })
    });
}

/// A connection that no thread serves yet. Dropping this value refuses the connection.
struct Unserved(Option<Incoming>);

impl Drop for Unserved {
    fn drop(&mut self) {
        self.0.iter().for_each(Incoming::refuse);
    }
}

/// Accepts virtual interface connections over a network for the lifetime of the process. Their
/// calls must be protected at least at the level `least`.
pub(crate) fn accept_from(
    exporter: &'static Exporter,
    opened: &Opened,
    mut listener: obvia_via::Listener,
    least: Option<Level>,
) -> Result<()> {
    let (nic, descriptors) = (opened.nic.clone(), opened.descriptors);
    let accept = move || {
        loop {
            match listener.wait(Deadline::after_secs(3600)) {
                Ok(request) => {
                    let (host, setup) = (host_of(&request), Arc::new(NetworkWindow::of(&request)));
                    let place = match exporter.clients().entrance.enter_by_window(&host, descriptors, &setup) {
                        Ok(place) => place,
                        Err(Full(why)) => {
                            request.reject(why);
                            access::log_refused_connection(Peer::Host(host));
                            continue;
                        }
                    };
                    let nic = nic.clone();
                    start_service(exporter, move || {
                        let options = exporter.options();
                        let window = window::accept(&nic, request, &options, Deadline::after_secs(5)).ok()?;
                        setup.is_complete(window.alarm());
                        Some(Accepted { window, via: Via::Network(least, place) })
                    });
                }
                Err(ViError::TimedOut) => {}
                Err(_) => std::thread::sleep(BREATHER),
            }
        }
    };
    start_accepting(accept)
}

/// Returns the host of the peer that has sent a request for a connection.
fn host_of(request: &Request) -> String {
    let peer = request.peer();
    peer.parse::<SocketAddr>().map_or(peer, |address| address.ip().to_canonical().to_string())
}

/// The settings with which associations over streams are accepted.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    /// The transfer syntaxes that calls may use.
    pub(crate) transfers: Transfers,
    /// The least authentication level of calls, if there is one.
    pub(crate) least: Option<Level>,
    /// The least authentication level of activation calls; `None` if it is the level of all other
    /// calls, `Some(None)` if activation needs no authentication.
    pub(crate) activation: Option<Option<Level>>,
    /// The secondary address: the endpoint that clients use for further associations.
    pub(crate) endpoint: String,
}

/// Accepts associations over streams for the lifetime of the process.
pub(crate) fn accept_streams(exporter: &'static Exporter, listener: StreamListener, terms: Terms) -> Result<()> {
    let accept = move || {
        loop {
            match listener.accept(Deadline::after_secs(3600)) {
                Ok(stream) => {
                    let (stream, terms) = (Arc::new(stream), terms.clone());
                    match admit(exporter.clients(), &stream) {
                        Some(standing) => {
                            start_service(exporter, move || accept_association(exporter, stream, standing, terms).ok());
                        }
                        // The refusal is only logged: there is no association yet over which the
                        // peer could receive the reason.
                        None => access::log_refused_connection(stream.peer().clone()),
                    }
                }
                Err(ViError::TimedOut) => {}
                Err(_) => std::thread::sleep(BREATHER),
            }
        }
    };
    start_accepting(accept)
}

/// Gives a stream from a network a place at the [entrance](super::entrance). Counts a stream of
/// this host as a connection in setup. Returns `None` if the limits permit no further stream.
fn admit(clients: &'static Clients, stream: &Arc<Stream>) -> Option<Standing> {
    match stream.peer() {
        Peer::Host(address) => clients.entrance.enter(address, stream).ok().map(Standing::Remote),
        Peer::Process { uid, .. } => clients.local_setups.enter(*uid, Arc::clone(stream)).ok().map(Standing::local),
    }
}

fn accept_association(
    exporter: &'static Exporter,
    stream: Arc<Stream>,
    standing: Standing,
    terms: Terms,
) -> std::result::Result<Accepted, ViError> {
    let Terms { transfers, least, activation, endpoint } = terms;
    let client = Arc::new(AssociationClient::new(exporter, serve_lane, &stream, standing, transfers, least));
    let counters = exporter.services().counters().unwrap_or_default();
    let acceptor = access::acceptor(stream.peer());
    let denial_observer = Some(Arc::clone(&client) as Arc<_>);
    let options = ServerOptions {
        groups: Some(Arc::clone(&client) as Arc<_>),
        secondary_address: endpoint,
        acceptor,
        least,
        exemptions: exporter.services().exemptions(least, activation),
        counters,
        denial_observer,
        budget: Some(Arc::clone(&client) as Arc<_>),
        ..ServerOptions::default()
    };
    let (window, attribution) = relay::server(stream, Arc::clone(&client) as Arc<_>, &exporter.options(), options)?;
    Ok(Accepted { window, via: Via::Association(client, attribution) })
}

/// Serves a further window of an existing association.
pub(crate) fn serve_lane(
    exporter: &'static Exporter,
    window: Window,
    client: Arc<AssociationClient>,
    attribution: Attribution,
) {
    start_service(exporter, move || Some(Accepted { window, via: Via::Association(client, attribution) }));
}

/// An accepted connection that is to be served.
struct Accepted {
    window: Window,
    via: Via,
}

/// The way in which a connection was accepted.
enum Via {
    /// Over shared memory: the kernel vouches for the peer process.
    Memory(Option<LocalSetup>),
    /// Over a network by a virtual interface. The client must authenticate where a level is given.
    Network(Option<Level>, Place),
    /// By an association: the connection is one of its windows.
    Association(Arc<AssociationClient>, Attribution),
}

fn start_accepting(accept: impl FnOnce() + Send + 'static) -> Result<()> {
    start_thread("obvia-accept", accept)
}

/// Starts a thread that makes a connection by `complete` and serves it. A slow greeting thus delays
/// no other peer. If no thread can be started, `complete` is dropped: the connection closes, which
/// the peer notices at once.
fn start_service(exporter: &'static Exporter, complete: impl FnOnce() -> Option<Accepted> + Send + 'static) {
    let serve = move || {
        // If the greeting fails, there is no connection to serve.
        if let Some(Accepted { window, via }) = complete() {
            serve(exporter, window, via);
        }
    };
    let _ = std::thread::Builder::new().name("obvia-serve".to_owned()).spawn(serve);
}

/// Serves the window of an association until the client has bound.
///
/// # Errors
///
/// If the client does not bind in time, or the association fails.
fn await_bind(
    client: &AssociationClient,
    window: &mut Window,
    connection: &mut Connection,
) -> std::result::Result<(), ViError> {
    let until = BIND_LIMIT.start();
    while !client.is_bound() {
        if until.is_over() {
            return Err(ViError::TimedOut);
        }
        serve_next(window, connection, until).map_err(|why| *why)?;
    }
    Ok(())
}

/// Serves a connection until it ends.
fn serve(exporter: &'static Exporter, mut window: Window, via: Via) {
    let (association, least, standing) = match via {
        Via::Memory(setup) => (None, None, Standing::local(setup)),
        Via::Network(least, place) => (None, Some(least), Standing::Remote(place)),
        Via::Association(client, attribution) => (Some((client, attribution)), None, Standing::Uncounted),
    };
    let client = association.as_ref().map(|(client, _)| Arc::clone(client));
    let mut connection = Connection::new(exporter, &window, association, standing);
    if let Some(client) = client
        && let Err(why) = await_bind(&client, &mut window, &mut connection)
    {
        connection.note_end(&why);
        return connection.end_with(window);
    }
    if least.is_some_and(|least| gate::pass(&mut window, &mut connection, least).is_err()) {
        return connection.end_with(window);
    }
    window.grant_areas(connection.area_budget());
    connection::serve_connection(window, connection);
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_via::provider::shm::Directory;
    use obvia_via::window::Options;

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_client_without_a_thread_is_refused() {
        let (folder, limit) = (ground::Folder::new("accept"), Deadline::Within(ground::LATEST));
        let directory = Directory::at(folder.path()).unwrap();
        let listener = directory.bind("threadless").unwrap();
        let client = directory.dial("threadless", limit).unwrap();
        drop(Unserved(Some(listener.accept(limit).unwrap())));
        let error = client.complete(&Options::default(), limit).unwrap_err();
        assert!(matches!(error, ViError::PeerAtLimit { .. }), "{error}");
    }
}
