//! What the tables of references are asked with and what they answer.

use obvia_rpc::status::Status;
use std::time::Duration;
use windows_core::GUID;

/// Who holds references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// A process of obvia's, by its OXID. Its end is noticed, so it does not ping.
    Process(u64),
    /// Another peer, by whatever number but 0 tells it from others where it called. It is there as long as it pings.
    Peer(u64),
    /// This process itself, for whoever comes with what it has written down. It does not ping either.
    Table,
}

impl Client {
    /// Has what a client that is gone may have handed on, and what is on its way to nobody knows whom.
    pub(crate) const NOBODY: Self = Self::Peer(0);

    /// Whether what it has ends when nobody pings.
    pub(super) fn lives_by_pings(self) -> bool {
        matches!(self, Self::Peer(_))
    }
}

/// How often clients ping and how often they may fail to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pinging {
    /// The time between two pings.
    pub period: Duration,
    /// Pings in a row that may not arrive.
    pub missed: u32,
}

impl Pinging {
    /// How long a client may say nothing.
    pub fn patience(&self) -> Duration {
        self.period * self.missed
    }
}

/// Two minutes, three times (MS-DCOM 3.1.2.2).
impl Default for Pinging {
    fn default() -> Self {
        Self { period: Duration::from_secs(120), missed: 3 }
    }
}

/// How much there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Objects.
    pub objects: usize,
    /// Clients that hold references or have sets.
    pub clients: usize,
    /// Interface pointers that one client has references to.
    pub interfaces_per_client: usize,
    /// Sets that one client has made.
    pub sets_per_client: usize,
    /// Objects in all of these sets, each counted in each.
    pub pinged_per_client: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            objects: 1 << 20,
            clients: 1 << 14,
            interfaces_per_client: 1 << 16,
            sets_per_client: 64,
            pinged_per_client: 1 << 17,
        }
    }
}

/// Numbers of references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refs {
    /// Those that may be handed on.
    pub public: u64,
    /// Those that only who took them can give back.
    pub private: u64,
}

impl Refs {
    /// Public references alone.
    pub fn public(count: u64) -> Self {
        Self { public: count, private: 0 }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let (public, private) = (self.public.saturating_add(other.public), self.private.saturating_add(other.private));
        Self { public, private }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        let (public, private) = (self.public.saturating_sub(other.public), self.private.saturating_sub(other.private));
        Self { public, private }
    }

    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// Interface pointers that nobody refers to any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The object.
    pub oid: u64,
    /// Its interface pointers.
    pub ipids: Vec<GUID>,
    /// Whether these were the last, and the OID is gone with them.
    pub is_last: bool,
}

/// What a ComplexPing is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingAnswer {
    /// The set: a new one where none was named.
    pub set: u64,
    /// 0, or what went wrong; what could be done is done.
    pub status: Status,
}
