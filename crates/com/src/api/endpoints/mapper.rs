//! The endpoint mapper service of a host.

use crate::api::listen::listen;
use crate::runtime::Runtime;
use crate::services::management::EndpointMap;
use crate::services::management::OwnInterfaces;
use crate::services::process;
use crate::transport::network;
use crate::types::error::{Error, Result, code};
use obvia_rpc::epm::{self, Entry, Registrant, Tower, Way};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::uuid::{NDR, Uuid};
use std::net::Ipv4Addr;

/// The annotation of the mapper's own entry.
const ANNOTATION: &str = "endpoint mapper";

/// The role of this process as the endpoint mapper of its host, for as long as this value lives.
#[must_use = "the process is no endpoint mapper any more when this is dropped"]
pub struct EndpointMapper {
    runtime: &'static Runtime,
    bindings: Vec<String>,
}

impl EndpointMapper {
    /// Returns the mapper's bindings with their actual endpoints.
    pub fn bindings(&self) -> &[String] {
        &self.bindings
    }
}

impl Drop for EndpointMapper {
    fn drop(&mut self) {
        OwnInterfaces::of(self.runtime).close();
    }
}

/// Makes this process the endpoint mapper of its host (C706 appendix O). The mapper listens,
/// answers queries for the endpoints of interfaces, and accepts registrations from servers of this
/// user through `ncalrpc`. An entry ends with the server that registered it.
///
/// The mapper of a host listens on `ncacn_ip_tcp:0.0.0.0[135]` and `ncalrpc:[epmapper]`. Clients
/// and servers must name any other binding explicitly. Listening continues after the mapper is
/// dropped, for the other interfaces of this process.
///
/// # Errors
///
/// RPC_S_DUPLICATE_ENDPOINT where this process already is an endpoint mapper; E_INVALIDARG for
/// protocol sequences other than `ncacn_ip_tcp` and `ncalrpc`; otherwise as for [`crate::listen`].
pub fn serve_endpoint_mapper(bindings: &[&str]) -> Result<EndpointMapper> {
    let runtime = process::runtime()?;
    for text in bindings {
        if !matches!(network::parse(text)?.protocol, ProtocolSequence::IpTcp | ProtocolSequence::Lrpc) {
            let text = format!("`{text}`: an endpoint mapper can listen only on ncacn_ip_tcp and ncalrpc");
            return Err(Error::new(code::E_INVALIDARG, text));
        }
    }
    let Some(map) = OwnInterfaces::of(runtime).open() else {
        return Err(Error::new(code::RPC_S_DUPLICATE_ENDPOINT, "this process is already an endpoint mapper"));
    };
    let mut mapper = EndpointMapper { runtime, bindings: Vec::new() };
    for text in bindings {
        let bound = listen(text)?;
        enter(&map, &network::parse(&bound)?)?;
        mapper.bindings.push(bound);
    }
    Ok(mapper)
}

/// Adds an entry for the mapper itself.
fn enter(map: &EndpointMap, binding: &StringBinding) -> Result<()> {
    let Some(way) = way_of(binding) else { return Ok(()) };
    let tower = Tower { interface: epm::INTERFACE, transfer: NDR, way };
    let entry = Entry { object: Uuid(0), tower, annotation: ANNOTATION.to_owned() };
    map.with(|mapper| mapper.insert(Registrant::NOBODY, entry, false)).map_err(Error::from)
}

/// Returns the tower form of a binding; `None` for protocol sequences without entries in mappers.
pub(super) fn way_of(binding: &StringBinding) -> Option<Way> {
    match binding.protocol {
        ProtocolSequence::Lrpc => Some(Way::Local(binding.endpoint.clone())),
        ProtocolSequence::IpTcp => Some(Way::Tcp(host_of(binding), binding.endpoint.parse().ok()?)),
        ProtocolSequence::IpUdp => Some(Way::Udp(host_of(binding), binding.endpoint.parse().ok()?)),
        _ => None,
    }
}

/// Returns a binding's address for a tower. Towers have IPv4 addresses only. Any other address
/// becomes 0.0.0.0. In answers, the mapper replaces 0.0.0.0 by the address at which the caller has
/// reached the mapper.
fn host_of(binding: &StringBinding) -> [u8; 4] {
    binding.address.parse().unwrap_or(Ipv4Addr::UNSPECIFIED).octets()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn towers_describe_the_bindings_of_a_process() {
        let way = |text: &str| way_of(&text.parse().unwrap());
        assert_eq!(way("ncacn_ip_tcp:10.0.0.1[5000]"), Some(Way::Tcp([10, 0, 0, 1], 5000)));
        assert_eq!(way("ncacn_ip_tcp:0.0.0.0[5000]"), Some(Way::Tcp(epm::ANY_HOST, 5000)));
        assert_eq!(way("ncacn_ip_tcp:::[5000]"), Some(Way::Tcp(epm::ANY_HOST, 5000)));
        assert_eq!(way("ncadg_ip_udp:10.0.0.1[5000]"), Some(Way::Udp([10, 0, 0, 1], 5000)));
        assert_eq!(way("ncalrpc:[here]"), Some(Way::Local("here".to_owned())));
        assert_eq!(way("ncacn_vi_udp:10.0.0.1[5000]"), None);
    }
}
