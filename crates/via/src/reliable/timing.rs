//! Round-trip estimation: RFC 6298, with a lower floor for local networks.

/// The timeout while no round trip is known, in nanoseconds. RFC 6298, 2.1.
const FIRST_TIMEOUT: u64 = 1_000_000_000;

/// An estimator of the time after which an acknowledgement is overdue.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    smoothed: Option<u64>,
    variation: u64,
    // The latest sample; 0 while there is none.
    latest: u64,
    // The shortest sample; 0 while there is none.
    shortest: u64,
    // Whether the handshake gave the only sample.
    is_of_handshake: bool,
    least: u64,
    most: u64,
    backoff_max: u64,
    doubled: u32,
}

impl RoundTrip {
    /// Makes an estimator. The timeout exceeds the round trip by at least `least`, and is at most
    /// `most`. Doubling does not raise the timeout above `backoff_max`.
    pub(super) fn new(least: u64, most: u64, backoff_max: u64) -> Self {
        let most = most.max(least);
        Self {
            smoothed: None,
            variation: 0,
            latest: 0,
            shortest: 0,
            is_of_handshake: false,
            least,
            most,
            backoff_max,
            doubled: 0,
        }
    }

    /// Takes the first sample, which the handshake gives. This sample may include the time until
    /// the peer's thread has looked for requests, so the next sample replaces it if the next one is
    /// shorter.
    pub(super) fn sample_handshake(&mut self, took: u64) {
        self.sample(took);
        self.is_of_handshake = true;
    }

    /// Takes a sample: a packet that was sent once was acknowledged after this time. A sample ends
    /// the doubling. RFC 6298, section 2.
    pub(super) fn sample(&mut self, took: u64) {
        // The peer can delay its acknowledgements without limit, so the sample is limited.
        let took = took.min(self.most);
        let is_replaced = std::mem::take(&mut self.is_of_handshake) && took < self.latest;
        match self.smoothed.filter(|_| !is_replaced) {
            None => (self.smoothed, self.variation, self.shortest) = (Some(took), took / 2, took),
            Some(smoothed) => {
                self.shortest = self.shortest.min(took);
                self.variation = self.variation - self.variation / 4 + smoothed.abs_diff(took) / 4;
                self.smoothed = Some(smoothed - smoothed / 8 + took / 8);
            }
        }
        (self.latest, self.doubled) = (took, 0);
    }

    /// Notes that a repeated packet was acknowledged `took` after its first transmission. The round
    /// trip is at most `took` (RFC 6298, section 3). A doubling of the timeout is undone if the
    /// timeout exceeds `took` by more than `least` even without that doubling.
    pub(super) fn answered_within(&mut self, took: u64) {
        while self.doubled > 0 && self.once() << (self.doubled - 1) > took.saturating_add(self.least) {
            self.doubled -= 1;
        }
    }

    /// Notes that no packet was acknowledged in time. RFC 6298, section 5.5.
    pub(super) fn expired(&mut self) {
        self.doubled = (self.doubled + 1).min(16);
    }

    /// Returns the timeout without doubling.
    pub(super) fn once(&self) -> u64 {
        match self.smoothed {
            None => FIRST_TIMEOUT.min(self.backoff_max),
            Some(smoothed) => smoothed + (4 * self.variation).max(self.least),
        }
    }

    /// Returns the time to wait for an acknowledgement.
    pub(super) fn timeout(&self) -> u64 {
        let once = self.once();
        (once << self.doubled).min(self.backoff_max).max(once).min(self.most)
    }

    /// Returns the smoothed round trip; 0 while none is known.
    pub(super) fn smoothed(&self) -> u64 {
        self.smoothed.unwrap_or(0)
    }

    /// Returns the larger of the smoothed and the latest round trip; 0 while none is known.
    pub(super) fn recent(&self) -> u64 {
        self.smoothed().max(self.latest)
    }

    /// Returns the shortest round trip; 0 while none is known.
    pub(super) fn shortest(&self) -> u64 {
        self.shortest
    }
}

#[cfg(test)]
mod tests {
    use super::RoundTrip;

    const MILLISECOND: u64 = 1_000_000;

    fn trip() -> RoundTrip {
        RoundTrip::new(5 * MILLISECOND, 60_000 * MILLISECOND, 1250 * MILLISECOND)
    }

    #[test]
    fn retransmission_timeouts_follow_the_round_trip_and_double() {
        let mut trip = trip();
        assert_eq!(trip.timeout(), 1000 * MILLISECOND);
        trip.sample(10 * MILLISECOND);
        // RFC 6298, 2.2: R + 4 * R / 2.
        assert_eq!(trip.timeout(), 30 * MILLISECOND);
        trip.expired();
        assert_eq!(trip.timeout(), 60 * MILLISECOND);
        for _ in 0..20 {
            trip.expired();
        }
        assert_eq!(trip.timeout(), 1250 * MILLISECOND);
        for _ in 0..200 {
            trip.sample(20_000);
        }
        assert_eq!(trip.timeout() / 1000, 5020);
    }

    #[test]
    fn a_shorter_sample_replaces_that_of_the_handshake_and_a_longer_one_does_not() {
        let mut trip = trip();
        trip.sample_handshake(400 * MILLISECOND);
        assert_eq!((trip.smoothed(), trip.timeout()), (400 * MILLISECOND, 1200 * MILLISECOND));
        trip.sample(8 * MILLISECOND);
        assert_eq!([trip.smoothed(), trip.shortest(), trip.recent()], [8 * MILLISECOND; 3]);
        assert_eq!(trip.timeout(), 24 * MILLISECOND);
        trip.sample(4 * MILLISECOND);
        assert_eq!(trip.smoothed(), 7_500_000, "only the first one replaces it");
        for second in [8, 16] {
            let mut trip = self::trip();
            trip.sample_handshake(8 * MILLISECOND);
            trip.sample(second * MILLISECOND);
            assert_eq!(trip.smoothed(), (7 + second / 8) * MILLISECOND);
            trip.sample(0);
            assert!(trip.smoothed() > 0, "a later sample is an ordinary one");
        }
    }

    #[test]
    fn doubling_ends_with_a_sample_or_a_bound_of_the_round_trip() {
        let mut trip = trip();
        trip.sample(10 * MILLISECOND);
        (0..4).for_each(|_| trip.expired());
        trip.answered_within(250 * MILLISECOND);
        assert_eq!(trip.timeout(), 480 * MILLISECOND);
        trip.answered_within(200 * MILLISECOND);
        assert_eq!(trip.timeout(), 240 * MILLISECOND);
        trip.answered_within(0);
        assert_eq!(trip.timeout(), 30 * MILLISECOND);
        (0..4).for_each(|_| trip.expired());
        trip.sample(10 * MILLISECOND);
        assert!(trip.timeout() < 30 * MILLISECOND);
    }

    #[test]
    fn long_round_trips_are_waited_for() {
        let mut trip = trip();
        trip.sample(2000 * MILLISECOND);
        assert_eq!(trip.timeout(), 6000 * MILLISECOND, "doubling has a lower ceiling than round trips");
        trip.sample(u64::MAX);
        assert_eq!(trip.timeout(), 60_000 * MILLISECOND);
    }
}
