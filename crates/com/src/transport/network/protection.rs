//! The options of bindings for protection. `security` is the level at which a client protects its
//! calls, or the least level that a server accepts. `auth` is the client's authentication
//! mechanism, and `spn` the server's principal name. `activation`, which only streams have, is the
//! least level that a server accepts for activations of objects.

use super::sequence::{NO_SECURITY, OF_CLIENTS, SECURITY, Wanted};
use crate::access::{self, Protection};
use crate::types::error::{Error, Result, code};
use obvia_rpc::security::{AuthType, Level};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};

/// The option with the least protection level of activation calls.
pub(crate) const ACTIVATION: &str = "activation";

/// Returns the greatest protection level that a protocol sequence supports; `None` if it supports
/// none. The level of libfabric is limited, because this runtime cannot sign or encrypt libfabric's
/// packets.
fn most(protocol: ProtocolSequence) -> Option<Level> {
    use ProtocolSequence::{IpTcp, Lrpc, ViFabric, ViUdp, ViXdp};
    match protocol {
        IpTcp | Lrpc | ViXdp | ViUdp => Some(Level::Privacy),
        ViFabric => Some(Level::Connect),
        _ => None,
    }
}

/// Returns the level in the options, if any.
fn level(wanted: &Wanted) -> Result<Option<Level>> {
    level_named(wanted, wanted.value(SECURITY))
}

fn level_named(wanted: &Wanted, name: &str) -> Result<Option<Level>> {
    if name.is_empty() || name == NO_SECURITY {
        return Ok(None);
    }
    let protocol = wanted.sequence.protocol;
    match Level::named(name) {
        Some(level) if Some(level) <= most(protocol) => Ok(Some(level)),
        Some(_) => {
            let text = format!(
                "{protocol} does not support security={name}: it authenticates callers by security=connect, and does \
                    not protect packets"
            );
            Err(Error::new(code::E_INVALIDARG, text))
        }
        None => {
            let text = format!("security={name} is unknown: expected none, connect, integrity or privacy");
            Err(Error::new(code::E_INVALIDARG, text))
        }
    }
}

/// Returns the protection of a client's calls by a binding, if any.
pub(crate) fn protection(wanted: &Wanted, binding: &StringBinding) -> Result<Option<Protection>> {
    let Some(level) = level(wanted)? else { return Ok(None) };
    let kind = match wanted.value("auth") {
        "" | "spnego" => AuthType::SPNEGO,
        "ntlm" => AuthType::NTLM,
        name => {
            let text = format!("auth={name} is unknown: expected spnego or ntlm");
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

/// Returns the least protection level that a server accepts on a binding; `None` for no protection.
pub(crate) fn demanded(wanted: &Wanted, binding: &StringBinding) -> Result<Option<Level>> {
    let least = level(wanted)?;
    if access::accounts()?.is_none() && least.is_some() {
        let text = format!(
            "`{binding}`: this process has no accounts, so no client could call it: see set_accounts and {}",
            crate::access::credentials::ACCOUNTS_VARIABLE
        );
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    if let Some(option) = OF_CLIENTS.into_iter().find(|option| !wanted.value(option).is_empty()) {
        let text = format!("`{option}` is for clients: servers accept every supported authentication");
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    Ok(least)
}

/// Returns the least protection level that a server accepts for activations on a binding. The outer
/// `None` means that the binding has no such option, and the level of calls applies. Clients of
/// DCOM activate objects at `connect` regardless of the level of their calls, unless they have been
/// hardened (MS-DCOM 3.2.4.1.1).
pub(crate) fn activation(wanted: &Wanted, binding: &StringBinding) -> Result<Option<Option<Level>>> {
    let name = wanted.value(ACTIVATION);
    if name.is_empty() {
        return Ok(None);
    }
    let least = level_named(wanted, name)?;
    if least > level(wanted)? {
        let text = format!(
            "`{binding}`: `{SECURITY}` has to be at least as strong as `{ACTIVATION}={name}`: otherwise a client that may \
                not activate an object could still call it"
        );
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    Ok(Some(least))
}

/// Returns the level at which a client of a binding must protect its calls: `None` for no
/// protection, and the greatest level for an unknown name.
pub(crate) fn level_of(binding: &StringBinding) -> Option<Level> {
    let name = binding.option(SECURITY).filter(|name| *name != NO_SECURITY)?;
    Some(Level::named(name).unwrap_or(Level::Privacy))
}

/// Returns a binding for a client that protects calls at least at this level; `None` if the
/// protocol sequence does not support this level.
pub(crate) fn protected(mut binding: StringBinding, least: Option<Level>) -> Option<StringBinding> {
    // Connections by shared memory need no protection, because they do not leave the host.
    let is_private = binding.protocol == ProtocolSequence::ViShm;
    let Some(least) = least.filter(|least| !is_private && level_of(&binding) < Some(*least)) else {
        return Some(binding);
    };
    if most(binding.protocol) < Some(least) {
        return None;
    }
    binding.options.retain(|(option, _)| option != SECURITY);
    binding.options.push((SECURITY.to_owned(), least.to_string()));
    Some(binding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_get_the_least_level_their_protocol_sequence_supports() {
        let at = |binding: &str, least| {
            protected(binding.parse().unwrap(), least).map(|binding: StringBinding| binding.to_string())
        };
        for (binding, least, expected) in [
            ("ncacn_vi_udp:h[7]", None, Some("ncacn_vi_udp:h[7]")),
            ("ncacn_vi_udp:h[7]", Some(Level::Connect), Some("ncacn_vi_udp:h[7,security=connect]")),
            ("ncacn_vi_fabric:h[7,provider=shm]", Some(Level::Integrity), None),
            ("ncacn_vi_xdp:h[7,security=connect]", Some(Level::Connect), Some("ncacn_vi_xdp:h[7,security=connect]")),
            ("ncacn_ip_tcp:h[7,security=connect]", Some(Level::Privacy), Some("ncacn_ip_tcp:h[7,security=privacy]")),
            ("ncacn_ip_tcp:h[7,security=privacy]", Some(Level::Connect), Some("ncacn_ip_tcp:h[7,security=privacy]")),
            ("ncadg_ip_udp:h[7]", Some(Level::Connect), None),
            ("ncacn_vi_shm:h", Some(Level::Privacy), Some("ncacn_vi_shm:h")),
        ] {
            assert_eq!(at(binding, least).as_deref(), expected, "{binding}");
        }
    }
}
