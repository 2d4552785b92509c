//! The memory for incomplete messages of clients, in which hosts or users have shares.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// The greatest number of bytes of incomplete messages, in all shares and in one of them.
const HELD_MAX: usize = 1 << 30;
const HELD_BY_ONE_MAX: usize = HELD_MAX / 2;

/// The shares of hosts or users. A share lasts as long as a connection has it.
pub(super) struct Shares<K> {
    /// The bytes in all shares.
    all: Arc<AtomicUsize>,
    by_key: HashMap<K, Weak<Held>>,
}

impl<K> Default for Shares<K> {
    fn default() -> Self {
        Self { all: Arc::default(), by_key: HashMap::new() }
    }
}

impl<K: Eq + Hash> Shares<K> {
    /// Returns the share of a host or user.
    pub(super) fn of(&mut self, key: K) -> Arc<Held> {
        if let Some(held) = self.by_key.get(&key).and_then(Weak::upgrade) {
            return held;
        }
        self.by_key.retain(|_, held| held.strong_count() > 0);
        let held = Arc::new(Held { all: Arc::clone(&self.all), own: AtomicUsize::new(0) });
        self.by_key.insert(key, Arc::downgrade(&held));
        held
    }
}

/// The bytes of the incomplete messages in one share.
pub(super) struct Held {
    all: Arc<AtomicUsize>,
    own: AtomicUsize,
}

impl Held {
    /// Takes bytes for an incomplete message. Returns false if fewer bytes are left.
    pub(super) fn take(&self, bytes: usize) -> bool {
        if !add(&self.own, bytes, HELD_BY_ONE_MAX) {
            return false;
        }
        let has_room = add(&self.all, bytes, HELD_MAX);
        if !has_room {
            self.own.fetch_sub(bytes, Ordering::Relaxed);
        }
        has_room
    }

    /// Gives bytes of an incomplete message back.
    pub(super) fn give_back(&self, bytes: usize) {
        self.all.fetch_sub(bytes, Ordering::Relaxed);
        self.own.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Adds bytes to a count, unless their sum exceeds `most`. Returns whether they were added.
fn add(count: &AtomicUsize, bytes: usize, most: usize) -> bool {
    let sum = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= most);
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_messages_are_limited_for_a_host_or_user_and_for_all() {
        let mut shares = Shares::default();
        let [one, two, three] = [1, 2, 3].map(|key| shares.of(key));
        assert!(one.take(HELD_BY_ONE_MAX - 10) && one.take(10) && !one.take(1));
        assert!(two.take(HELD_BY_ONE_MAX) && !three.take(1));
        one.give_back(10);
        assert!(three.take(10) && !one.take(1) && !three.take(usize::MAX));
        assert_eq!([&*shares.all, &three.own].map(|count| count.load(Ordering::Relaxed)), [HELD_MAX, 10]);
    }

    #[test]
    fn a_share_lasts_as_long_as_a_connection_has_it() {
        let mut shares = Shares::default();
        let (one, other) = (shares.of(1), shares.of(2));
        assert!(Arc::ptr_eq(&one, &shares.of(1)) && !Arc::ptr_eq(&one, &other));
        drop(one);
        shares.of(3);
        assert!(Arc::ptr_eq(&other, &shares.of(2)));
        assert!(!shares.by_key.contains_key(&1));
    }
}
