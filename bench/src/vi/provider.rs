//! The providers that carry what is measured.

use crate::{Error, Path, cable};
use obvia_via::Nic;
use obvia_via::provider::{shm, udp};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Longer than any run.
const SILENCE: Duration = Duration::from_secs(24 * 3600);

/// A provider, as this machine alone can try it: both ends are processes of one host.
///
/// A further one takes a variant with its name, a [`Path`], how it is opened and what is listened on; if it needs a native
/// library or rights, behind a feature of this crate that has its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Provider {
    /// Shared memory.
    Shm,
    /// UDP over the loopback device.
    Udp,
}

impl Provider {
    /// All that this program was built with.
    pub const ALL: &'static [Self] = &[Self::Shm, Self::Udp];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shm => "shm",
            Self::Udp => "udp",
        }
    }

    /// The name of its way in reports.
    pub fn path(self) -> Path {
        match self {
            Self::Shm => Path::ViShm,
            Self::Udp => Path::ViUdp,
        }
    }

    /// Opens it.
    pub(super) fn open(self) -> Result<Nic, Error> {
        match self {
            Self::Shm => shm::open(&shm::NicOptions::default()),
            // Servers are stopped while others have their turn: that must not count as silence. One that ends is noticed by its
            // process.
            Self::Udp => udp::open(&udp::Options { silence: SILENCE, keep_alive: false, ..udp::Options::default() }),
        }
        .map_err(super::failed)
    }

    /// A discriminator that nobody else has.
    pub(super) fn discriminator(self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        match self {
            Self::Shm => format!("bench-vi-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed)),
            Self::Udp => format!("{}:0", cable::addresses()[1]),
        }
    }
}

impl std::str::FromStr for Provider {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let names = || Self::ALL.iter().map(|provider| provider.name()).collect::<Vec<_>>().join(", ");
        let found = Self::ALL.iter().copied().find(|provider| provider.name() == text);
        found.ok_or_else(|| Error::Usage {
            message: format!("there is no provider `{text}` here: there is {}", names()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_found_by_name() {
        for provider in Provider::ALL {
            assert_eq!(provider.name().parse::<Provider>().unwrap(), *provider);
            assert!(!provider.path().is_baseline());
        }
        let error = "pigeon".parse::<Provider>().unwrap_err().to_string();
        assert!(error.ends_with("there is shm, udp"), "{error}");
    }
}
