//! The memory for incomplete messages of clients, in which hosts or users have shares.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The greatest number of bytes of incomplete messages, in all shares and in one of them.
const HELD_MAX: usize = 1 << 30;
const HELD_BY_ONE_MAX: usize = HELD_MAX / 2;

/// The bytes of the incomplete messages in one share and in all of them.
#[derive(Default)]
pub(super) struct Held {
    all: Arc<AtomicUsize>,
    own: AtomicUsize,
}

impl Held {
    /// Returns an empty share of the same memory.
    pub(super) fn another(&self) -> Arc<Self> {
        Arc::new(Self { all: Arc::clone(&self.all), own: AtomicUsize::new(0) })
    }

    /// Takes bytes for an incomplete message. Returns false if fewer bytes are left.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let all = self.all.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let own = self.own.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let has_room = all <= HELD_MAX && own <= HELD_BY_ONE_MAX;
        if !has_room {
            self.give_back(bytes);
        }
        has_room
    }

    /// Gives bytes of an incomplete message back.
    pub(super) fn give_back(&self, bytes: usize) {
        self.all.fetch_sub(bytes, Ordering::Relaxed);
        self.own.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_messages_are_limited_for_a_host_or_user_and_for_all() {
        let memory = Held::default();
        let [one, two, three] = [(); 3].map(|()| memory.another());
        assert!(one.take(HELD_BY_ONE_MAX - 10) && one.take(10) && !one.take(1));
        assert!(two.take(HELD_BY_ONE_MAX) && !three.take(1));
        one.give_back(10);
        assert!(three.take(10) && !one.take(1));
        assert_eq!(memory.all.load(Ordering::Relaxed), HELD_MAX);
    }
}
