//! The connections of local processes in setup: those that have not introduced themselves or bound.
//! Each takes a descriptor and a thread. Processes of this process's own user and of the superuser
//! may take as many as the kernel permits, since they can end this process anyway.

use super::entrance::{Abandon, Full};
use crate::types::threads::lock;
use obvia_via::provider::shm::Interrupter;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The greatest number of connections in setup, for one other user and for all other users.
const OF_USER_MAX: usize = 64;
const MAX: usize = 4 * OF_USER_MAX;
/// The time after which a connection in setup yields its place to a newcomer.
const YIELDS_AFTER: Duration = Duration::from_millis(750);

const TOO_MANY_OF_USER: Full = Full("too many connections of this user have not introduced themselves yet");
const TOO_MANY: Full = Full("too many connections of other users have not introduced themselves yet");

impl Abandon for Interrupter {
    fn abandon(&self) {
        self.interrupt();
    }
}

/// The connections of other users' processes in setup.
#[derive(Default)]
pub(super) struct LocalSetups(Mutex<Places>);

#[derive(Default)]
struct Places {
    next: u64,
    /// The connections, the oldest first.
    pending: BTreeMap<u64, Pending>,
}

struct Pending {
    user: u32,
    since: Instant,
    connection: Arc<dyn Abandon>,
}

impl LocalSetups {
    /// Counts a connection of this user's process until the returned value is dropped. Returns
    /// `None` for a user that has no limit.
    ///
    /// # Errors
    ///
    /// If the user, or all users together, have too many connections in setup, none of which has
    /// had its time.
    pub(super) fn enter(
        &'static self,
        user: u32,
        connection: impl Abandon + 'static,
    ) -> Result<Option<LocalSetup>, Full> {
        if user == 0 || user == rustix::process::geteuid().as_raw() {
            return Ok(None);
        }
        let (number, old) = lock(&self.0).enter(user, Arc::new(connection), Instant::now())?;
        if let Some(old) = old {
            old.abandon();
        }
        Ok(Some(LocalSetup { setups: self, number }))
    }
}

impl Places {
    /// Returns the newcomer's number, and the connection that has to end for it.
    fn enter(
        &mut self,
        user: u32,
        connection: Arc<dyn Abandon>,
        now: Instant,
    ) -> Result<(u64, Option<Arc<dyn Abandon>>), Full> {
        let of_user = self.pending.values().filter(|pending| pending.user == user).count();
        let old = if of_user >= OF_USER_MAX {
            Some(self.oldest(now, |pending| pending.user == user).ok_or(TOO_MANY_OF_USER)?)
        } else if self.pending.len() >= MAX {
            Some(self.oldest(now, |_| true).ok_or(TOO_MANY)?)
        } else {
            None
        };
        let number = self.next;
        self.next += 1;
        self.pending.insert(number, Pending { user, since: now, connection });
        Ok((number, old))
    }

    /// Removes the oldest of these connections, if it has had its time.
    fn oldest(&mut self, now: Instant, may_go: impl Fn(&Pending) -> bool) -> Option<Arc<dyn Abandon>> {
        let (&number, pending) = self.pending.iter().find(|(_, pending)| may_go(pending))?;
        if now.saturating_duration_since(pending.since) < YIELDS_AFTER {
            return None;
        }
        Some(self.pending.remove(&number)?.connection)
    }
}

/// A connection that is counted as in setup until this value is dropped.
pub(crate) struct LocalSetup {
    setups: &'static LocalSetups,
    number: u64,
}

impl Drop for LocalSetup {
    fn drop(&mut self) {
        // The connection is dropped without the lock.
        let pending = lock(&self.setups.0).pending.remove(&self.number);
        drop(pending);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A connection that notes its end.
    #[derive(Default)]
    struct Connection(AtomicBool);

    impl Abandon for Connection {
        fn abandon(&self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn enter(places: &mut Places, user: u32, now: Instant) -> Result<u64, Full> {
        let (number, old) = places.enter(user, Arc::<Connection>::default(), now)?;
        old.iter().for_each(|old| old.abandon());
        Ok(number)
    }

    #[test]
    fn connections_of_a_user_that_have_not_introduced_themselves_are_limited_and_yield() {
        let (mut places, now) = (Places::default(), Instant::now());
        let first = Arc::<Connection>::default();
        let (number, _) = places.enter(1000, Arc::clone(&first) as Arc<_>, now).unwrap();
        let others: Vec<_> = (1..OF_USER_MAX).map(|_| enter(&mut places, 1000, now).unwrap()).collect();
        let soon = now + YIELDS_AFTER - Duration::from_millis(1);
        assert_eq!(enter(&mut places, 1000, soon), Err(TOO_MANY_OF_USER));
        // Another user has places of its own.
        enter(&mut places, 1001, soon).unwrap();
        assert!(!first.0.load(Ordering::Relaxed));
        enter(&mut places, 1000, now + YIELDS_AFTER).unwrap();
        assert!(first.0.load(Ordering::Relaxed) && !places.pending.contains_key(&number));
        assert!(others.iter().all(|number| places.pending.contains_key(number)));
    }

    #[test]
    fn connections_of_all_other_users_that_have_not_introduced_themselves_are_limited() {
        let (mut places, now) = (Places::default(), Instant::now());
        let numbers: Vec<_> = (0..MAX).map(|at| enter(&mut places, 1000 + at as u32, now).unwrap()).collect();
        assert_eq!(enter(&mut places, 1, now), Err(TOO_MANY));
        enter(&mut places, 1, now + YIELDS_AFTER).unwrap();
        assert!(!places.pending.contains_key(&numbers[0]) && places.pending.contains_key(&numbers[1]));
    }

    #[test]
    fn connections_of_the_own_user_and_of_the_superuser_are_not_counted() {
        let setups: &'static LocalSetups = Box::leak(Box::default());
        for user in [0, rustix::process::geteuid().as_raw()] {
            for _ in 0..2 * OF_USER_MAX {
                assert!(setups.enter(user, Connection::default()).unwrap().is_none());
            }
        }
        let other = setups.enter(u32::MAX - 7, Connection::default()).unwrap();
        assert_eq!(lock(&setups.0).pending.len(), 1);
        drop(other);
        assert!(lock(&setups.0).pending.is_empty());
    }
}
