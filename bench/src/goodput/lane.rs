//! One direction of a line: losses, a queue in front of a transmitter with a rate, and a delay.

use super::Conditions;
use std::collections::VecDeque;
use std::fmt;

/// One direction of a line. All times are nanoseconds since the same start.
#[derive(Debug)]
pub(super) struct Lane {
    conditions: Conditions,
    random: Random,
    // The time at which the transmitter will have sent all packets in the queue.
    free_at: u64,
    // The packets that have not yet arrived, with their times of arrival, in the order of these
    // times.
    under_way: VecDeque<(u64, Vec<u8>)>,
    // The memory of packets that have arrived, for further packets.
    spare: Vec<Vec<u8>>,
    dropped: Dropped,
}

/// The numbers of packets that did not arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dropped {
    /// The packets lost at random.
    pub(super) lost: u64,
    /// The packets dropped because the queue was full.
    pub(super) overflowed: u64,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets lost, {} over the queue", self.lost, self.overflowed)
    }
}

impl Lane {
    /// Creates an idle lane. The losses follow from `seed`.
    pub(super) fn new(conditions: Conditions, seed: u64) -> Self {
        Self {
            conditions,
            random: Random(seed),
            free_at: 0,
            under_way: VecDeque::new(),
            spare: Vec::new(),
            dropped: Dropped::default(),
        }
    }

    /// Takes a packet that is sent at the time `now`.
    pub(super) fn sent(&mut self, now: u64, packet: &[u8]) {
        if self.random.share() < self.conditions.loss {
            self.dropped.lost += 1;
            return;
        }
        let begins = self.free_at.max(now);
        let length = packet.len() as u64;
        if self.conditions.bytes_in(begins - now) + length > self.conditions.queue() {
            self.dropped.overflowed += 1;
            return;
        }
        self.free_at = begins + self.conditions.time_of(length);
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(packet);
        self.under_way.push_back((self.free_at + self.conditions.round_trip_ns() / 2, kept));
    }

    /// Returns the time of the next arrival; `None` if no packet is under way.
    pub(super) fn next(&self) -> Option<u64> {
        self.under_way.front().map(|(at, _)| *at)
    }

    /// Passes all packets that have arrived by the time `now` to `each`.
    pub(super) fn arrived(&mut self, now: u64, mut each: impl FnMut(&[u8])) {
        while self.next().is_some_and(|at| at <= now)
            && let Some((_, packet)) = self.under_way.pop_front()
        {
            each(&packet);
            self.spare.push(packet);
        }
    }

    pub(super) fn dropped(&self) -> Dropped {
        self.dropped
    }
}

/// The generator splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// 2014.
#[derive(Debug)]
struct Random(u64);

impl Random {
    /// Returns a number that is at least 0 and less than 1.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // The upper 53 bits, which a double represents exactly.
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::Conditions;
    use super::{Dropped, Lane};
    use std::time::Duration;

    const MICROSECOND: u64 = 1000;

    fn lane(loss: f64, round_trip_ms: u64) -> Lane {
        let round_trip = Duration::from_millis(round_trip_ms);
        Lane::new(Conditions { rate: 100_000_000, round_trip, loss }, 1)
    }

    /// Returns the times, in microseconds, of all packets that arrive until `end`, a time in
    /// nanoseconds.
    fn arrivals(lane: &mut Lane, end: u64) -> Vec<u64> {
        let mut times = Vec::new();
        while let Some(at) = lane.next().filter(|at| *at <= end) {
            lane.arrived(at - 1, |_| panic!("early"));
            lane.arrived(at, |_| times.push(at / MICROSECOND));
        }
        times
    }

    #[test]
    fn packets_arrive_in_order_after_transmission_and_delay() {
        let mut lane = lane(0.0, 20);
        // 1250 bytes take 100 us, at 100 Mbit/s.
        for now in [0, 0, 50, 1000] {
            lane.sent(now * MICROSECOND, &[0; 1250]);
        }
        assert_eq!(arrivals(&mut lane, u64::MAX), [10_100, 10_200, 10_300, 11_100]);
    }

    #[test]
    fn a_full_queue_drops_the_newest_packets() {
        let mut lane = lane(0.0, 1);
        // 50 ms at 100 Mbit/s are 625,000 bytes: 500 packets.
        (0..502_u32).for_each(|number| lane.sent(0, &[(number % 251) as u8; 1250]));
        assert_eq!(lane.dropped(), Dropped { lost: 0, overflowed: 2 });
        let mut contents = Vec::new();
        lane.arrived(49_999 * MICROSECOND, |packet| contents.push(packet[0]));
        lane.sent(49_999 * MICROSECOND, &[9; 1250]);
        lane.arrived(u64::MAX, |packet| contents.push(packet[0]));
        assert_eq!(lane.dropped().overflowed, 2);
        let expected: Vec<u8> = (0..500_u32).map(|number| (number % 251) as u8).chain([9]).collect();
        assert_eq!(contents, expected);
    }

    #[test]
    fn packets_are_lost_at_the_rate_of_the_line() {
        let mut lane = lane(0.05, 100);
        for number in 0..100_000 {
            lane.sent(number * 1000 * MICROSECOND, &[0; 64]);
        }
        let Dropped { lost, overflowed } = lane.dropped();
        // The standard deviation of the losses is 69.
        assert!(lost.abs_diff(5000) < 300 && overflowed == 0, "{lost} lost, {overflowed} overflowed");
    }
}
