//! Hosts by their addresses.

use obvia_via::datagram::Host;
use std::net::IpAddr;

/// Returns the host by which limits count the peers at an address. A zone does not matter. `None`
/// for the address of another network than IP, and for a peer that has disconnected already.
pub(crate) fn counted(address: &str) -> Option<Host> {
    let ip = address.split_once('%').map_or(address, |(ip, _)| ip);
    ip.parse::<IpAddr>().ok().map(|ip| Host::from(ip).counted())
}
