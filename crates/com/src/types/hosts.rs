//! Hosts by their addresses, and the groups of peers that share limits.

use obvia_via::datagram::Host;
use obvia_via::window::Peer;
use std::net::IpAddr;

/// A group of peers that share a limit, because one user or one host can appear as any number of
/// peers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SourceGroup {
    /// The processes of a user of this host.
    User(u32),
    /// A host by its IPv4 address, or by the first 64 bits of its IPv6 address: a host chooses the
    /// other bits itself (RFC 4291 2.5.1). All peers without an IP address count as one host,
    /// because the number of addresses of such a peer is unknown.
    Host(Host),
}

impl SourceGroup {
    pub(crate) fn of(peer: &Peer) -> Self {
        match peer {
            Peer::Process { uid, .. } => Self::User(*uid),
            Peer::Host(address) => Self::Host(counted(address)),
        }
    }
}

/// Returns the host to which limits attribute the peers at an address. The zone of an address is
/// ignored. [`Host::NONE`] for a text that is no IP address, such as an address of another kind of
/// network, or the empty address of a peer that has already disconnected.
pub(crate) fn counted(address: &str) -> Host {
    let ip = address.split_once('%').map_or(address, |(ip, _)| ip);
    ip.parse::<IpAddr>().map_or(Host::NONE, |ip| Host::from(ip).counted())
}

#[cfg(test)]
mod tests {
    use super::SourceGroup;
    use obvia_via::window::Peer;

    #[test]
    fn the_addresses_that_one_host_can_have_count_as_one() {
        let sources = |host: &str| SourceGroup::of(&Peer::Host(host.to_owned()));
        assert_eq!(sources("2001:db8:0:1::1"), sources("2001:db8:0:1:ffff::2"));
        assert_ne!(sources("2001:db8:0:1::1"), sources("2001:db8:0:2::1"));
        assert_eq!(sources("fe80::1%eth0"), sources("fe80::2%3"));
        assert_eq!(sources("::ffff:10.0.0.1"), sources("10.0.0.1"));
        assert_ne!(sources("10.0.0.1"), sources("10.0.0.2"));
        assert!(
            sources("one") == sources("other")
                && sources("one") != sources("10.0.0.1")
                && sources("::1") != SourceGroup::of(&Peer::Process { pid: 1, uid: 1, serial: 1 })
        );
    }
}
