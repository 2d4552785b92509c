//! Counts of a limited resource, for each holder and for all holders together.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// The counts. `K` identifies a holder of the resource.
// Invariant: no number in the map is 0, and `all` is the sum of the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts<K: Eq + Hash> {
    by_key: HashMap<K, usize>,
    all: usize,
}

impl<K: Eq + Hash> Default for Counts<K> {
    fn default() -> Self {
        Self { by_key: HashMap::new(), all: 0 }
    }
}

impl<K: Eq + Hash> Counts<K> {
    /// Returns the count of one holder.
    pub fn of(&self, key: &K) -> usize {
        self.by_key.get(key).copied().unwrap_or_default()
    }

    /// Returns the count of all holders together.
    pub fn all(&self) -> usize {
        self.all
    }

    /// Returns the number by which a holder's count may grow. `most_of_one` is the maximum for one
    /// holder, and `most` is the maximum for all holders together.
    pub fn room(&self, key: &K, most_of_one: usize, most: usize) -> usize {
        most_of_one.saturating_sub(self.of(key)).min(most.saturating_sub(self.all))
    }

    /// Adds to the count of a holder.
    pub fn add(&mut self, key: K, number: usize) {
        if number > 0 {
            *self.by_key.entry(key).or_default() += number;
            self.all += number;
        }
    }

    /// Subtracts from the count of a holder, at most the whole count.
    pub fn subtract(&mut self, key: K, number: usize) {
        let Entry::Occupied(mut count) = self.by_key.entry(key) else { return };
        let number = number.min(*count.get());
        *count.get_mut() -= number;
        if *count.get() == 0 {
            count.remove();
        }
        self.all -= number;
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn holders_with_a_count_of_0_take_no_memory() {
        let mut counts = Counts::default();
        counts.add('a', 3);
        counts.add('b', 4);
        counts.add('c', 0);
        assert_eq!((counts.room(&'a', 5, 100), counts.room(&'a', 5, 8), counts.room(&'b', 3, 100)), (2, 1, 0));
        counts.subtract('a', 1);
        counts.subtract('b', 9);
        counts.subtract('c', 1);
        assert_eq!((counts.of(&'a'), counts.of(&'b'), counts.all(), counts.by_key.len()), (2, 0, 2, 1));
        counts.subtract('a', 2);
        assert_eq!(counts, Counts::default());
    }
}
