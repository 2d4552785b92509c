//! The connections of local processes in setup, whose clients have neither introduced themselves
//! nor bound. Each connection takes a thread and some descriptors. Processes of this process's own
//! user and of the superuser may have as many connections as the kernel permits, since they can end
//! this process anyway. All connections of one other user have a common share of the memory for
//! arguments, during and after their setup.

use super::entrance::Abandon;
use super::held::{Held, Shares};
use crate::types::threads::lock;
use obvia_via::provider::shm::Interrupter;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// The greatest number of counted connections in setup, of all users together. One user may have
/// all of these connections as long as no other user needs one. Thus many processes of one user can
/// connect at once.
pub(super) const MAX: usize = 256;
/// The time after which a connection in setup yields its place to a newcomer whose user has equally
/// many connections in setup. If the newcomer's user has fewer, the connection yields at once.
const YIELDS_AFTER: Duration = Duration::from_millis(750);

/// The error for a connection that exceeds the limit on connections in setup.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMany;

impl Abandon for Interrupter {
    fn abandon(&self) {
        self.interrupt();
    }
}

/// The connections in setup of other users' processes, and the memory of all connections of these
/// users.
#[derive(Default)]
pub(super) struct LocalSetups(Mutex<Places>);

#[derive(Default)]
struct Places {
    next: u64,
    /// The connections in setup, the oldest first.
    pending: BTreeMap<u64, Pending>,
    /// The memory that clients take up.
    shares: Shares<u32>,
}

struct Pending {
    user: u32,
    since: Instant,
    connection: Arc<dyn Abandon>,
}

impl LocalSetups {
    /// Counts a connection of a process of `user` until the setup of the connection ends. Returns
    /// `None` if the user has no limit: for the user of this process and for the superuser.
    ///
    /// # Errors
    ///
    /// If there are too many connections in setup, and none of them has to yield to this user: see
    /// [`YIELDS_AFTER`].
    pub(super) fn enter(
        &'static self,
        user: u32,
        connection: impl Abandon + 'static,
    ) -> Result<Option<LocalSetup>, TooMany> {
        if user == 0 || user == rustix::process::geteuid().as_raw() {
            return Ok(None);
        }
        let mut places = lock(&self.0);
        let (number, old) = places.enter(user, Arc::new(connection), Instant::now())?;
        let held = places.shares.of(user);
        drop(places);
        if let Some(old) = old {
            old.abandon();
        }
        Ok(Some(LocalSetup { setups: self, number, has_kept: OnceLock::new(), held }))
    }
}

impl Places {
    /// Adds a connection of `user`. Returns its number, and the connection that has to end for it,
    /// if any.
    fn enter(
        &mut self,
        user: u32,
        connection: Arc<dyn Abandon>,
        now: Instant,
    ) -> Result<(u64, Option<Arc<dyn Abandon>>), TooMany> {
        let old = if self.pending.len() < MAX { None } else { Some(self.evict(user, now).ok_or(TooMany)?) };
        let number = self.next;
        self.next += 1;
        self.pending.insert(number, Pending { user, since: now, connection });
        Ok((number, old))
    }

    /// Removes and returns the oldest of the connections of those users that have the most
    /// connections. It makes room for a new connection of `user`.
    fn evict(&mut self, user: u32, now: Instant) -> Option<Arc<dyn Abandon>> {
        let mut counts = HashMap::<u32, usize>::new();
        self.pending.values().for_each(|pending| *counts.entry(pending.user).or_default() += 1);
        let most = counts.values().copied().max()?;
        let (&number, oldest) = self.pending.iter().find(|(_, pending)| counts.get(&pending.user) == Some(&most))?;
        let has_fewer = counts.get(&user).is_none_or(|count| *count < most);
        if !has_fewer && now.saturating_duration_since(oldest.since) < YIELDS_AFTER {
            return None;
        }
        Some(self.pending.remove(&number)?.connection)
    }
}

/// A connection in setup. It is counted until its setup ends or this value is dropped.
pub(crate) struct LocalSetup {
    setups: &'static LocalSetups,
    number: u64,
    /// Whether the connection was still counted when its setup ended. Empty until the setup ends.
    has_kept: OnceLock<bool>,
    /// The share of memory that all clients of this client's user use together.
    pub(super) held: Arc<Held>,
}

impl LocalSetup {
    /// Ends the setup. Returns false if the connection has yielded its place to another connection
    /// before.
    pub(super) fn leave(&self) -> bool {
        *self.has_kept.get_or_init(|| {
            // The connection is dropped while the lock is not held.
            let pending = lock(&self.setups.0).pending.remove(&self.number);
            pending.is_some()
        })
    }
}

impl Drop for LocalSetup {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A connection that records whether it was abandoned.
    #[derive(Default)]
    struct Connection(AtomicBool);

    impl Abandon for Connection {
        fn abandon(&self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn enter(places: &mut Places, user: u32, now: Instant) -> Result<u64, TooMany> {
        let (number, old) = places.enter(user, Arc::<Connection>::default(), now)?;
        old.iter().for_each(|old| old.abandon());
        Ok(number)
    }

    #[test]
    fn connections_of_a_user_that_have_not_introduced_themselves_are_limited_and_yield() {
        let (mut places, now) = (Places::default(), Instant::now());
        let first = Arc::<Connection>::default();
        let (number, _) = places.enter(1000, Arc::clone(&first) as Arc<_>, now).unwrap();
        let others: Vec<_> = (1..MAX).map(|_| enter(&mut places, 1000, now).unwrap()).collect();
        let soon = now + YIELDS_AFTER - Duration::from_millis(1);
        assert_eq!(enter(&mut places, 1000, soon), Err(TooMany));
        assert!(!first.0.load(Ordering::Relaxed));
        enter(&mut places, 1000, now + YIELDS_AFTER).unwrap();
        assert!(first.0.load(Ordering::Relaxed) && !places.pending.contains_key(&number));
        assert!(others.iter().all(|number| places.pending.contains_key(number)));
    }

    #[test]
    fn a_connection_of_the_user_with_the_most_yields_at_once_to_a_user_with_fewer() {
        let (mut places, now) = (Places::default(), Instant::now());
        let honest = [1, 2].map(|user| enter(&mut places, user, now).unwrap());
        let many = [1000, 1001, 1002, 1003].map(|user| (user, MAX / 4));
        let mut numbers = Vec::new();
        for (user, count) in many {
            numbers.extend((0..count).filter_map(|_| enter(&mut places, user, now).ok()));
        }
        assert_eq!(places.pending.len(), MAX);
        for number in 3..10 {
            enter(&mut places, number, now).unwrap();
        }
        assert!(honest.iter().all(|number| places.pending.contains_key(number)));
        assert!(!places.pending.contains_key(&numbers[0]));
        // Connections enter until one is refused. The users with the most connections then have
        // equally many, and yield no place to each other.
        while enter(&mut places, 1003, now).is_ok() {}
        assert!(
            [1000, 1001, 1002].iter().all(|user| {
                places.pending.values().filter(|pending| pending.user == *user).count() >= MAX / 4 - 10
            })
        );
        assert_eq!(places.pending.len(), MAX);
    }

    #[test]
    fn a_connection_that_has_yielded_learns_it_at_the_end_of_its_setup() {
        let setups: &'static LocalSetups = Box::leak(Box::default());
        let enter = || setups.enter(u32::MAX - 7, Connection::default()).unwrap().unwrap();
        let (first, second) = (enter(), enter());
        let old = lock(&setups.0).pending.remove(&first.number);
        drop(old);
        assert!(!first.leave() && second.leave());
        // The end of a setup is final.
        assert!(!first.leave() && second.leave());
    }

    #[test]
    fn the_connections_of_a_user_share_the_memory_for_incomplete_messages() {
        let setups: &'static LocalSetups = Box::leak(Box::default());
        let enter = |user| setups.enter(u32::MAX - user, Connection::default()).unwrap().unwrap();
        let [one, same, other] = [7, 7, 8].map(enter);
        assert!(Arc::ptr_eq(&one.held, &same.held) && !Arc::ptr_eq(&one.held, &other.held));
        // The share lasts longer than the setup.
        assert!(one.leave() && same.leave());
        assert!(Arc::ptr_eq(&enter(7).held, &one.held));
    }

    #[test]
    fn connections_of_the_own_user_and_of_the_superuser_are_not_counted() {
        let setups: &'static LocalSetups = Box::leak(Box::default());
        for user in [0, rustix::process::geteuid().as_raw()] {
            for _ in 0..2 * MAX {
                assert!(setups.enter(user, Connection::default()).unwrap().is_none());
            }
        }
        let other = setups.enter(u32::MAX - 7, Connection::default()).unwrap();
        assert_eq!(lock(&setups.0).pending.len(), 1);
        drop(other);
        assert!(lock(&setups.0).pending.is_empty());
    }
}
