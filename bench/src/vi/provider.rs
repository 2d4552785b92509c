//! The providers of the measured VIs.

use crate::cable::{self, Link};
use crate::{Error, Path};
use obvia_via::Nic;
#[cfg(feature = "fabric")]
use obvia_via::provider::fabric;
#[cfg(feature = "xdp")]
use obvia_via::provider::xdp;
use obvia_via::provider::{shm, udp};
use std::net::SocketAddrV4;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// A time that is longer than any run.
const SILENCE: Duration = Duration::from_secs(24 * 3600);

/// A provider that can be measured within one machine: both ends are processes of one host.
///
/// A further provider needs a variant with its name, a [`Path`], code that opens it, and a
/// discriminator to listen on. If the provider needs a native library or privileges, a feature of
/// this crate with the provider's name enables it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Provider {
    /// Shared memory.
    Shm,
    /// UDP.
    Udp,
    /// libfabric, with its provider `tcp`.
    Fabric,
    /// AF_XDP, which needs a cable.
    Xdp,
}

impl Provider {
    /// All providers, including those that this program was built without.
    pub const ALL: [Self; 4] = [Self::Shm, Self::Udp, Self::Fabric, Self::Xdp];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shm => "shm",
            Self::Udp => "udp",
            Self::Fabric => "fabric",
            Self::Xdp => "xdp",
        }
    }

    /// Returns the path in reports.
    pub fn path(self) -> Path {
        match self {
            Self::Shm => Path::ViShm,
            Self::Udp => Path::ViUdp,
            Self::Fabric => Path::ViFabric,
            Self::Xdp => Path::ViXdp,
        }
    }

    /// Whether this program was built with the provider.
    fn is_built(self) -> bool {
        match self {
            Self::Shm | Self::Udp => true,
            Self::Fabric => cfg!(feature = "fabric"),
            Self::Xdp => cfg!(feature = "xdp"),
        }
    }

    /// Returns the link for a new case.
    pub(super) fn link(self) -> Result<Link, Error> {
        // A network interface accepts the XDP program of only one process.
        if self == Self::Xdp { cable::further() } else { Ok(cable::link()) }
    }

    /// Opens a NIC at either end of a link.
    pub(super) fn open(self, link: Link) -> Result<Nic, Error> {
        match self {
            Self::Shm => shm::open(&shm::NicOptions::default()),
            // Servers are suspended while other cases run. A suspension must not count as silence.
            // The end of a process is detected by other means. The same holds for the other network
            // providers.
            Self::Udp => udp::open(&udp::Options { silence: SILENCE, keep_alive: false, ..udp::Options::default() }),
            #[cfg(feature = "fabric")]
            Self::Fabric => fabric::open(&fabric::Options { silence: SILENCE, ..fabric::Options::new("tcp") }),
            #[cfg(feature = "xdp")]
            Self::Xdp => xdp::open(&xdp::Options { silence: SILENCE, ..xdp::Options::new(&link.interface()) }),
            #[cfg(not(all(feature = "fabric", feature = "xdp")))]
            _ => {
                // Only AF_XDP uses the link.
                let _ = link;
                return Err(self.missing());
            }
        }
        .map_err(super::failed)
    }

    fn missing(self) -> Error {
        let name = self.name();
        Error::Usage { message: format!("the provider {name} takes an obvia that was built with --features {name}") }
    }

    /// Returns a unique discriminator at the client's end of a link.
    pub(super) fn discriminator(self, link: Link) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let [client, _] = link.addresses();
        match self {
            Self::Shm => format!("bench-vi-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed)),
            Self::Udp | Self::Fabric => format!("{client}:0"),
            Self::Xdp => "0".to_owned(),
        }
    }

    /// Returns the link over which a server reaches an address.
    pub(super) fn link_to(address: &str) -> Link {
        address.parse().map_or(Link::Loopback, |address: SocketAddrV4| Link::of(*address.ip()))
    }
}

impl std::str::FromStr for Provider {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let names = || Self::ALL.iter().map(|provider| provider.name()).collect::<Vec<_>>().join(", ");
        let found = Self::ALL.into_iter().find(|provider| provider.name() == text);
        let provider = found
            .ok_or_else(|| Error::Usage { message: format!("there is no provider `{text}`: there is {}", names()) })?;
        if provider.is_built() { Ok(provider) } else { Err(provider.missing()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_found_by_name() {
        for provider in Provider::ALL {
            assert!(!provider.path().is_baseline());
            match provider.name().parse::<Provider>() {
                Ok(found) => assert!(found == provider && provider.is_built()),
                Err(error) => assert!(error.to_string().ends_with(&format!("--features {}", provider.name()))),
            }
        }
        let error = "pigeon".parse::<Provider>().unwrap_err().to_string();
        assert!(error.ends_with("there is shm, udp, fabric, xdp"), "{error}");
    }
}
