//! The memory that clients take up: arguments of calls that arrive in several fragments, and areas.
//! Hosts or users have shares of this memory.

use crate::access;
use obvia_via::Budget;
use obvia_via::window::Peer;
use rustix::system::sysinfo;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Weak};

/// The greatest number of bytes of arguments that all shares together hold.
const MESSAGES_MAX: usize = 1 << 30;
/// The least value of [`areas_max`], in bytes. One host may have half of these bytes. The half is
/// enough for two connections with the longest frames in both directions, and for one more area:
/// while an area grows, the old and the new memory both count.
const AREAS_LEAST: usize = 3 << 30;

/// Returns the greatest number of bytes of areas that all shares together hold: a quarter of the
/// machine's memory, but at least [`AREAS_LEAST`]. The limit of a container is not regarded.
fn areas_max() -> usize {
    let system = sysinfo();
    let bytes = system.totalram.saturating_mul(u64::from(system.mem_unit));
    usize::try_from(bytes / 4).unwrap_or(usize::MAX).max(AREAS_LEAST)
}

/// The shares of hosts or users. A share exists as long as a connection refers to it.
///
/// Areas have a limit of their own, so that they do not use up the memory for messages: an area
/// lasts as long as its connection, even while the connection is idle.
pub(super) struct Shares<K> {
    messages: Arc<Pool>,
    areas: Arc<Pool>,
    by_key: HashMap<K, Weak<Held>>,
}

impl<K> Default for Shares<K> {
    fn default() -> Self {
        Self { messages: Pool::new(|| MESSAGES_MAX), areas: Pool::new(areas_max), by_key: HashMap::new() }
    }
}

impl<K: Eq + Hash> Shares<K> {
    /// Returns the share of a host or user.
    pub(super) fn of(&mut self, key: K) -> Arc<Held> {
        if let Some(held) = self.by_key.get(&key).and_then(Weak::upgrade) {
            return held;
        }
        self.by_key.retain(|_, held| held.strong_count() > 0);
        let held = Arc::new(Held { messages: Share::new(&self.messages), areas: Share::new(&self.areas) });
        self.by_key.insert(key, Arc::downgrade(&held));
        held
    }
}

/// The memory that one host or user holds.
pub(super) struct Held {
    /// The bytes of arguments that arrive in several fragments. They are counted until the call
    /// ends.
    pub(super) messages: Share,
    /// The bytes of areas of virtual interfaces over networks.
    pub(super) areas: Share,
}

/// A limit on the number of bytes in all shares of the pool together. One share has half of the
/// bytes at most.
struct Pool {
    /// The limit, which is determined at first use.
    most: LazyLock<usize>,
    taken: AtomicUsize,
}

impl Pool {
    fn new(most: fn() -> usize) -> Arc<Self> {
        Arc::new(Self { most: LazyLock::new(most), taken: AtomicUsize::new(0) })
    }
}

/// The number of bytes that one host or user holds, within the limits of a pool.
pub(super) struct Share {
    all: Arc<Pool>,
    own: AtomicUsize,
}

impl Share {
    fn new(all: &Arc<Pool>) -> Self {
        Self { all: Arc::clone(all), own: AtomicUsize::new(0) }
    }

    /// Takes `bytes` bytes from the share and the pool. Returns false, and takes none, if fewer are
    /// left.
    pub(super) fn take(&self, bytes: usize) -> bool {
        if !add(&self.own, bytes, *self.all.most / 2) {
            return false;
        }
        let has_room = add(&self.all.taken, bytes, *self.all.most);
        if !has_room {
            self.own.fetch_sub(bytes, Ordering::Relaxed);
        }
        has_room
    }

    /// Gives bytes back.
    pub(super) fn give_back(&self, bytes: usize) {
        self.all.taken.fetch_sub(bytes, Ordering::Relaxed);
        self.own.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Takes so many bytes that `left` bytes of this share remain. The share must be empty.
    #[cfg(test)]
    pub(super) fn take_all_but(&self, left: usize) -> usize {
        let bytes = *self.all.most / 2 - left;
        assert!(self.take(bytes), "the share was empty");
        bytes
    }
}

/// Adds `bytes` to a count, unless the sum exceeds `most`. Returns whether they were added.
fn add(count: &AtomicUsize, bytes: usize, most: usize) -> bool {
    let sum = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= most);
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).is_ok()
}

/// The budget for the areas of one connection: the share of its peer's host.
pub(super) struct AreaBudget {
    held: Arc<Held>,
    peer: Peer,
    /// Whether the last area was refused.
    is_refused: AtomicBool,
}

impl AreaBudget {
    pub(super) fn new(held: &Arc<Held>, peer: &Peer) -> Self {
        Self { held: Arc::clone(held), peer: peer.clone(), is_refused: AtomicBool::new(false) }
    }
}

impl fmt::Debug for AreaBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AreaBudget").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl Budget for AreaBudget {
    fn take(&self, bytes: usize) -> bool {
        let has_taken = self.held.areas.take(bytes);
        // If an area is refused, the sender asks for a shorter one. Only the first of successive
        // refusals is logged.
        if !self.is_refused.swap(!has_taken, Ordering::Relaxed) && !has_taken {
            access::log_refused_memory(self.peer.clone());
        }
        has_taken
    }

    fn give_back(&self, bytes: usize) {
        self.held.areas.give_back(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_messages_are_limited_for_a_host_or_user_and_for_all() {
        const HALF: usize = 1 << 29;
        let mut shares = Shares::default();
        let [one, two, three] = [1, 2, 3].map(|key| shares.of(key));
        let [one, two, three] = [&one, &two, &three].map(|held| &held.messages);
        assert!(one.take(HALF - 10) && one.take(10) && !one.take(1));
        assert!(two.take(HALF) && !three.take(1));
        one.give_back(10);
        assert!(three.take(10) && !one.take(1) && !three.take(usize::MAX));
        assert_eq!([&one.all.taken, &three.own].map(|count| count.load(Ordering::Relaxed)), [2 * HALF, 10]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn areas_are_limited_for_a_host_and_for_all_and_keep_no_messages_out() {
        let mut shares = Shares::default();
        let [one, two, three] = [1, 2, 3].map(|key| shares.of(key));
        let half = one.areas.take_all_but(0);
        let longest = (256 << 20) + 4096;
        assert!(half >= 5 * longest && !one.areas.take(1));
        assert!(two.areas.take(half) && !three.areas.take(1));
        assert!([&one, &two, &three].iter().all(|held| held.messages.take(1)));
        two.areas.give_back(1);
        assert!(!one.areas.take(1) && three.areas.take(1));
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
