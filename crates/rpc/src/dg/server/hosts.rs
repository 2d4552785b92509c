//! Quotas: each host's share of the activities and of the bytes held by messages. [`Host::counted`]
//! tells which addresses count as one host.

use obvia_via::datagram::Host;
use std::collections::HashMap;

/// The resources in use and their limits.
#[derive(Debug)]
pub(super) struct Hosts {
    used: HashMap<Host, Share>,
    all: Share,
    max: Share,
}

/// The resources in use by one host or by all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Share {
    activities: usize,
    bytes: usize,
}

impl Hosts {
    pub(super) fn new(activities: usize, bytes: usize) -> Self {
        Self { used: HashMap::new(), all: Share::default(), max: Share { activities, bytes } }
    }

    fn share(&self, host: Host) -> Share {
        self.used.get(&host.counted()).copied().unwrap_or_default()
    }

    /// Whether the host may have one more activity.
    pub(super) fn has_place(&self, host: Host) -> bool {
        self.all.activities < self.max.activities && !self.is_full(host)
    }

    /// Whether the host has its maximum of activities, which is half of all.
    pub(super) fn is_full(&self, host: Host) -> bool {
        self.share(host).activities >= self.max.activities.div_ceil(2)
    }

    /// Returns the number of bytes that the host may additionally hold.
    pub(super) fn room(&self, host: Host) -> usize {
        let of_host = (self.max.bytes / 2).saturating_sub(self.share(host).bytes);
        of_host.min(self.max.bytes.saturating_sub(self.all.bytes))
    }

    /// Counts a new activity.
    pub(super) fn enter(&mut self, host: Host) {
        self.all.activities += 1;
        self.used.entry(host.counted()).or_default().activities += 1;
    }

    /// Counts the end of an activity that holds no bytes.
    pub(super) fn leave(&mut self, host: Host) {
        self.all.activities -= 1;
        if let Some(share) = self.used.get_mut(&host.counted()) {
            share.activities -= 1;
            if *share == Share::default() {
                self.used.remove(&host.counted());
            }
        }
    }

    /// Counts a change of the bytes that an activity holds.
    pub(super) fn change(&mut self, host: Host, before: usize, now: usize) {
        self.all.bytes = self.all.bytes - before + now;
        if let Some(share) = self.used.get_mut(&host.counted()) {
            share.bytes = share.bytes - before + now;
        }
    }

    /// Returns the number of bytes held for all hosts.
    pub(super) fn bytes(&self) -> usize {
        self.all.bytes
    }
}
