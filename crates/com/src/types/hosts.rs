//! Hosts by their addresses.

use obvia_via::datagram::Host;
use std::net::IpAddr;

/// Returns the host to which limits attribute the peers at an address. The zone of an address is
/// ignored. `None` for a text that is no IP address: the address of another network, or the empty
/// address of a peer that has disconnected already.
pub(crate) fn counted(address: &str) -> Option<Host> {
    let ip = address.split_once('%').map_or(address, |(ip, _)| ip);
    ip.parse::<IpAddr>().ok().map(|ip| Host::from(ip).counted())
}
