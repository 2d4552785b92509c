//! `ncacn_ip_tcp` and `ncalrpc`: associations over TCP and over Unix sockets.
//!
//! The option `transfer` names the transfer syntax that calls are to go in; without, the two sides take the best one that both have.
//! `security` is the level at which a client protects its calls, and the least that a server takes. How a client authenticates itself is
//! said by `auth`, and to whom by `spn`.

use super::sequence::{Means, Sequence, Wanted};
use super::{complete, port};
use crate::binding::Transfers;
use crate::error::{Error, Result, code};
use crate::presentation::Targets;
use crate::runtime::Runtime;
use crate::security::{self, Protection};
use crate::server::{Terms, accept_streams};
use obvia_rpc::co::relay;
use obvia_rpc::security::{AuthType, Level};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::Deadline;
use obvia_via::stream::{Stream, StreamListener};
use obvia_via::window::{Options, Window};
use std::sync::Arc;

pub(super) const TCP: Sequence = sequence(ProtocolSequence::IpTcp);
pub(super) const LRPC: Sequence = sequence(ProtocolSequence::Lrpc);

const fn sequence(protocol: ProtocolSequence) -> Sequence {
    Sequence {
        protocol,
        shared: &[(SECURITY, NO_SECURITY)],
        own: &["transfer", "auth", "spn"],
        alone: None,
        means: Means::Stream,
    }
}

/// The option that says how calls are protected.
const SECURITY: &str = "security";
/// Its value where they are not.
const NO_SECURITY: &str = "none";

/// The transfer syntaxes that are wanted.
pub(super) fn transfers(wanted: &Wanted) -> Result<Transfers> {
    let name = wanted.value("transfer");
    Transfers::named(name).ok_or_else(|| {
        Error::new(code::E_INVALIDARG, format!("there is no transfer syntax `{name}`; there are {}", Transfers::NAMES))
    })
}

/// The level that is wanted, if any.
fn level(wanted: &Wanted) -> Result<Option<Level>> {
    match wanted.value(SECURITY) {
        NO_SECURITY => Ok(None),
        name => Level::named(name).map(Some).ok_or_else(|| {
            let text = format!("there is no security `{name}`; there are none, connect, integrity, privacy");
            Error::new(code::E_INVALIDARG, text)
        }),
    }
}

/// How a client that uses a binding protects its calls, where it does.
pub(super) fn protection(wanted: &Wanted, binding: &StringBinding) -> Result<Option<Protection>> {
    let Some(level) = level(wanted)? else { return Ok(None) };
    let kind = match wanted.value("auth") {
        "" | "spnego" => AuthType::SPNEGO,
        "ntlm" => AuthType::NTLM,
        name => {
            let text = format!("there is no authentication `{name}`; there are spnego, ntlm");
            return Err(Error::new(code::E_INVALIDARG, text));
        }
    };
    let principal = match wanted.value("spn") {
        "" if binding.address.is_empty() => "host/localhost".to_owned(),
        "" => format!("host/{}", binding.address),
        name => name.to_owned(),
    };
    Protection::new(level, kind, principal).map(Some)
}

/// The level that whoever uses a binding has to protect calls at; the greatest for one that is not known here.
pub(crate) fn level_of(binding: &StringBinding) -> Option<Level> {
    let name = binding.option(SECURITY).filter(|name| *name != NO_SECURITY)?;
    Some(Level::named(name).unwrap_or(Level::Privacy))
}

/// A binding for somebody who is to protect calls at this level at least: `None` where nothing is protected by it.
pub(crate) fn protected(mut binding: StringBinding, least: Option<Level>) -> Option<StringBinding> {
    // Processes of one user and one host have the kernel between them, and nobody else.
    let is_private = binding.protocol == ProtocolSequence::ViShm;
    let Some(least) = least.filter(|least| !is_private && level_of(&binding) < Some(*least)) else {
        return Some(binding);
    };
    if !matches!(binding.protocol, ProtocolSequence::IpTcp | ProtocolSequence::Lrpc) {
        return None;
    }
    binding.options.retain(|(option, _)| option != SECURITY);
    binding.options.push((SECURITY.to_owned(), least.to_string()));
    Some(binding)
}

/// Connects to a process.
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

/// Connects to whoever is there.
pub(super) fn open(runtime: &Runtime, binding: &StringBinding, deadline: Deadline) -> Result<Stream> {
    Ok(match binding.protocol {
        ProtocolSequence::Lrpc => Stream::connect_local(runtime.directory(), &binding.endpoint, deadline)?,
        _ => Stream::connect(&binding.address, port(binding)?, deadline)?,
    })
}

/// Listens. The binding gets the endpoint that was taken.
pub(super) fn listen(runtime: &'static Runtime, wanted: &Wanted, binding: &mut StringBinding) -> Result<()> {
    let transfers = transfers(wanted)?;
    let least = level(wanted)?;
    if least.is_some() && !security::has_accounts() {
        let text = format!("`{binding}`: this process has no accounts, so nobody could call it: see set_accounts");
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    if let Some(option) = ["auth", "spn"].into_iter().find(|option| !wanted.value(option).is_empty()) {
        let text = format!("`{option}` is for clients: servers take every authentication that there is");
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    let listener = if binding.protocol == ProtocolSequence::Lrpc {
        if binding.endpoint.is_empty() {
            binding.endpoint = crate::link::endpoint_of(runtime.oxid());
        }
        StreamListener::bind_local(runtime.directory(), &binding.endpoint)?
    } else {
        complete(binding);
        StreamListener::bind(&binding.address, port(binding)?)?
    };
    binding.endpoint = listener.endpoint();
    accept_streams(runtime, listener, Terms { transfers, least, endpoint: binding.endpoint.clone() })
}
