//! Quotas: each host's share of the activities and of the bytes held by messages. [`Host::counted`]
//! tells which addresses count as one host.

use crate::counts::Counts;
use obvia_via::datagram::Host;
use obvia_via::{Budget, Reservation};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The resources in use and their limits.
#[derive(Debug)]
pub(super) struct Hosts {
    activities: Counts<Host>,
    activities_max: usize,
    bytes: Arc<Bytes>,
}

/// The bytes of messages. The server counts the messages that it keeps; the arguments of a call are
/// counted until no copy of them is left.
#[derive(Debug)]
struct Bytes {
    counts: Mutex<Counts<Host>>,
    most: usize,
}

impl Bytes {
    fn counts(&self) -> MutexGuard<'_, Counts<Host>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn room(&self, counts: &Counts<Host>, host: Host) -> usize {
        counts.room(&host, self.most / 2, self.most)
    }
}

/// The bytes of one host, as a budget.
#[derive(Debug)]
struct HostBytes {
    host: Host,
    bytes: Arc<Bytes>,
}

impl Budget for HostBytes {
    fn take(&self, bytes: usize) -> bool {
        let mut counts = self.bytes.counts();
        let has_room = bytes <= self.bytes.room(&counts, self.host);
        if has_room {
            counts.add(self.host, bytes);
        }
        has_room
    }

    fn give_back(&self, bytes: usize) {
        self.bytes.counts().subtract(self.host, bytes);
    }
}

impl Hosts {
    pub(super) fn new(activities_max: usize, bytes_max: usize) -> Self {
        let bytes = Arc::new(Bytes { counts: Mutex::default(), most: bytes_max });
        Self { activities: Counts::default(), activities_max, bytes }
    }

    /// Whether the host may have one more activity.
    pub(super) fn has_place(&self, host: Host) -> bool {
        self.activities.all() < self.activities_max && !self.is_full(host)
    }

    /// Whether the host has its maximum of activities, which is half of all.
    pub(super) fn is_full(&self, host: Host) -> bool {
        self.activities.of(&host.counted()) >= self.activities_max.div_ceil(2)
    }

    /// Returns the number of bytes that the host may additionally hold.
    pub(super) fn room(&self, host: Host) -> usize {
        self.bytes.room(&self.bytes.counts(), host.counted())
    }

    /// Counts a new activity.
    pub(super) fn enter(&mut self, host: Host) {
        self.activities.add(host.counted(), 1);
    }

    /// Counts the end of an activity that holds no bytes.
    pub(super) fn leave(&mut self, host: Host) {
        self.activities.subtract(host.counted(), 1);
    }

    /// Counts a change of the bytes that an activity holds.
    pub(super) fn change(&mut self, host: Host, before: usize, now: usize) {
        if before != now {
            let mut counts = self.bytes.counts();
            counts.subtract(host.counted(), before);
            counts.add(host.counted(), now);
        }
    }

    /// Counts the bytes of a call's arguments until the result is dropped. `None` if the host may
    /// not hold them.
    pub(super) fn reserve(&self, host: Host, bytes: usize) -> Option<Reservation> {
        let budget: Arc<dyn Budget> = Arc::new(HostBytes { host: host.counted(), bytes: Arc::clone(&self.bytes) });
        Reservation::new(&budget, bytes)
    }

    /// Returns the number of bytes held for all hosts.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.counts().all()
    }
}
