//! Histograms of durations with buckets that grow with the value, for percentiles of many calls in
//! little memory.

use std::time::Duration;

/// The number of buckets for each power of two: the relative error is below 1/128.
const STEPS: usize = 1 << STEPS_LOG2;
const STEPS_LOG2: u32 = 7;
const BUCKETS: usize = STEPS * (64 - STEPS_LOG2 as usize + 1);

/// A histogram of nanoseconds. Recording does not allocate.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// Creates an empty histogram.
    pub fn new() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0 }
    }

    /// Records one call.
    pub fn record(&mut self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanoseconds)] += 1;
        self.total += 1;
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
    }

    /// Returns the number of recorded calls.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the value in nanoseconds that `per_mille` thousandths of the calls did not exceed,
    /// or `None` for an empty histogram. Whole thousandths avoid rounding errors: 99.9 % of 1,000
    /// calls are exactly 999.
    pub fn quantile(&self, per_mille: u64) -> Option<f64> {
        assert!(per_mille <= 1000, "{per_mille} is more than all");
        let rank = (self.total * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank && self.total > 0 {
                return Some(middle(index));
            }
        }
        None
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns a value's bucket. Values below `STEPS` have a bucket each; above, each power of two has
/// `STEPS` buckets.
fn bucket(value: u64) -> usize {
    if value < STEPS as u64 {
        return value as usize;
    }
    let shift = value.ilog2() - STEPS_LOG2;
    let step = (value >> shift) as usize - STEPS;
    STEPS * (shift as usize + 1) + step
}

fn middle(bucket: usize) -> f64 {
    if bucket < STEPS {
        return bucket as f64;
    }
    let shift = bucket / STEPS - 1;
    let low = ((bucket % STEPS + STEPS) as f64) * (shift as f64).exp2();
    low + ((shift as f64).exp2() - 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_and_near_their_values() {
        let mut last = 0;
        for value in (0..5_000).chain((5_000..90_000_000).step_by(9_973)) {
            let index = bucket(value);
            assert!(index >= last, "{value}");
            last = index;
            let error = (middle(index) - value as f64).abs();
            assert!(error <= value as f64 / STEPS as f64, "{value}: {error}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_of_a_known_distribution() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.quantile(500), None);
        for nanoseconds in 1..=100 {
            histogram.record(Duration::from_nanos(nanoseconds));
        }
        assert_eq!(histogram.total(), 100);
        assert_eq!(histogram.quantile(0), Some(1.0));
        assert_eq!(histogram.quantile(500), Some(50.0));
        assert_eq!(histogram.quantile(990), Some(99.0));
        assert_eq!(histogram.quantile(1000), Some(100.0));
    }

    #[test]
    fn added_histograms_count_like_one() {
        let (mut one, mut other) = (Histogram::new(), Histogram::new());
        (1..=50).for_each(|nanoseconds| one.record(Duration::from_nanos(nanoseconds)));
        (51..=100).for_each(|nanoseconds| other.record(Duration::from_nanos(nanoseconds)));
        one.add(&other);
        assert_eq!((one.total(), one.quantile(500), one.quantile(990)), (100, Some(50.0), Some(99.0)));
    }

    #[test]
    fn one_slow_call_in_a_thousand_shows_above_the_99_9th() {
        let mut histogram = Histogram::new();
        for _ in 0..999 {
            histogram.record(Duration::from_nanos(100));
        }
        histogram.record(Duration::from_millis(5));
        assert_eq!(histogram.quantile(999), Some(100.0));
        let slowest = histogram.quantile(1000).unwrap();
        assert!((slowest / 5e6 - 1.0).abs() < 0.01, "{slowest}");
    }
}
