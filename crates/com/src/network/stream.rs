//! `ncacn_ip_tcp` and `ncalrpc`: associations over TCP and over Unix sockets.
//!
//! The option `transfer` names the transfer syntax of calls; by default the two sides choose the
//! best one that both support.

use super::port;
use super::protection::{self, ACTIVATION, OF_CLIENTS, demanded};
use super::sequence::{Means, Sequence, Wanted};
use crate::binding::Transfers;
use crate::error::{Error, Result, code};
use crate::routes::Targets;
use crate::runtime::Runtime;
use crate::security::Protection;
use crate::server::{Terms, accept_streams};
use obvia_rpc::co::relay;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::Deadline;
use obvia_via::stream::{Stream, StreamListener};
use obvia_via::window::{Options, Window};
use rustix::fd::OwnedFd;
use std::sync::Arc;

pub(super) const TCP: Sequence = sequence(ProtocolSequence::IpTcp);
pub(super) const LRPC: Sequence = sequence(ProtocolSequence::Lrpc);

const fn sequence(protocol: ProtocolSequence) -> Sequence {
    Sequence {
        protocol,
        shared: &[protection::SHARED],
        own: &["transfer", ACTIVATION, OF_CLIENTS[0], OF_CLIENTS[1]],
        alone: None,
        means: Means::Stream,
    }
}

/// Returns the transfer syntaxes in the options.
pub(super) fn transfers(wanted: &Wanted) -> Result<Transfers> {
    let name = wanted.value("transfer");
    Transfers::named(name).ok_or_else(|| {
        Error::new(code::E_INVALIDARG, format!("there is no transfer syntax `{name}`; there are {}", Transfers::NAMES))
    })
}

/// Connects to a process by an association.
pub(super) fn connect(
    runtime: &Runtime,
    binding: &StringBinding,
    targets: &Arc<Targets>,
    options: &Options,
    deadline: Deadline,
) -> Result<Window> {
    let security = targets.protection().map(Protection::begin).transpose()?;
    let stream = open(runtime, binding, deadline)?;
    Ok(relay::client(stream, Arc::clone(targets) as Arc<_>, options, security)?)
}

/// Opens a stream to a server.
pub(super) fn open(runtime: &Runtime, binding: &StringBinding, deadline: Deadline) -> Result<Stream> {
    Ok(match binding.protocol {
        ProtocolSequence::Lrpc => Stream::connect_local(runtime.directory(), &binding.endpoint, deadline)?,
        _ => Stream::connect(&binding.address, port(binding)?, deadline)?,
    })
}

/// Listens, and sets the binding's endpoint to the actual one.
pub(super) fn listen(runtime: &'static Runtime, wanted: &Wanted, binding: &mut StringBinding) -> Result<()> {
    let terms = terms(wanted, binding)?;
    let listener = if binding.protocol == ProtocolSequence::Lrpc {
        if binding.endpoint.is_empty() {
            binding.endpoint = crate::identity::endpoint_of(runtime.oxid());
        }
        StreamListener::bind_local(runtime.directory(), &binding.endpoint)?
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
    accept_streams(runtime, listener, Terms { endpoint: binding.endpoint.clone(), ..terms })
}

/// Listens on an inherited socket, and sets the binding's address and port to those of the socket.
pub(super) fn listen_on(
    runtime: &'static Runtime,
    wanted: &Wanted,
    binding: &mut StringBinding,
    socket: OwnedFd,
) -> Result<()> {
    let terms = terms(wanted, binding)?;
    let listener = StreamListener::of_socket(socket)?;
    binding.endpoint = listener.endpoint();
    binding.address = listener.address().map_or_else(String::new, |address| address.ip().to_string());
    accept_streams(runtime, listener, Terms { endpoint: binding.endpoint.clone(), ..terms })
}

/// Returns the settings of associations; the endpoint is not known yet.
fn terms(wanted: &Wanted, binding: &StringBinding) -> Result<Terms> {
    let transfers = transfers(wanted)?;
    let least = demanded(wanted, binding)?;
    let activation = protection::activation(wanted, binding)?;
    Ok(Terms { transfers, least, activation, endpoint: String::new() })
}
