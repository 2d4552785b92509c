//! Quotas: the shares of hosts in the activities, and in the bytes that messages hold.
//! [`Host::counted`] determines which addresses count as one host.

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

/// The bytes that messages hold, and their limit.
#[derive(Debug)]
struct Bytes {
    counts: Mutex<Held>,
    most: usize,
}

#[derive(Debug, Default)]
struct Held {
    /// The bytes of the messages that the server keeps: incomplete arguments, and results.
    kept: Counts<Host>,
    /// The bytes of the arguments of calls in progress, until no copy of the arguments is left.
    running: Counts<Host>,
}

impl Bytes {
    fn counts(&self) -> MutexGuard<'_, Held> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The arguments of one host's calls in progress, as a budget.
#[derive(Debug)]
struct Running {
    host: Host,
    bytes: Arc<Bytes>,
}

impl Budget for Running {
    /// Takes the bytes without a check of the limit, because the server has checked the room for
    /// each fragment on its arrival.
    fn take(&self, bytes: usize) -> bool {
        self.bytes.counts().running.add(self.host, bytes);
        true
    }

    fn give_back(&self, bytes: usize) {
        self.bytes.counts().running.subtract(self.host, bytes);
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

    /// Whether the host has its maximum number of activities, which is half of the server's
    /// maximum.
    pub(super) fn is_full(&self, host: Host) -> bool {
        self.activities.of(&host.counted()) >= self.activities_max.div_ceil(2)
    }

    /// Returns the number of further bytes of arguments that the host may hold.
    pub(super) fn room_for_arguments(&self, host: Host) -> usize {
        let (host, counts) = (host.counted(), self.bytes.counts());
        let (of_host, of_all) = (counts.running.of(&host), counts.running.all());
        let most = self.bytes.most;
        counts.kept.room(&host, (most / 2).saturating_sub(of_host), most.saturating_sub(of_all))
    }

    /// Returns the number of further bytes of results that the host may hold. The arguments of
    /// calls in progress do not reduce this number: the calls that have results have been executed,
    /// and their clients must get the outcome.
    pub(super) fn room_for_results(&self, host: Host) -> usize {
        self.bytes.counts().kept.room(&host.counted(), self.bytes.most / 2, self.bytes.most)
    }

    /// Counts a new activity.
    pub(super) fn enter(&mut self, host: Host) {
        self.activities.add(host.counted(), 1);
    }

    /// Subtracts an activity, which must hold no bytes any more, from the counts.
    pub(super) fn leave(&mut self, host: Host) {
        self.activities.subtract(host.counted(), 1);
    }

    /// Counts a change of the bytes that an activity holds.
    pub(super) fn change(&mut self, host: Host, before: usize, now: usize) {
        if before != now {
            let mut counts = self.bytes.counts();
            counts.kept.subtract(host.counted(), before);
            counts.kept.add(host.counted(), now);
        }
    }

    /// Counts the bytes of the arguments of a call in progress, until the returned reservation is
    /// dropped.
    pub(super) fn reserve(&self, host: Host, bytes: usize) -> Option<Reservation> {
        let budget: Arc<dyn Budget> = Arc::new(Running { host: host.counted(), bytes: Arc::clone(&self.bytes) });
        Reservation::new(&budget, bytes)
    }

    /// Returns the number of bytes held for all hosts.
    pub(super) fn bytes(&self) -> usize {
        let counts = self.bytes.counts();
        counts.kept.all() + counts.running.all()
    }
}
