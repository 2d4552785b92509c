//! Random orders of parts and of cargo-nextest's tests. A seed, which is printed, determines the
//! order.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// The seed of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed(u64);

impl Seed {
    /// Creates a seed that differs from run to run.
    pub(super) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(Self(now.as_nanos() as u64).after(0).0 >> 32)
    }

    pub(crate) const fn of(number: u64) -> Self {
        Self(number)
    }

    /// Derives a further seed. Different numbers give different seeds.
    pub(super) fn after(self, number: u64) -> Self {
        // The algorithm is splitmix64 by S. Vigna.
        let mut state = self.0.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(state ^ (state >> 31))
    }

    /// Returns the values in the order that the seed determines.
    pub(crate) fn shuffle<T>(self, values: impl IntoIterator<Item = T>) -> Vec<T> {
        let mut keyed: Vec<(u64, T)> = (0..).zip(values).map(|(at, value)| (self.after(at).0, value)).collect();
        keyed.sort_by_key(|(key, _)| *key);
        keyed.into_iter().map(|(_, value)| value).collect()
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Seed;

    #[test]
    fn a_seed_determines_the_order_of_tests() {
        let [one, other] = [Seed::of(1), Seed::of(2)].map(|seed| seed.shuffle(0..20));
        assert_eq!(one, Seed::of(1).shuffle(0..20));
        assert_ne!(one, other);
        let mut sorted = one;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }
}
