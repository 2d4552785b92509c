//! The end of slow start before the queue is full: HyStart++, RFC 9406.
//!
//! Slow start doubles the window in each round trip, so it finds the capacity of the path by losing
//! up to a window of packets. Round trips grow before that, because packets wait in the queue.
//! When they have grown, the window grows more slowly for some round trips (*conservative slow
//! start*). If the round trip falls again, the growth was jitter, and slow start goes on.
//!
//! RFC 9406 evaluates the first eight samples of each round. This module evaluates every sixteen
//! samples, because a window that doubles in a round can fill a queue within the round. More
//! frequent evaluations would mistake jitter for growth more often. The doubled number of samples
//! makes up for that: jitter seldom delays all sixteen.

/// The minimum growth of the round trip that ends slow start, in nanoseconds. RFC 9406, 4.3.
const GROWTH_MIN: u64 = 4_000_000;
/// The maximum growth of the round trip that ends slow start, in nanoseconds. RFC 9406, 4.3.
const GROWTH_MAX: u64 = 16_000_000;
/// The round trip divided by this number is the growth that ends slow start, within the limits
/// `GROWTH_MIN` and `GROWTH_MAX`. RFC 9406, 4.3.
const GROWTH_PART: u64 = 8;
/// The number of samples whose minimum shows the round trip.
const SAMPLES: u32 = 16;
/// The number of rounds in conservative slow start. The round during which it begins counts as the
/// first.
const ROUNDS: u32 = 5;

/// The round trips of the first slow start. A round lasts until a packet is acknowledged that was
/// sent after the round began. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct SlowStart {
    // The number of transmissions at the beginning of the round.
    begin: u64,
    // The shortest round trip of the round before; `u64::MAX` while none is known.
    before: u64,
    // The shortest round trip of this round; `u64::MAX` while none is known.
    shortest: u64,
    // The shortest round trip of the latest samples; `u64::MAX` while none is known.
    latest: u64,
    // The number of the latest samples.
    samples: u32,
    conservative: Option<Conservative>,
}

/// The state of conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    // The bound that the round trip exceeded. A round trip below this bound ends conservative slow
    // start.
    from: u64,
    rounds: u32,
}

impl SlowStart {
    pub(super) const fn new() -> Self {
        Self { begin: 0, before: u64::MAX, shortest: u64::MAX, latest: u64::MAX, samples: 0, conservative: None }
    }

    /// Whether the window grows by all acknowledged bytes.
    pub(super) fn is_full(&self) -> bool {
        self.conservative.is_none()
    }

    /// Takes a sample of the round trip, by the packet that was sent as transmission
    /// `transmission`. `sent` is the number of transmissions so far. Returns whether slow start is
    /// over.
    pub(super) fn sample(&mut self, took: u64, transmission: u64, sent: u64) -> bool {
        if transmission > self.begin && self.end_round(sent) {
            return true;
        }
        self.shortest = self.shortest.min(took);
        self.latest = self.latest.min(took);
        self.samples += 1;
        if self.samples == SAMPLES {
            self.compare();
            (self.latest, self.samples) = (u64::MAX, 0);
        }
        false
    }

    /// Ends a round, and begins the next. Returns whether conservative slow start has had its
    /// maximum number of rounds.
    fn end_round(&mut self, sent: u64) -> bool {
        (self.begin, self.before) = (sent, self.shortest);
        (self.shortest, self.latest, self.samples) = (u64::MAX, u64::MAX, 0);
        let Some(conservative) = &mut self.conservative else { return false };
        conservative.rounds += 1;
        conservative.rounds >= ROUNDS
    }

    /// Compares the latest round trip with the bound: in conservative slow start, with the bound
    /// that was exceeded; otherwise, with the shortest round trip of the round before, plus the
    /// growth that ends slow start.
    fn compare(&mut self) {
        let growth = (self.before / GROWTH_PART).clamp(GROWTH_MIN, GROWTH_MAX);
        let longer = self.before.saturating_add(growth);
        let from = self.conservative.map_or(longer, |conservative| conservative.from);
        if self.latest < from {
            self.conservative = None;
        } else if self.conservative.is_none() && self.before < u64::MAX {
            self.conservative = Some(Conservative { from, rounds: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SlowStart;
    use crate::reliable::tests::Chance;

    const MILLISECOND: u64 = 1_000_000;

    /// The growth of the window in slow start.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Growth {
        Full,
        Conservative,
        Over,
    }

    /// A connection that sends `packets` packets in each round.
    struct Rounds {
        slow_start: SlowStart,
        sent: u64,
    }

    impl Rounds {
        fn new() -> Self {
            Self { slow_start: SlowStart::new(), sent: 0 }
        }

        /// Sends one packet for each round trip in `trips`, in milliseconds. Then acknowledges the
        /// packets, each after its round trip. Returns the growth after each acknowledgement.
        fn round(&mut self, trips: &[u64]) -> Vec<Growth> {
            let first = self.sent + 1;
            self.sent += trips.len() as u64;
            let each = trips.iter().zip(first..);
            each.map(|(trip, number)| self.sample(*trip, number)).collect()
        }

        fn sample(&mut self, trip: u64, number: u64) -> Growth {
            match self.slow_start.sample(trip * MILLISECOND, number, self.sent) {
                true => Growth::Over,
                false if self.slow_start.is_full() => Growth::Full,
                false => Growth::Conservative,
            }
        }
    }

    #[test]
    fn sixteen_samples_beyond_the_last_round_slow_the_growth_down() {
        // The growth that ends slow start is an eighth of the round trip, but at least 4 ms and at
        // most 16 ms.
        for (trip, grown) in [(1, 5), (20, 24), (64, 72), (104, 117), (128, 144), (400, 416)] {
            for (trips, growth) in [(grown - 1, Growth::Full), (grown, Growth::Conservative)] {
                let mut rounds = Rounds::new();
                assert_eq!(rounds.round(&[trip; 40]), [Growth::Full; 40]);
                let growths = rounds.round(&[trips; 17]);
                assert_eq!(growths[..15], [Growth::Full; 15], "{trip} ms");
                assert_eq!(growths[15..], [growth; 2], "{trip} ms, then {trips} ms");
            }
        }
    }

    #[test]
    fn a_queue_that_grows_within_a_round_is_noticed() {
        let mut rounds = Rounds::new();
        rounds.round(&[20; 40]);
        let mut trips = [20; 40];
        trips[20..].fill(30);
        assert_eq!(rounds.round(&trips)[31], Growth::Full);
        let mut rounds = Rounds::new();
        rounds.round(&[20; 40]);
        trips[16..].fill(30);
        assert_eq!(rounds.round(&trips)[31], Growth::Conservative);
    }

    #[test]
    fn slow_start_is_over_after_five_conservative_rounds() {
        let mut rounds = Rounds::new();
        rounds.round(&[20; 20]);
        // The round in which the longer round trips are found counts as the first.
        for _ in 0..5 {
            assert_eq!(rounds.round(&[30; 20])[19], Growth::Conservative);
        }
        assert_eq!(rounds.round(&[30; 20])[0], Growth::Over);
    }

    #[test]
    fn slow_start_goes_on_when_the_round_trip_falls_again() {
        let mut rounds = Rounds::new();
        rounds.round(&[20; 20]);
        for _ in 0..20 {
            assert_eq!(rounds.round(&[24; 20])[19], Growth::Conservative);
            let growths = rounds.round(&[23; 20]);
            assert_eq!(growths[14..16], [Growth::Conservative, Growth::Full]);
            rounds.round(&[20; 20]);
        }
    }

    #[test]
    fn single_late_samples_and_short_rounds_change_nothing() {
        let mut rounds = Rounds::new();
        let mut early = [90; 16];
        for at in [0, 7, 15] {
            early[at] = 20;
            assert_eq!(rounds.round(&early), [Growth::Full; 16]);
            early[at] = 90;
            assert_eq!(rounds.round(&[20; 15]), [Growth::Full; 15]);
            assert_eq!(rounds.round(&[90; 15]), [Growth::Full; 15]);
            rounds.round(&[20; 16]);
        }
    }

    #[test]
    fn a_jittery_line_is_not_left_early() {
        // The jitter in milliseconds: half of the round trip, and four times the growth that ends
        // slow start.
        const JITTER: u64 = 25;
        let mut chance = Chance::new(5);
        for _ in 0..100 {
            let mut rounds = Rounds::new();
            let (mut full, mut all) = (0, 0);
            for packets in [45, 90, 180, 360, 720, 1440] {
                let trips: Vec<_> = (0..packets).map(|_| 50 + chance.next() % (JITTER + 1)).collect();
                let growths = rounds.round(&trips);
                assert!(!growths.contains(&Growth::Over));
                full += growths.iter().filter(|growth| **growth == Growth::Full).count();
                all += growths.len();
            }
            assert!(full * 10 > all * 9, "{full} of {all} packets let the window grow in full");
        }
    }
}
