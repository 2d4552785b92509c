//! Round-trip estimation and congestion control: RFC 6298 and RFC 5681, with a floor for local
//! networks.

/// The granularity of the clock, in nanoseconds.
const GRANULARITY: u64 = 100_000;

/// Estimates the time after which an unacknowledged packet counts as lost.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    smoothed: Option<u64>,
    variation: u64,
    least: u64,
    most: u64,
    doubled: u32,
}

impl RoundTrip {
    pub(super) fn new(least: u64, most: u64) -> Self {
        Self { smoothed: None, variation: 0, least, most: most.max(least), doubled: 0 }
    }

    /// Takes a sample: a packet that was sent once was acknowledged after this time. RFC 6298,
    /// section 2.
    pub(super) fn sample(&mut self, took: u64) {
        match self.smoothed {
            None => (self.smoothed, self.variation) = (Some(took), took / 2),
            Some(smoothed) => {
                self.variation = self.variation - self.variation / 4 + smoothed.abs_diff(took) / 4;
                self.smoothed = Some(smoothed - smoothed / 8 + took / 8);
            }
        }
    }

    /// Notes that a packet was acknowledged.
    pub(super) fn answered(&mut self) {
        self.doubled = 0;
    }

    /// Notes that no packet was acknowledged in time. RFC 6298, section 5.5.
    pub(super) fn expired(&mut self) {
        self.doubled = (self.doubled + 1).min(16);
    }

    /// Returns the number of timeouts in a row.
    pub(super) fn expirations(&self) -> u32 {
        self.doubled
    }

    /// Returns the time to wait for an acknowledgement.
    pub(super) fn timeout(&self) -> u64 {
        let once = match self.smoothed {
            None => self.least.saturating_mul(4),
            Some(smoothed) => smoothed + (4 * self.variation).max(GRANULARITY),
        };
        (once.max(self.least) << self.doubled).min(self.most)
    }

    /// Returns the smoothed round trip; 0 while none is known.
    pub(super) fn smoothed(&self) -> u64 {
        self.smoothed.unwrap_or(0)
    }
}

/// The initial window, in packets.
const FIRST_PACKETS: u64 = 16;
/// The minimum of the initial window, in bytes.
const FIRST_BYTES: u64 = 64 << 10;
/// The maximum of the window, in bytes.
const MOST: u64 = 64 << 20;

/// The number of bytes that may be under way: slow start, congestion avoidance, one reduction for
/// each window. RFC 5681.
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    window: u64,
    threshold: u64,
    packet: u64,
}

impl Congestion {
    pub(super) fn new(packet: u64) -> Self {
        Self { window: (FIRST_PACKETS * packet).max(FIRST_BYTES), threshold: u64::MAX, packet }
    }

    /// Notes that packets have become longer.
    pub(super) fn packet_is(&mut self, packet: u64) {
        self.packet = packet;
        self.window = self.window.max(4 * packet);
    }

    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Notes that `bytes` bytes were acknowledged while the window was in use.
    pub(super) fn acknowledged(&mut self, bytes: u64) {
        let grown = if self.window < self.threshold { bytes } else { (self.packet * bytes / self.window).max(1) };
        self.window = (self.window + grown).min(MOST);
    }

    /// Notes the first loss among packets that were under way together. The factor is 0.7 of RFC
    /// 9438 instead of a half.
    pub(super) fn lost(&mut self) {
        self.window = (self.window * 7 / 10).max(2 * self.packet);
        self.threshold = self.window;
    }

    /// Notes that no packet was acknowledged in time.
    pub(super) fn expired(&mut self, is_first: bool) {
        if is_first {
            self.threshold = (self.window / 2).max(2 * self.packet);
        }
        self.window = 2 * self.packet;
    }
}

#[cfg(test)]
mod tests {
    use super::{Congestion, RoundTrip};

    #[test]
    fn retransmission_timeouts_follow_the_round_trip_and_double() {
        let mut trip = RoundTrip::new(5_000_000, 200_000_000);
        assert_eq!(trip.timeout(), 20_000_000);
        trip.sample(10_000_000);
        // RFC 6298, 2.2: R + 4 * R / 2.
        assert_eq!(trip.timeout(), 30_000_000);
        trip.expired();
        assert_eq!(trip.timeout(), 60_000_000);
        for _ in 0..20 {
            trip.expired();
        }
        assert_eq!(trip.timeout(), 200_000_000);
        trip.answered();
        for _ in 0..200 {
            trip.sample(20_000);
        }
        assert_eq!(trip.timeout(), 5_000_000);
    }

    #[test]
    fn the_window_doubles_until_something_is_lost_and_then_grows_by_packets() {
        let mut congestion = Congestion::new(1000);
        let first = congestion.window();
        congestion.acknowledged(first);
        assert_eq!(congestion.window(), 2 * first);
        congestion.lost();
        let after = congestion.window();
        assert_eq!(after, 2 * first * 7 / 10);
        let mut acknowledged = 0;
        while acknowledged < after {
            congestion.acknowledged(1000);
            acknowledged += 1000;
        }
        assert!((900..=1010).contains(&(congestion.window() - after)), "{}", congestion.window() - after);
        congestion.expired(true);
        assert_eq!(congestion.window(), 2000);
    }
}
