//! Packet lengths: a connection begins with a length that every path takes, and probes for a longer
//! one. If long packets stop getting through, the connection returns to the first length and probes
//! again. RFC 8899.

/// The number of probes of one length that must get lost before the length counts as too long.
const TRIES: u32 = 2;
/// The resolution of the search, in bytes.
const STEP: usize = 32;
/// The minimum wait for the answer to a probe, in nanoseconds.
const PROBE_TIMEOUT: u64 = 50_000_000;
/// The time until a longer packet is tried again after probes got lost, in nanoseconds.
const AGAIN: u64 = 600_000_000_000;

/// The search for the maximum packet length.
#[derive(Debug)]
pub(super) struct Path {
    // The length that every path takes.
    base: usize,
    current: usize,
    // The maximum length that may still get through: longer packets count as too long.
    ceiling: usize,
    most: usize,
    candidate: usize,
    tries: u32,
    // The time of the last probe.
    sent: u64,
    // The time of the next probe; `None` if none is due, or if the search waits for a sign of life.
    due: Option<u64>,
    // Whether the search goes on when a packet of the peer arrives. While nothing arrives, the loss
    // of a probe does not show that the probe was too long.
    waits: bool,
}

/// A packet that the search needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// A probe of this length, in bytes.
    Probe(usize),
    /// A ping, whose answer shows that the peer receives short packets.
    Ping,
}

impl Path {
    /// Begins the search with the length `first`, which every path takes; `most` is the link's
    /// maximum.
    pub(super) fn new(first: usize, most: usize) -> Self {
        let base = first.min(most);
        let due = (base < most).then_some(0);
        Self { base, current: base, ceiling: most, most, candidate: most, tries: 0, sent: 0, due, waits: false }
    }

    /// Notes that each datagram gets longer by `overhead` bytes outside of the packet.
    pub(super) fn reserve(&mut self, overhead: usize) {
        for length in [&mut self.base, &mut self.current, &mut self.ceiling, &mut self.most, &mut self.candidate] {
            *length = length.saturating_sub(overhead);
        }
    }

    /// Returns the current packet length, in bytes.
    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// Whether both a packet of `length` bytes and the current length exceed the length that every
    /// path takes.
    pub(super) fn may_exceed(&self, length: usize) -> bool {
        self.current.min(length) > self.base
    }

    /// Returns the time of the next probe.
    pub(super) fn due(&self) -> Option<u64> {
        self.due
    }

    /// Returns the packet to send now, if one is due. The answer to a probe is overdue after
    /// `timeout`.
    pub(super) fn test(&mut self, now: u64, timeout: u64) -> Option<Test> {
        if self.due.is_none_or(|due| now < due) {
            return None;
        }
        if self.tries == TRIES {
            (self.due, self.waits) = (None, true);
            return Some(Test::Ping);
        }
        self.tries += 1;
        self.sent = now;
        self.due = Some(now + timeout.max(PROBE_TIMEOUT));
        Some(Test::Probe(self.candidate))
    }

    /// Notes that a packet of the peer has arrived.
    pub(super) fn received(&mut self, now: u64) {
        if !std::mem::take(&mut self.waits) {
            return;
        }
        if self.tries == TRIES {
            self.ceiling = self.candidate - 1;
            self.next(now);
        } else {
            self.due = Some(now);
        }
    }

    /// Returns the round trip of the probe whose answer arrives now. `None` if the last probe had
    /// another length, or if several probes had this length.
    pub(super) fn round_trip(&self, now: u64, length: usize) -> Option<u64> {
        (length == self.candidate && self.tries == 1).then(|| now.saturating_sub(self.sent))
    }

    /// Notes that a probe of `length` bytes got through. Returns whether packets may be longer now.
    pub(super) fn confirmed(&mut self, now: u64, length: usize) -> bool {
        if length <= self.current || length > self.most {
            return false;
        }
        self.current = length;
        self.ceiling = self.ceiling.max(length);
        self.next(now);
        true
    }

    /// Notes that packets of the current length seem to get lost. When a packet of the peer
    /// arrives, the search begins again with the length that was current, because the path may
    /// only have been interrupted.
    pub(super) fn suspect(&mut self) {
        self.candidate = self.current;
        (self.current, self.tries, self.due, self.waits) = (self.base, 0, None, true);
    }

    /// Notes that the link does not take a packet of `length` bytes any more. Returns whether
    /// packets are shorter now.
    pub(super) fn refused(&mut self, now: u64, length: usize) -> bool {
        if length <= self.base {
            return false;
        }
        let is_shorter = length <= self.current;
        if is_shorter {
            self.current = self.base;
        }
        self.ceiling = self.ceiling.min(length - 1);
        self.next(now);
        is_shorter
    }

    fn next(&mut self, now: u64) {
        (self.tries, self.waits) = (0, false);
        if self.current == self.most {
            self.due = None;
        } else if self.ceiling < self.current + STEP {
            (self.ceiling, self.candidate, self.due) = (self.most, self.most, Some(now + AGAIN));
        } else {
            self.candidate = self.current + (self.ceiling - self.current).div_ceil(2);
            self.due = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Path, Test};

    /// Returns the length found over a path that takes `takes` bytes, and the number of probes.
    fn search(most: usize, takes: usize) -> (usize, u32) {
        found(&mut Path::new(1200, most), takes)
    }

    /// Goes on with a search until no packet of the search is due within a minute.
    fn found(path: &mut Path, takes: usize) -> (usize, u32) {
        let (mut now, mut probes) = (0, 0);
        while let Some(due) = path.due().filter(|due| *due < 60_000_000_000) {
            now = now.max(due);
            match path.test(now, 0) {
                Some(Test::Probe(length)) => {
                    probes += 1;
                    if length <= takes {
                        path.confirmed(now, length);
                    }
                }
                Some(Test::Ping) => path.received(now),
                None => {}
            }
        }
        (path.current(), probes)
    }

    #[test]
    fn a_path_for_every_length_is_found_with_at_most_one_probe() {
        assert_eq!(search(65507, 65507), (65507, 1));
        assert_eq!(search(1200, 1200), (1200, 0));
    }

    #[test]
    fn the_path_length_is_found_within_64_bytes() {
        for takes in [1200, 1210, 1472, 8972, 65000] {
            let (found, probes) = search(65507, takes);
            assert!(found <= takes && takes - found < 64, "{found} of {takes}");
            assert!(probes < 30, "{probes}");
        }
    }

    #[test]
    fn confirmations_without_a_probe_are_ignored() {
        let mut path = Path::new(1200, 1500);
        assert!(!path.confirmed(0, 1501));
        assert!(!path.confirmed(0, 1200));
        assert_eq!(path.current(), 1200);
    }

    #[test]
    fn an_interruption_costs_one_probe_and_a_shorter_path_a_search() {
        for (takes, probes) in [(1472, 1..=1), (1300, 3..=12)] {
            let mut path = Path::new(1200, 1472);
            assert_eq!(found(&mut path, 1472), (1472, 1));
            path.suspect();
            assert_eq!((path.current(), path.due()), (1200, None), "nothing has arrived yet");
            path.received(0);
            let (found, count) = found(&mut path, takes);
            assert!(found <= takes && takes - found < 64, "{found} of {takes}");
            assert!(probes.contains(&count), "{count} probes");
        }
    }

    #[test]
    fn the_search_does_not_go_on_while_the_peer_is_silent() {
        let mut path = Path::new(1200, 1472);
        let probe = Some(Test::Probe(1472));
        assert_eq!([0, 1, 50_000_000].map(|now| path.test(now, 0)), [probe, None, probe]);
        assert_eq!(path.test(100_000_000, 0), Some(Test::Ping));
        assert_eq!(path.due(), None);
        path.received(7_000_000_000);
        assert_eq!(path.test(7_000_000_000, 0), Some(Test::Probe(1336)));
    }

    #[test]
    fn lengths_that_the_link_refuses_are_not_tried_again() {
        let mut path = Path::new(1200, 1472);
        assert_eq!(found(&mut path, 1472), (1472, 1));
        assert!(!path.refused(0, 1200));
        assert!(path.refused(0, 1472));
        assert_eq!((path.current(), path.test(0, 0)), (1200, Some(Test::Probe(1336))));
        assert!(!path.refused(0, 1336));
        assert_eq!(path.test(0, 0), Some(Test::Probe(1268)));
        assert!(path.confirmed(0, 1268));
        assert_eq!(path.current(), 1268);
    }
}
