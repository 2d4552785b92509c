//! Listening on sockets, for associations and for datagrams.

use crate::server::association::DatagramClients;
use crate::server::{Exporter, Terms, accept_streams, serve_lane};
use crate::transport::network::protection::{self, demanded};
use crate::transport::network::sequence::{Wanted, complete, port};
use crate::transport::network::stream::transfers;
use crate::types::error::{Error, Result, code};
use crate::types::threads::attend;
use obvia_rpc::dg::relay::{Endpoint, EndpointOptions};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::Waiting;
use obvia_via::datagram::DatagramSocket;
use obvia_via::stream::StreamListener;
use obvia_via::window::Options;
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// The default time without a message after which a client counts as gone. Clients of other
/// implementations send a message every half minute.
const RUNDOWN: Duration = Duration::from_secs(120);

/// Listens for associations, and sets the binding's endpoint to the actual endpoint.
pub(super) fn listen_for_streams(
    exporter: &'static Exporter,
    wanted: &Wanted,
    binding: &mut StringBinding,
) -> Result<()> {
    let terms = terms(wanted, binding)?;
    let listener = if binding.protocol == ProtocolSequence::Lrpc {
        if binding.endpoint.is_empty() {
            binding.endpoint = crate::types::identity::endpoint_of(exporter.oxid());
        }
        StreamListener::bind_local(exporter.local().directory(), &binding.endpoint)?
    } else {
        if binding.endpoint.is_empty() {
            "0".clone_into(&mut binding.endpoint);
        }
        let listener = StreamListener::bind(&binding.address, port(binding)?)?;
        if let Some(address) = listener.address().filter(|_| binding.address.is_empty()) {
            binding.address = address.ip().to_string();
        }
        listener
    };
    binding.endpoint = listener.endpoint();
    accept_streams(exporter, listener, Terms { endpoint: binding.endpoint.clone(), ..terms })
}

/// Listens on an inherited socket, and sets the binding's address and port to those of the socket.
pub(crate) fn listen_on(
    exporter: &'static Exporter,
    wanted: &Wanted,
    binding: &mut StringBinding,
    socket: OwnedFd,
) -> Result<()> {
    let terms = terms(wanted, binding)?;
    let listener = StreamListener::of_socket(socket)?;
    binding.endpoint = listener.endpoint();
    binding.address = listener.address().map_or_else(String::new, |address| address.ip().to_string());
    accept_streams(exporter, listener, Terms { endpoint: binding.endpoint.clone(), ..terms })
}

/// Returns the settings of associations. The endpoint is empty, since it is not known yet.
fn terms(wanted: &Wanted, binding: &StringBinding) -> Result<Terms> {
    let transfers = transfers(wanted)?;
    let least = demanded(wanted, binding)?;
    let activation = protection::activation(wanted, binding)?;
    Ok(Terms { transfers, least, activation, endpoint: String::new() })
}

/// Returns the time without a message after which a client counts as gone: the option `rundown`.
fn rundown(wanted: &Wanted) -> Result<Duration> {
    match wanted.value("rundown") {
        "" => Ok(RUNDOWN),
        text => text
            .parse()
            .map(Duration::from_secs)
            .map_err(|_| Error::new(code::E_INVALIDARG, format!("rundown={text} is not a number of seconds"))),
    }
}

/// Listens for datagrams, and sets the binding's endpoint to the actual endpoint.
pub(super) fn listen_for_datagrams(
    exporter: &'static Exporter,
    wanted: &Wanted,
    binding: &mut StringBinding,
) -> Result<()> {
    let rundown = rundown(wanted)?;
    complete(binding);
    let socket = DatagramSocket::bind(&binding.address, port(binding)?)?;
    binding.endpoint = socket.port().to_string();
    let clients = DatagramClients::new(exporter, serve_lane, socket.local_host().map(|host| host.to_string()));
    // The thread that receives the datagrams does not poll: polling would take the processor from
    // the threads that perform the calls.
    let window = Options { waiting: Waiting::Block, ..exporter.options() };
    let endpoint = Endpoint::new(socket, Arc::new(clients), EndpointOptions { window, rundown })?;
    attend("obvia-datagrams", move || endpoint.attend())
}
