//! Hosts on a network, as limits count them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host, by its IP address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host(IpAddr);

impl Host {
    /// The unspecified address. No datagram has it as its source.
    pub const NONE: Self = Self(IpAddr::V4(Ipv4Addr::UNSPECIFIED));

    /// Returns the host under which quotas count this host. For IPv4, that is the host itself. For
    /// IPv6, that is the first address of its /64 network, since the host can use every address of
    /// that network.
    #[must_use]
    pub fn counted(self) -> Self {
        match self.0 {
            IpAddr::V4(_) => self,
            IpAddr::V6(address) => Self(IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into())),
        }
    }

    /// Whether the address is a loopback address of this host.
    pub fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }
}

impl From<IpAddr> for Host {
    fn from(address: IpAddr) -> Self {
        Self(address.to_canonical())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns an address in the form of IPv6 (RFC 4291 2.5.5.2).
pub(crate) fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::Host;
    use std::net::IpAddr;

    #[test]
    fn limits_count_ipv6_hosts_by_their_network() {
        let counted = |text: &str| Host::from(text.parse::<IpAddr>().unwrap()).counted().to_string();
        assert_eq!(counted("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!((counted("10.1.2.3"), counted("::ffff:10.1.2.3")), ("10.1.2.3".into(), "10.1.2.3".into()));
    }
}
