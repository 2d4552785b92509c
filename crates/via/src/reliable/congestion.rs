//! Congestion control: CUBIC, RFC 9438, after a slow start that ends as RFC 9406 says.

use super::slow_start::SlowStart;

/// The initial window, in packets.
const FIRST_PACKETS: u64 = 16;
/// The minimum of the initial window, in bytes.
const FIRST_BYTES: u64 = 64 << 10;
/// The minimum of the window after losses, in packets.
const LEAST_PACKETS: u64 = 2;
/// The maximum of the window, in bytes.
const MOST: f64 = (64 << 20) as f64;

/// The factor by which a loss reduces the window: the constant beta_cubic of RFC 9438, 4.1.
const BETA: f64 = 0.7;
/// The scale of the cubic growth, in packets per second cubed: the constant C of RFC 9438, 4.1.
const C: f64 = 0.4;
/// The growth per round trip, in packets. With this growth and the factor [`BETA`], Reno reaches
/// the same throughput as with the usual growth and a factor of a half. RFC 9438, 4.3.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// The divisor of the growth in conservative slow start. RFC 9406, 4.3.
const CONSERVATIVE: f64 = 4.0;

/// The window: the number of bytes that may be in flight. After slow start, the window grows by a
/// cubic function of the time since the last reduction, towards its size before the reduction, and
/// beyond.
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    // All windows are in bytes. Invariant: `window` is `exact`, rounded down.
    window: u64,
    exact: f64,
    threshold: f64,
    packet: u64,
    // The first slow start, which `threshold` does not limit. Later slow starts end at `threshold`,
    // and are never conservative.
    slow_start: SlowStart,
    // The window to which the cubic function returns.
    peak: f64,
    // The window before the last reduction.
    reduced_from: f64,
    epoch: Option<Epoch>,
}

/// The growth since slow start or the last reduction.
#[derive(Clone, Debug)]
struct Epoch {
    // The time in which the window was in use, in nanoseconds.
    elapsed: u64,
    // The time of the last acknowledgement, in nanoseconds.
    last: u64,
    // The time in seconds at which the cubic function reaches the peak.
    peak_at: f64,
    // The window that Reno would have.
    reno: f64,
}

impl Congestion {
    pub(super) fn new(packet: u64) -> Self {
        let window = (FIRST_PACKETS * packet).max(FIRST_BYTES);
        let exact = window as f64;
        let (threshold, slow_start) = (f64::MAX, SlowStart::new());
        Self { window, exact, threshold, packet, slow_start, peak: 0.0, reduced_from: 0.0, epoch: None }
    }

    /// Sets the length of packets. The window grows to at least four packets.
    pub(super) fn packet_is(&mut self, packet: u64) {
        self.packet = packet;
        self.set(self.exact.max((4 * packet) as f64));
    }

    pub(super) fn window(&self) -> u64 {
        self.window
    }

    fn set(&mut self, window: f64) {
        self.exact = window.min(MOST);
        self.window = self.exact as u64;
    }

    /// Returns the number of bytes to send in a round trip: more than the window, so that pacing
    /// does not keep the window from growing.
    pub(super) fn pace(&self) -> u64 {
        let doubles = self.is_in_slow_start() && !self.is_conservative();
        if doubles { 2 * self.window } else { self.window + self.window / 4 }
    }

    /// Whether the window is below the threshold of slow start.
    pub(super) fn is_in_slow_start(&self) -> bool {
        self.exact < self.threshold
    }

    fn is_in_first_slow_start(&self) -> bool {
        self.threshold == f64::MAX
    }

    fn is_conservative(&self) -> bool {
        self.is_in_first_slow_start() && !self.slow_start.is_full()
    }

    /// Notes a sample of the round trip, while the window was in use: the packet that was sent as
    /// transmission `transmission` was acknowledged after `took` nanoseconds. `sent` is the number
    /// of transmissions so far.
    pub(super) fn sample(&mut self, took: u64, transmission: u64, sent: u64) {
        if self.is_in_first_slow_start() && self.slow_start.sample(took, transmission, sent) {
            self.threshold = self.exact;
        }
    }

    /// Notes that `bytes` bytes were acknowledged while the window was in use. `round_trip` is in
    /// nanoseconds.
    pub(super) fn acknowledged(&mut self, now: u64, bytes: u64, round_trip: u64) {
        let bytes = bytes as f64;
        if self.is_in_slow_start() {
            let grown = if self.is_conservative() { bytes / CONSERVATIVE } else { bytes };
            return self.set(self.exact + grown);
        }
        let (window, packet) = (self.exact, self.packet as f64);
        let epoch = self.epoch.get_or_insert_with(|| {
            self.peak = self.peak.max(window);
            let peak_at = ((self.peak - window) / (C * packet)).cbrt();
            Epoch { elapsed: 0, last: now, peak_at, reno: window }
        });
        let peak = self.peak;
        // Time in which the window was not in use does not count: RFC 9438, 5.8. Threads may read
        // the clock before they wait for each other, so `now` may be earlier than `last`.
        epoch.elapsed += now.saturating_sub(epoch.last).min(round_trip);
        epoch.last = epoch.last.max(now);
        let cubic = |nanoseconds: u64| {
            let from_peak = nanoseconds as f64 / 1e9 - epoch.peak_at;
            C * packet * from_peak * from_peak * from_peak + peak
        };
        let alpha = if epoch.reno < self.reduced_from { ALPHA } else { 1.0 };
        epoch.reno += alpha * packet * bytes / window;
        let grown = if cubic(epoch.elapsed) < epoch.reno {
            window.max(epoch.reno)
        } else {
            let target = cubic(epoch.elapsed + round_trip).clamp(window, 1.5 * window);
            window + (target - window) * bytes / window
        };
        self.set(grown);
    }

    /// Notes the first loss among packets that were in flight together.
    pub(super) fn lost(&mut self) {
        let window = self.exact;
        // A loss below the former peak means that another connection has begun and needs room: RFC
        // 9438, 4.7.
        self.peak = if window < self.peak { window * (1.0 + BETA) / 2.0 } else { window };
        self.reduced_from = window;
        self.set((window * BETA).max((LEAST_PACKETS * self.packet) as f64));
        (self.threshold, self.epoch) = (self.exact, None);
    }

    /// Notes that all packets got lost for a long time: persistent congestion. RFC 9002, 7.6.
    pub(super) fn collapsed(&mut self) {
        self.set((LEAST_PACKETS * self.packet) as f64);
        self.epoch = None;
    }
}

#[cfg(test)]
mod tests {
    use super::Congestion;

    const MILLISECOND: u64 = 1_000_000;

    /// Lets the window be used in full for `count` round trips. Returns the window in packets.
    fn used(congestion: &mut Congestion, now: &mut u64, round_trip: u64, count: u64) -> u64 {
        for _ in 0..count {
            let packets = congestion.window() / 1000;
            for _ in 0..packets {
                *now += round_trip / packets;
                congestion.acknowledged(*now, 1000, round_trip);
            }
        }
        congestion.window() / 1000
    }

    /// Returns a congestion window of `packets` packets, after slow start.
    fn grown(packets: u64) -> Congestion {
        let mut congestion = Congestion::new(1000);
        congestion.acknowledged(0, packets * 1000 - congestion.window(), 1);
        congestion
    }

    #[test]
    fn the_window_doubles_until_something_is_lost() {
        let mut congestion = Congestion::new(1000);
        let first = congestion.window();
        congestion.acknowledged(0, first, MILLISECOND);
        assert_eq!(congestion.window(), 2 * first);
        congestion.lost();
        assert_eq!(congestion.window(), 2 * first * 7 / 10);
        congestion.collapsed();
        assert_eq!(congestion.window(), 2000);
        congestion.acknowledged(0, 1000, MILLISECOND);
        assert_eq!(congestion.window(), 3000, "slow start up to the threshold");
    }

    /// Lets the round trip grow so much that slow start becomes conservative.
    fn slowed_down(congestion: &mut Congestion) {
        for (round, trip, sent) in [(1..32, 20, 31), (32..65, 40, 64)] {
            round.for_each(|transmission| congestion.sample(trip * MILLISECOND, transmission, sent));
        }
        assert!(congestion.is_conservative());
    }

    #[test]
    fn the_window_doubles_up_to_the_threshold_also_after_a_conservative_slow_start() {
        let lost = |congestion: &mut Congestion| congestion.lost();
        let is_over = |congestion: &mut Congestion| {
            for transmission in 65..100 {
                congestion.sample(40 * MILLISECOND, transmission, transmission);
            }
            assert!(!congestion.is_in_first_slow_start());
        };
        for end in [lost as fn(&mut Congestion), is_over] {
            let mut congestion = Congestion::new(1000);
            slowed_down(&mut congestion);
            let first = congestion.window();
            congestion.acknowledged(0, 4000, MILLISECOND);
            assert_eq!((congestion.window(), congestion.pace()), (first + 1000, (first + 1000) / 4 * 5));
            end(&mut congestion);
            congestion.lost();
            congestion.collapsed();
            assert_eq!((congestion.window(), congestion.pace()), (2000, 4000));
            congestion.acknowledged(0, 2000, MILLISECOND);
            assert_eq!(congestion.window(), 4000);
        }
    }

    #[test]
    fn the_window_grows_as_the_cubic_function_says() {
        let (mut congestion, mut now) = (grown(1000), 0);
        congestion.lost();
        // The cube root of (1000 - 700) / 0.4 is 9.09 seconds.
        let mut after = |round_trips| used(&mut congestion, &mut now, 100 * MILLISECOND, round_trips);
        // 1000 - 0.4 * 4.09 ^ 3, 1000, 1000 + 0.4 * 5.01 ^ 3
        for (round_trips, expected) in [(50, 973), (41, 1000), (50, 1050)] {
            let window = after(round_trips);
            assert!(window.abs_diff(expected) <= 5, "{window} packets instead of {expected}");
        }
    }

    #[test]
    fn over_short_round_trips_the_window_grows_as_renos() {
        let (mut congestion, mut now) = (grown(100), 0);
        congestion.lost();
        // The window grows by 0.53 packets in a round trip up to 100 packets, and then by one
        // packet.
        for (round_trips, expected) in [(28, 85), (28, 100), (20, 120)] {
            let window = used(&mut congestion, &mut now, MILLISECOND, round_trips);
            assert!(window.abs_diff(expected) <= 2, "{window} packets instead of {expected}");
        }
    }

    #[test]
    fn the_window_does_not_grow_while_it_is_not_used() {
        let (mut congestion, mut now) = (grown(1000), 0);
        congestion.lost();
        used(&mut congestion, &mut now, 100 * MILLISECOND, 1);
        let before = congestion.window();
        congestion.acknowledged(now + 1_000_000 * MILLISECOND, 1000, 100 * MILLISECOND);
        assert!(congestion.window() - before < 100);
    }

    #[test]
    fn a_connection_that_loses_below_its_peak_aims_lower() {
        let (mut congestion, mut now) = (grown(1000), 0);
        congestion.lost();
        congestion.lost();
        // The window grows from 490 packets to 0.85 of 700 packets, which are 595, in the cube root
        // of 105 / 0.4: 6.4 seconds.
        let window = used(&mut congestion, &mut now, 100 * MILLISECOND, 64);
        assert!(window.abs_diff(595) <= 5, "{window} packets");
    }
}
