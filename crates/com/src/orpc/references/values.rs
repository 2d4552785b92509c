//! The values that the tables of references accept and return.

use obvia_rpc::status::Status;
use std::collections::HashMap;
use std::time::Duration;
use windows_core::GUID;

/// The number that a server gives to a client. It is not an OXID, which any peer can claim: clients
/// that claim the same OXID have different numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientNumber(u64);

impl ClientNumber {
    /// Makes a client number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the client number as an integer.
    pub(crate) const fn get(self) -> u64 {
        self.0
    }
}

/// A holder of references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// An obvia process, by its client number. Its end is reported, so it does not ping.
    Process(ClientNumber),
    /// Another peer, by a number other than 0 that distinguishes it from other peers. It is alive
    /// as long as it pings.
    Peer(u64),
    /// The serving process itself, which holds the references to marshaled data that does not
    /// expire without pings. It does not ping.
    Table,
}

impl Client {
    /// The holder of references that a dead client may have passed on, and of marshaled references
    /// whose receiver is unknown.
    pub(crate) const NOBODY: Self = Self::Peer(0);

    /// Whether the client's references expire without pings.
    pub(super) fn lives_by_pings(self) -> bool {
        matches!(self, Self::Peer(_))
    }
}

/// The parameters of pinging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pinging {
    /// The time between two pings.
    pub period: Duration,
    /// The number of consecutive pings that may be lost.
    pub missed: u32,
}

impl Pinging {
    /// Returns the time for which a client may be silent.
    pub fn patience(&self) -> Duration {
        self.period * self.missed
    }
}

/// The parameters of the standard: two minutes and three pings (MS-DCOM 3.1.2.2).
impl Default for Pinging {
    fn default() -> Self {
        Self { period: Duration::from_secs(120), missed: 3 }
    }
}

/// The limits of the tables: the greatest permitted numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The greatest number of objects.
    pub objects: usize,
    /// The greatest number of clients that hold references. Each ping set raises this limit by one,
    /// so that clients with ping sets but without references do not use it up.
    pub clients: usize,
    /// The greatest number of receivers: clients that got references from other clients and are not
    /// connected yet.
    pub receivers: usize,
    /// The greatest number of receivers, as in `receivers`, that got their first references from
    /// one client.
    pub receivers_per_client: usize,
    /// The greatest number of receivers, as in `receivers`, that got their first references from
    /// the clients of one user or host.
    pub receivers_per_source: usize,
    /// The greatest number of interface pointers to which one client has references.
    pub interfaces_per_client: usize,
    /// The greatest number of ping sets.
    pub sets: usize,
    /// The greatest number of ping sets that the clients of one user or host have made.
    pub sets_per_source: usize,
    /// The greatest number of ping sets of one client.
    pub sets_per_client: usize,
    /// The greatest number of objects in all ping sets of one client. An object counts once for
    /// each set that contains it.
    pub pinged_per_client: usize,
}

impl Limits {
    /// Returns the limits on the number of receivers.
    pub fn of_receivers(&self) -> SourceLimits {
        let Self { receivers_per_client: per_client, receivers_per_source: per_source, receivers: all, .. } = *self;
        SourceLimits { per_client, per_source, all }
    }

    /// Returns the limits on the number of ping sets.
    pub fn of_sets(&self) -> SourceLimits {
        let Self { sets_per_client: per_client, sets_per_source: per_source, sets: all, .. } = *self;
        SourceLimits { per_client, per_source, all }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            objects: 1 << 20,
            clients: 1 << 14,
            receivers: 1 << 13,
            receivers_per_client: 1 << 10,
            receivers_per_source: 1 << 12,
            interfaces_per_client: 1 << 16,
            // A quarter of the identifiers of ping sets, which have 16 bits.
            sets: 1 << 14,
            sets_per_source: 1 << 13,
            sets_per_client: 64,
            pinged_per_client: 1 << 17,
        }
    }
}

/// The greatest permitted numbers of entries of one kind, such as sets, that clients have made.
#[derive(Clone, Copy, Debug)]
pub struct SourceLimits {
    /// The greatest number for one client.
    pub per_client: usize,
    /// The greatest number for the clients of one user or host.
    pub per_source: usize,
    /// The greatest number for all clients together.
    pub all: usize,
}

/// A number of public and a number of private references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refs {
    /// The references that may be passed on.
    pub public: u64,
    /// The references that only their owner can release.
    pub private: u64,
}

impl Refs {
    /// Makes a number of public references, without private ones.
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

/// Interface pointers that have no more references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The OID of the object.
    pub oid: u64,
    /// The IPIDs of the object's interface pointers.
    pub ipids: Vec<GUID>,
    /// Whether these were the object's last interface pointers, so that the OID is gone as well.
    pub is_last: bool,
}

/// The answer to a ComplexPing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingAnswer {
    /// The identifier of the set: of a new set if the ping named no set.
    pub set: u64,
    /// 0 for success, or an error. If only some objects could not be added, all other changes have
    /// been made.
    pub status: Status,
}

impl Dropped {
    /// Combines the values for the same object into one value.
    pub(super) fn merged(dropped: Vec<Self>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut places: HashMap<u64, usize> = HashMap::new();
        for one in dropped {
            match places.get(&one.oid) {
                Some(&place) => {
                    all[place].ipids.extend(one.ipids);
                    all[place].is_last |= one.is_last;
                }
                None => {
                    places.insert(one.oid, all.len());
                    all.push(one);
                }
            }
        }
        all
    }
}

/// Whether the sequence number of a ping is older than the last known number (MS-DCOM 3.1.2.5.1.3).
/// Sequence numbers wrap around.
pub(crate) fn is_older(sequence: u16, known: u16) -> bool {
    sequence < known && known - sequence < 1 << 15
}
