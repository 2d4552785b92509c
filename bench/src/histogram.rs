//! Histograms of durations, for percentiles of many calls in little memory.

use hdrhistogram::Histogram as Counts;
use std::time::Duration;

/// The number of significant decimal digits with which values are recorded.
const DIGITS: u8 = 3;
/// The greatest value in nanoseconds: a day. Longer durations count as a day.
const LONGEST: u64 = 86_400_000_000_000;
/// The number of points of [`Histogram::distribution`] between the quantiles 0 and 0.5, between 0.5
/// and 0.75, and so on.
const PARTS_OF_HALF: u32 = 5;

/// A histogram of nanoseconds. Recording allocates memory only if the value needs a higher power of
/// two than all values before it.
#[derive(Clone, Debug)]
pub struct Histogram(Counts<u64>);

/// A point of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The value in nanoseconds.
    pub value_ns: u64,
    /// The share of the calls that did not exceed the value, from 0 to 1.
    pub quantile: f64,
    /// The number of the calls that did not exceed the value.
    pub count: u64,
}

impl Histogram {
    /// Creates an empty histogram.
    pub fn new() -> Self {
        Self(Counts::new(DIGITS).expect("the digits are valid"))
    }

    /// Records one call.
    pub fn record(&mut self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).min(LONGEST);
        self.0.record(nanoseconds).expect("the histogram grows up to the greatest value");
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        self.0.add(&other.0).expect("the histogram grows up to the greatest value");
    }

    /// Returns the number of recorded calls.
    pub fn total(&self) -> u64 {
        self.0.len()
    }

    /// Returns the value in nanoseconds that the share `quantile` of the calls, from 0 to 1, did
    /// not exceed; `None` for an empty histogram.
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        assert!((0.0..=1.0).contains(&quantile), "{quantile} is no share");
        (self.total() > 0).then(|| self.0.value_at_quantile(quantile) as f64)
    }

    /// Returns the shortest recorded time in nanoseconds, or `None` for an empty histogram.
    pub fn min(&self) -> Option<f64> {
        (self.total() > 0).then(|| self.0.min() as f64)
    }

    /// Returns the mean in nanoseconds, or `None` for an empty histogram.
    pub fn mean(&self) -> Option<f64> {
        (self.total() > 0).then(|| self.0.mean())
    }

    /// Returns the standard deviation in nanoseconds; 0 for an empty histogram.
    pub fn deviation(&self) -> f64 {
        if self.total() > 0 { self.0.stdev() } else { 0.0 }
    }

    /// Returns points of the distribution, more densely spaced towards the longest calls. An empty
    /// histogram has no points.
    pub fn distribution(&self) -> Vec<Point> {
        let mut count = 0;
        let steps = self.0.iter_quantiles(PARTS_OF_HALF);
        let points = steps.map(|step| {
            count += step.count_since_last_iteration();
            Point { value_ns: step.value_iterated_to(), quantile: step.quantile_iterated_to(), count }
        });
        if self.total() > 0 { points.collect() } else { Vec::new() }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        values.into_iter().for_each(|nanoseconds| histogram.record(Duration::from_nanos(nanoseconds)));
        histogram
    }

    #[test]
    fn percentiles_of_a_known_distribution() {
        assert_eq!(Histogram::new().quantile(0.5), None);
        let histogram = of(1..=100);
        assert_eq!(histogram.total(), 100);
        assert_eq!(histogram.quantile(0.0), Some(1.0));
        assert_eq!(histogram.quantile(0.5), Some(50.0));
        assert_eq!(histogram.quantile(0.99), Some(99.0));
        assert_eq!(histogram.quantile(1.0), Some(100.0));
        assert_eq!((histogram.min(), histogram.mean()), (Some(1.0), Some(50.5)));
    }

    #[test]
    fn values_of_any_length_are_kept_to_three_digits() {
        for value in [7, 1_999, 123_456, 98_765_432_100, LONGEST] {
            let found = of([value]).quantile(0.5).unwrap();
            assert!((found / value as f64 - 1.0).abs() <= 0.001, "{value}: {found}");
        }
        let histogram = of([u64::MAX]);
        assert!((histogram.quantile(1.0).unwrap() / LONGEST as f64 - 1.0).abs() <= 0.001);
    }

    #[test]
    fn added_histograms_count_like_one() {
        let (mut one, other) = (of(1..=50), of(51..=100));
        one.add(&other);
        assert_eq!((one.total(), one.quantile(0.5), one.quantile(0.99)), (100, Some(50.0), Some(99.0)));
    }

    #[test]
    fn one_slow_call_in_a_thousand_shows_above_the_99_9th() {
        let mut histogram = of([100; 999]);
        histogram.record(Duration::from_millis(5));
        assert_eq!(histogram.quantile(0.999), Some(100.0));
        let slowest = histogram.quantile(1.0).unwrap();
        assert!((slowest / 5e6 - 1.0).abs() < 0.001, "{slowest}");
    }

    #[test]
    fn a_distribution_counts_all_calls_and_ends_with_the_longest() {
        assert_eq!(Histogram::new().distribution(), []);
        let points = of(1..=1000).distribution();
        let half = points.iter().find(|point| point.quantile == 0.5).unwrap();
        assert_eq!((half.value_ns, half.count), (500, 500));
        let last = points.last().unwrap();
        assert_eq!((last.value_ns, last.quantile, last.count), (1000, 1.0, 1000));
        assert!(points.is_sorted_by(|one, next| one.value_ns <= next.value_ns && one.count <= next.count));
    }
}
