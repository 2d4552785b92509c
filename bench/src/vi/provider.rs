//! The providers that carry what is measured.

use crate::{Error, Path};
use obvia_via::Nic;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// A provider, as this machine alone can try it: both ends are processes of one host.
///
/// A further one takes a variant with its name, a [`Path`], how it is opened and what is listened on; if it needs a native
/// library or rights, behind a feature of this crate that has its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Provider {
    /// Shared memory.
    Shm,
}

impl Provider {
    /// All that this program was built with.
    pub const ALL: &'static [Self] = &[Self::Shm];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shm => "shm",
        }
    }

    /// The name of its way in reports.
    pub fn path(self) -> Path {
        match self {
            Self::Shm => Path::ViShm,
        }
    }

    /// Opens it.
    pub(super) fn open(self) -> Result<Nic, Error> {
        match self {
            Self::Shm => obvia_via::provider::shm::open(&obvia_via::provider::shm::NicOptions::default()),
        }
        .map_err(super::failed)
    }

    /// A discriminator that nobody else has.
    pub(super) fn discriminator(self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        match self {
            Self::Shm => format!("bench-vi-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed)),
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
