//! The endpoints of interfaces of functions. An interface has well-known endpoints in its
//! `[endpoint]` attribute, or servers register its endpoints with the endpoint mapper of their host
//! (C706 chapter 2, "Endpoints").

mod inquiry;
mod mapper;
mod registration;

pub(crate) use inquiry::{Registered, interfaces_at, registered_at};
pub use mapper::{EndpointMapper, serve_endpoint_mapper};

pub use registration::{Registration, register_endpoints};

use crate::api::listen::listen;
use crate::transport::network;
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::registry::{InterfaceInfo, Remote};
use obvia_rpc::epm::{self, ANY_HOST, Way};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::uuid::Uuid;

/// The name of this host's endpoint mapper for `ncalrpc`.
const LOCAL_MAPPER: &str = "epmapper";
/// The binding option that names the endpoint of the host's endpoint mapper.
const MAPPER: &str = "mapper";

/// Returns the endpoint that an interface's `[endpoint]` attribute has for a protocol sequence, if
/// any.
fn well_known(info: &InterfaceInfo, protocol: ProtocolSequence) -> Option<String> {
    let bindings = info.endpoints.iter().filter_map(|text| text.parse::<StringBinding>().ok());
    bindings.filter(|binding| binding.protocol == protocol && !binding.endpoint.is_empty()).map(|it| it.endpoint).next()
}

/// Completes a binding with an endpoint of the interface. The binding's own endpoint comes first,
/// then the interface's well-known endpoint, then the endpoint that the endpoint mapper returns. If
/// the interface has no well-known endpoint, and endpoint mappers have no endpoints of the protocol
/// sequence, the binding stays without an endpoint.
pub(crate) fn locate(mut binding: StringBinding, info: &InterfaceInfo) -> Result<StringBinding> {
    let mapper = take_mapper(&mut binding);
    if !binding.endpoint.is_empty() {
        return Ok(binding);
    }
    let known = well_known(info, binding.protocol);
    binding.endpoint = match (known, any_way(binding.protocol)) {
        (Some(endpoint), _) => endpoint,
        (None, Some(way)) => {
            let mapper = mapper_of(&binding, mapper.as_deref())?;
            inquiry::map(&mapper, binding.object.unwrap_or(Uuid(0)), info, way, deadline::of_thread())?
        }
        (None, None) => String::new(),
    };
    Ok(binding)
}

/// Removes the option `mapper` from a binding, because no other code accepts this option. Returns
/// the option's value.
fn take_mapper(binding: &mut StringBinding) -> Option<String> {
    let at = binding.options.iter().position(|(option, _)| option == MAPPER)?;
    Some(binding.options.remove(at).1)
}

/// Whether endpoint mappers have endpoints of a protocol sequence.
pub(crate) fn is_mapped(protocol: ProtocolSequence) -> bool {
    any_way(protocol).is_some()
}

/// Returns the wildcard that matches every endpoint of a protocol sequence in a query of the
/// mapper; `None` for protocol sequences without entries in mappers.
fn any_way(protocol: ProtocolSequence) -> Option<Way> {
    match protocol {
        ProtocolSequence::IpTcp => Some(Way::Tcp(ANY_HOST, 0)),
        ProtocolSequence::IpUdp => Some(Way::Udp(ANY_HOST, 0)),
        ProtocolSequence::Lrpc => Some(Way::Local(String::new())),
        _ => None,
    }
}

/// Returns the binding of the endpoint mapper at a binding's host. `endpoint` is the mapper's
/// endpoint; `None` means the well-known one.
fn mapper_of(binding: &StringBinding, endpoint: Option<&str>) -> Result<StringBinding> {
    let (protocol, usual) = match binding.protocol {
        ProtocolSequence::Lrpc => (ProtocolSequence::Lrpc, LOCAL_MAPPER.to_owned()),
        // Endpoints for datagrams are queried over TCP as well, because every mapper listens on
        // TCP.
        _ => (ProtocolSequence::IpTcp, epm::PORT.to_string()),
    };
    let endpoint = endpoint.map_or(usual, str::to_owned);
    if endpoint.is_empty() {
        return Err(Error::new(code::E_INVALIDARG, format!("`{binding}`: the option `{MAPPER}` has no value")));
    }
    Ok(StringBinding::new(protocol, binding.address.clone(), endpoint))
}

/// Listens on the endpoints of an interface's `[endpoint]` attribute, on all addresses of the host.
/// Endpoints whose protocol sequences this program was built without are left out. Returns the
/// bindings with their actual endpoints.
///
/// # Errors
///
/// E_INVALIDARG when the attribute has no usable endpoint; otherwise as for [`crate::listen`].
pub fn listen_for<I: Remote>() -> Result<Vec<String>> {
    listen_at_endpoints(I::INFO)
}

/// As [`listen_for`], for an interface that is known by its description only.
pub(crate) fn listen_at_endpoints(info: &InterfaceInfo) -> Result<Vec<String>> {
    let is_here = |text: &&&str| text.split_once(':').is_some_and(|(name, _)| network::is_built(name));
    let heard: Vec<_> = info.endpoints.iter().filter(is_here).map(|text| listen(text)).collect::<Result<_>>()?;
    if heard.is_empty() {
        let all = if info.endpoints.is_empty() { "none".to_owned() } else { info.endpoints.join(", ") };
        let text = format!(
            "interface {} has no endpoint that this program can listen on: its attribute `endpoint` names {all}",
            info.name
        );
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    Ok(heard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::proxy::UNKNOWN_INFO;
    use crate::client::proxy::without_vtables;
    use crate::types::registry::Description;

    fn located(binding: &str, endpoints: &'static [&'static str]) -> String {
        let info = without_vtables(Description { endpoints, ..*UNKNOWN_INFO });
        match locate(binding.parse().unwrap(), &info) {
            Ok(binding) => binding.to_string(),
            Err(error) => format!("{:#010x}", error.code().0),
        }
    }

    #[test]
    fn a_binding_without_endpoint_uses_the_endpoint_of_the_interface() {
        let attribute = &[
            "ncacn_np:[\\pipe\\any]",
            "ncacn_ip_tcp:",
            "ncacn_ip_tcp:[5000]",
            "ncacn_ip_tcp:[5001]",
            "ncacn_vi_udp:[5555]",
            "ncalrpc:[any]",
        ];
        for (binding, expected) in [
            ("ncacn_ip_tcp:host", "ncacn_ip_tcp:host[5000]"),
            ("ncacn_ip_tcp:host[7]", "ncacn_ip_tcp:host[7]"),
            ("ncacn_ip_tcp:host[7,mapper=1135,transfer=ndr]", "ncacn_ip_tcp:host[7,transfer=ndr]"),
            ("ncacn_ip_tcp:host[,mapper=1135,transfer=ndr]", "ncacn_ip_tcp:host[5000,transfer=ndr]"),
            ("ncacn_vi_udp:host", "ncacn_vi_udp:host[5555]"),
            ("ncalrpc:", "ncalrpc:[any]"),
            // Endpoint mappers have no entries for these protocol sequences. The binding stays
            // without an endpoint, and the connection reports the error.
            ("ncacn_vi_fabric:host", "ncacn_vi_fabric:host"),
            ("ncacn_vi_shm:name", "ncacn_vi_shm:name"),
        ] {
            assert_eq!(located(binding, attribute), expected, "{binding}");
        }
        assert_eq!(located("ncacn_vi_udp:host", &[]), "ncacn_vi_udp:host");
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn the_mapper_address_is_well_known_or_an_option_of_the_binding() {
        let at = |text: &str| {
            let mut binding: StringBinding = text.parse().unwrap();
            let option = take_mapper(&mut binding);
            mapper_of(&binding, option.as_deref()).map(|found| found.to_string()).map_err(|error| error.code())
        };
        assert_eq!(at("ncacn_ip_tcp:host").unwrap(), "ncacn_ip_tcp:host[135]");
        assert_eq!(at("ncacn_ip_tcp:host[,mapper=1135,transfer=ndr]").unwrap(), "ncacn_ip_tcp:host[1135]");
        assert_eq!(at("ncalrpc:").unwrap(), "ncalrpc:[epmapper]");
        assert_eq!(at("ncalrpc:[,mapper=mine]").unwrap(), "ncalrpc:[mine]");
        assert_eq!(at("ncacn_ip_tcp:host[,mapper=]"), Err(code::E_INVALIDARG));
        // The value of the option `mapper` is no port number, so the connection to the mapper
        // fails.
        assert_eq!(located("ncacn_ip_tcp:host[,mapper=x]", &[]), format!("{:#010x}", code::E_INVALIDARG.0));
    }
}
