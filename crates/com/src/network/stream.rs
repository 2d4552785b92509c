//! `ncacn_ip_tcp` and `ncalrpc`: associations over TCP and over Unix sockets. Their one option, `transfer`, names the transfer syntax that
//! calls are to go in; without, the two sides take the best one that both have.

use super::sequence::{Means, Sequence, Wanted};
use super::{ANY, places};
use crate::binding::Transfers;
use crate::error::{Error, Result, code};
use crate::presentation::Targets;
use crate::runtime::Runtime;
use crate::server::accept_streams;
use obvia_rpc::co::relay;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::stream::{Stream, StreamListener};
use obvia_via::window::{Options, Window};
use obvia_via::{Deadline, Error as ViError};
use std::sync::Arc;

pub(super) const TCP: Sequence = sequence(ProtocolSequence::IpTcp);
pub(super) const LRPC: Sequence = sequence(ProtocolSequence::Lrpc);

const fn sequence(protocol: ProtocolSequence) -> Sequence {
    Sequence { protocol, shared: &[], own: &["transfer"], alone: None, means: Means::Stream }
}

/// The transfer syntaxes that are wanted.
pub(super) fn transfers(wanted: &Wanted) -> Result<Transfers> {
    let name = wanted.value("transfer");
    Transfers::named(name).ok_or_else(|| {
        Error::new(code::E_INVALIDARG, format!("there is no transfer syntax `{name}`; there are {}", Transfers::NAMES))
    })
}

/// Connects to a process.
pub(super) fn connect(
    runtime: &Runtime,
    binding: &StringBinding,
    targets: &Arc<Targets>,
    options: &Options,
    deadline: Deadline,
) -> Result<Window> {
    let stream = match binding.protocol {
        ProtocolSequence::Lrpc => Stream::connect_to_name(runtime.directory(), &binding.endpoint, deadline)?,
        _ => connect_by_tcp(binding, deadline.start())?,
    };
    Ok(relay::client(stream, Arc::clone(targets) as Arc<_>, options)?)
}

fn connect_by_tcp(binding: &StringBinding, deadline: Deadline) -> Result<Stream> {
    let mut failed = Error::from(code::RPC_S_SERVER_UNAVAILABLE);
    for place in places(binding)? {
        match Stream::connect(place, deadline) {
            Ok(stream) => return Ok(stream),
            // Another address of the same name may do.
            Err(error @ (ViError::NotFound { .. } | ViError::System { .. })) => failed = error.into(),
            Err(error) => return Err(error.into()),
        }
    }
    Err(failed)
}

/// Listens. The binding gets the endpoint that was taken.
pub(super) fn listen(runtime: &'static Runtime, wanted: &Wanted, binding: &mut StringBinding) -> Result<()> {
    let transfers = transfers(wanted)?;
    let listener = if binding.protocol == ProtocolSequence::Lrpc {
        if binding.endpoint.is_empty() {
            binding.endpoint = crate::link::endpoint_of(runtime.oxid());
        }
        StreamListener::bind_name(runtime.directory(), &binding.endpoint)?
    } else {
        if binding.endpoint.is_empty() {
            "0".clone_into(&mut binding.endpoint);
        }
        if ANY.contains(&binding.address.as_str()) && binding.address != "::" {
            "0.0.0.0".clone_into(&mut binding.address);
        }
        let place = places(binding)?.into_iter().next().ok_or(code::E_INVALIDARG)?;
        let listener = StreamListener::bind(place)?;
        if let Some(address) = listener.address() {
            binding.endpoint = address.port().to_string();
        }
        listener
    };
    accept_streams(runtime, listener, transfers, binding.endpoint.clone())
}
