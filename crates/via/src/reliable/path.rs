//! Packet lengths: a connection begins with a length that every path takes, and probes for a longer
//! one. RFC 8899.

/// The number of probes of one length that must get lost before it counts as too long.
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
    current: usize,
    // The maximum length that may get through, as far as is known.
    ceiling: usize,
    most: usize,
    candidate: usize,
    tries: u32,
    // The time of the last probe.
    sent: u64,
    due: Option<u64>,
}

impl Path {
    /// Begins the search with the length `first`, which every path takes; `most` is the link's
    /// maximum.
    pub(super) fn new(first: usize, most: usize) -> Self {
        let first = first.min(most);
        let due = (first < most).then_some(0);
        Self { current: first, ceiling: most, most, candidate: most, tries: 0, sent: 0, due }
    }

    /// Notes that each datagram gets longer by `overhead` bytes outside of the packet.
    pub(super) fn reserve(&mut self, overhead: usize) {
        for length in [&mut self.current, &mut self.ceiling, &mut self.most, &mut self.candidate] {
            *length = length.saturating_sub(overhead);
        }
    }

    /// Returns the current packet length, in bytes.
    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// Returns the time of the next probe.
    pub(super) fn due(&self) -> Option<u64> {
        self.due
    }

    /// Returns the length of the probe to send now. Its answer is overdue after `timeout`.
    pub(super) fn probe(&mut self, now: u64, timeout: u64) -> Option<usize> {
        if self.due.is_none_or(|due| now < due) {
            return None;
        }
        if self.tries == TRIES {
            self.ceiling = self.candidate - 1;
            self.next(now);
            if self.due != Some(now) {
                return None;
            }
        }
        self.tries += 1;
        self.sent = now;
        self.due = Some(now + timeout.max(PROBE_TIMEOUT));
        Some(self.candidate)
    }

    /// Returns the time that the answer took which arrives now. `None` for another length than that
    /// of the last probe, or if several probes had it.
    pub(super) fn round_trip(&self, now: u64, length: usize) -> Option<u64> {
        (length == self.candidate && self.tries == 1).then(|| now.saturating_sub(self.sent))
    }

    /// Notes that a probe of that length got through. Returns whether packets may be longer now.
    pub(super) fn confirmed(&mut self, now: u64, length: usize) -> bool {
        if length <= self.current || length > self.most {
            return false;
        }
        self.current = length;
        self.ceiling = self.ceiling.max(length);
        self.next(now);
        true
    }

    fn next(&mut self, now: u64) {
        self.tries = 0;
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
    use super::Path;

    /// Returns the length found over a path that takes `takes` bytes, and the number of probes.
    fn search(most: usize, takes: usize) -> (usize, u32) {
        let (mut path, mut now, mut probes) = (Path::new(1200, most), 0, 0);
        while let Some(due) = path.due().filter(|due| *due < 60_000_000_000) {
            now = now.max(due);
            if let Some(length) = path.probe(now, 0) {
                probes += 1;
                if length <= takes {
                    path.confirmed(now, length);
                }
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
}
