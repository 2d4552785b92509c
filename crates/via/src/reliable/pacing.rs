//! Pacing: spreads the packets of a window over the round trip. RFC 9002, 7.7.

/// The minimum number of packets that may pass at once.
const BURST_PACKETS: u64 = 10;
/// The length of a burst, in nanoseconds. All packets that the rate allows in this time may pass at
/// once, up to [`BURST_BYTES`], because a sleeping thread wakes late. A full congestion window
/// opens again when it has room for the bytes that the connection sends in this time.
pub(super) const BURST_TIME: u64 = 1_000_000;
/// The maximum number of bytes of a burst, unless [`BURST_PACKETS`] packets are longer.
const BURST_BYTES: u64 = 64 << 10;

/// The rate of a connection: `bytes` bytes in `time` nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) bytes: u64,
    pub(super) time: u64,
}

impl Rate {
    pub(super) fn bytes_in(self, time: u64) -> u64 {
        self.bytes.saturating_mul(time) / self.time.max(1)
    }

    fn time_of(self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.time) / self.bytes.max(1)
    }

    /// Returns the capacity of the bucket, in bytes.
    fn burst(self, packet: u64) -> u64 {
        self.bytes_in(BURST_TIME).min(BURST_BYTES).max(BURST_PACKETS * packet)
    }
}

/// A leaky bucket: sent packets fill it, and it leaks at the rate of the connection.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    // The level, in bytes, at the time `at`.
    level: u64,
    at: u64,
}

impl Pacing {
    fn level(&self, now: u64, rate: Rate) -> u64 {
        self.level.saturating_sub(rate.bytes_in(now.saturating_sub(self.at)))
    }

    /// Notes that a packet was sent.
    pub(super) fn sent(&mut self, now: u64, length: u64, rate: Rate) {
        (self.level, self.at) = (self.level(now, rate) + length, now);
    }

    /// Returns `None` if a packet may be sent now, or else the time from which it may be sent.
    /// Several packets may be sent at that time, so that a fast connection does not need a timer
    /// for each packet.
    pub(super) fn wait(&self, now: u64, (length, packet): (u64, u64), rate: Rate) -> Option<u64> {
        // A packet that is sent again may be longer than new packets are now.
        let (level, burst) = (self.level(now, rate), rate.burst(packet).max(length));
        if level + length <= burst {
            return None;
        }
        let several = rate.bytes_in(BURST_TIME).min(burst / 2).max(length);
        Some(now + rate.time_of(level + several - burst).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::{Pacing, Rate};

    const MILLISECOND: u64 = 1_000_000;

    /// Sends packets of 1000 bytes as early as possible. Returns the milliseconds at which they
    /// were sent.
    fn times(rate: Rate, count: usize) -> Vec<u64> {
        let (mut pacing, mut now, mut times) = (Pacing::default(), 0, Vec::new());
        while times.len() < count {
            match pacing.wait(now, (1000, 1000), rate) {
                Some(next) => now = next,
                None => {
                    pacing.sent(now, 1000, rate);
                    times.push(now.div_ceil(MILLISECOND));
                }
            }
        }
        times
    }

    #[test]
    fn ten_packets_pass_at_once_and_the_others_at_the_rate() {
        // 100 packets in 1 s.
        let slow = times(Rate { bytes: 100_000, time: 1000 * MILLISECOND }, 13);
        assert_eq!(slow, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 20, 30]);
        // 4 packets in a millisecond.
        let fast = times(Rate { bytes: 400_000, time: 100 * MILLISECOND }, 19);
        assert_eq!(fast[9..], [0, 1, 1, 1, 1, 2, 2, 2, 2, 3]);
    }

    #[test]
    fn the_rate_is_kept_over_long_times() {
        let sent = times(Rate { bytes: 12_500_000, time: 1000 * MILLISECOND }, 12_510);
        assert!(sent.last().is_some_and(|last| (1000..=1001).contains(last)), "{:?}", sent.last());
    }
}
