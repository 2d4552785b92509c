//! What each host takes of what there is for all: how many activities, and how many bytes of messages.

use obvia_via::datagram::Host;
use std::collections::HashMap;

/// How much is in use, and how much there is.
#[derive(Debug)]
pub(super) struct Hosts {
    used: HashMap<Host, Share>,
    all: Share,
    max: Share,
}

/// What somebody uses.
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
        self.used.get(&host).copied().unwrap_or_default()
    }

    /// Whether there may be one more activity of a host.
    pub(super) fn has_place(&self, host: Host) -> bool {
        self.all.activities < self.max.activities && !self.is_full(host)
    }

    /// Whether a host has all the activities that it may have: it leaves half of them to others.
    pub(super) fn is_full(&self, host: Host) -> bool {
        self.share(host).activities >= self.max.activities.div_ceil(2)
    }

    /// The bytes that a host may have beside those that it has.
    pub(super) fn room(&self, host: Host) -> usize {
        let of_host = (self.max.bytes / 2).saturating_sub(self.share(host).bytes);
        of_host.min(self.max.bytes.saturating_sub(self.all.bytes))
    }

    /// An activity begins.
    pub(super) fn enter(&mut self, host: Host) {
        self.all.activities += 1;
        self.used.entry(host).or_default().activities += 1;
    }

    /// An activity that keeps nothing any more ends.
    pub(super) fn leave(&mut self, host: Host) {
        self.all.activities -= 1;
        if let Some(share) = self.used.get_mut(&host) {
            share.activities -= 1;
            if *share == Share::default() {
                self.used.remove(&host);
            }
        }
    }

    /// What an activity keeps has become more or less.
    pub(super) fn change(&mut self, host: Host, before: usize, now: usize) {
        self.all.bytes = self.all.bytes - before + now;
        if let Some(share) = self.used.get_mut(&host) {
            share.bytes = share.bytes - before + now;
        }
    }

    /// Bytes that are kept for all.
    pub(super) fn bytes(&self) -> usize {
        self.all.bytes
    }
}
