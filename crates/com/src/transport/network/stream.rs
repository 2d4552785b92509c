//! `ncacn_ip_tcp` and `ncalrpc`: associations over TCP and over Unix sockets.
//!
//! The option `transfer` names the transfer syntax of calls; by default the two sides choose the
//! best one that both support. [`super::protection`] has the other options.

use super::protection::ACTIVATION;
use super::sequence::{Means, OF_CLIENTS, SHARED, Sequence, Wanted, port};
use crate::access::Protection;
use crate::protocol::binding::Transfers;
use crate::transport::routes::Targets;
use crate::types::error::{Error, Result, code};
use obvia_rpc::co::relay;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::Deadline;
use obvia_via::provider::shm::Directory;
use obvia_via::stream::Stream;
use obvia_via::window::{Options, Window};
use std::sync::Arc;

pub(crate) const TCP: Sequence = sequence(ProtocolSequence::IpTcp);
pub(crate) const LRPC: Sequence = sequence(ProtocolSequence::Lrpc);

const fn sequence(protocol: ProtocolSequence) -> Sequence {
    Sequence {
        protocol,
        shared: &[SHARED],
        own: &["transfer", ACTIVATION, OF_CLIENTS[0], OF_CLIENTS[1]],
        alone: None,
        means: Means::Stream,
    }
}

/// Returns the transfer syntaxes in the options.
pub(crate) fn transfers(wanted: &Wanted) -> Result<Transfers> {
    let name = wanted.value("transfer");
    Transfers::named(name).ok_or_else(|| {
        Error::new(code::E_INVALIDARG, format!("transfer={name} is unknown: expected one of {}", Transfers::NAMES))
    })
}

/// Connects to a process by an association.
pub(crate) fn connect(
    directory: &Directory,
    binding: &StringBinding,
    targets: &Arc<Targets>,
    options: &Options,
    deadline: Deadline,
) -> Result<Window> {
    let security = targets.protection().map(Protection::begin).transpose()?;
    let stream = open(directory, binding, deadline)?;
    Ok(relay::client(stream, Arc::clone(targets) as Arc<_>, options, security)?)
}

/// Opens a stream to a server.
pub(crate) fn open(directory: &Directory, binding: &StringBinding, deadline: Deadline) -> Result<Stream> {
    Ok(match binding.protocol {
        ProtocolSequence::Lrpc => Stream::connect_local(directory, &binding.endpoint, deadline)?,
        _ => Stream::connect(&binding.address, port(binding)?, deadline)?,
    })
}
