//! A limit on guesses of passwords.
//!
//! After five wrong proofs of a user's password from one source, further proofs for this user from
//! this source are refused unchecked for a second. Each further wrong proof doubles the pause, up
//! to a minute. Each source has a limit of its own, so an attacker at one source cannot keep out a
//! user at another.

use super::Caller;
use super::audit::{Refused, log};
use crate::types::hosts::SourceGroup;
use crate::types::threads::lock;
use obvia_rpc::security::credentials::Accounts;
use obvia_rpc::security::{NtHash, Principal};

use obvia_via::window::Peer;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

/// The number of wrong proofs before the first pause.
const FREE: u32 = 5;
/// The first pause.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// The time for which a count is kept after its last wrong proof.
const KEPT: Duration = Duration::from_secs(15 * 60);
/// The greatest number of counts of all sources together.
const COUNTS_MAX: usize = 4096;
/// The greatest number of single users' counts of one source. A source with so many counts has one
/// more count, for the wrong proofs of all further users.
const COUNTS_OF_SOURCE_MAX: usize = 64;
/// The greatest length of a user's name in a count, in characters.
const NAME_MAX: usize = 64;

/// A count of wrong proofs.
#[derive(Clone, Copy, Debug)]
struct Count {
    wrong: u32,
    last: Instant,
}

impl Count {
    /// Returns the time until which proofs are refused unchecked. If there is no pause, returns the
    /// time of the last wrong proof.
    fn until(&self) -> Instant {
        match self.wrong.checked_sub(FREE) {
            Some(more) => self.last + PAUSE.saturating_mul(1 << more.min(6)).min(PAUSE_MAX),
            None => self.last,
        }
    }
}

/// The counts of wrong proofs, by source and by the user's name in upper case.
#[derive(Debug, Default)]
struct Guesses(HashMap<(SourceGroup, String), Count>);

impl Guesses {
    /// Returns the remaining time for which proofs for the user are refused unchecked. `None` if
    /// proofs are checked now.
    fn barred_for(&self, source: &SourceGroup, user: &str, now: Instant) -> Option<Duration> {
        let until = self.0.get(&self.key(source, user))?.until();
        Some(until.saturating_duration_since(now)).filter(|span| !span.is_zero())
    }

    fn tried(&mut self, source: &SourceGroup, user: &str, is_right: bool, now: Instant) {
        if is_right {
            // A right proof does not clear the count that several users share.
            self.0.remove(&Self::own_key(source, user));
            return;
        }
        self.0.retain(|_, count| now.saturating_duration_since(count.last) < KEPT);
        let key = self.key(source, user);
        if self.0.len() >= COUNTS_MAX && !self.0.contains_key(&key) {
            // The oldest count without a pause is removed. If every count has a pause, the oldest
            // count is removed.
            let order = |count: &Count| (count.until() > now, count.last);
            let least = self.0.iter().min_by_key(|(_, count)| order(count)).map(|(key, _)| key.clone());
            least.map(|key| self.0.remove(&key));
        }
        let count = self.0.entry(key).or_insert(Count { wrong: 0, last: now });
        *count = Count { wrong: count.wrong.saturating_add(1), last: now };
    }

    /// Returns the key of a user's own count.
    fn own_key(source: &SourceGroup, user: &str) -> (SourceGroup, String) {
        (source.clone(), user.chars().take(NAME_MAX).flat_map(char::to_uppercase).collect())
    }

    /// Returns the key of the count for a user. Once a source has counts for `COUNTS_OF_SOURCE_MAX`
    /// users, all further users share the source's count for the empty name.
    fn key(&self, source: &SourceGroup, user: &str) -> (SourceGroup, String) {
        let key = Self::own_key(source, user);
        let is_full = || self.0.keys().filter(|(of, _)| of == source).count() >= COUNTS_OF_SOURCE_MAX;
        if !self.0.contains_key(&key) && is_full() { (source.clone(), String::new()) } else { key }
    }
}

static GUESSES: LazyLock<Mutex<Guesses>> = LazyLock::new(Mutex::default);

/// The accounts of this process, with a limit on the wrong proofs of one peer.
pub(super) struct GuardedAccounts {
    accounts: Arc<dyn Accounts>,
    peer: Peer,
}

impl GuardedAccounts {
    pub(super) fn new(accounts: Arc<dyn Accounts>, peer: Peer) -> Self {
        Self { accounts, peer }
    }
}

impl Accounts for GuardedAccounts {
    fn hash(&self, domain: &str, user: &str) -> Option<NtHash> {
        self.accounts.hash(domain, user)
    }

    fn principal(&self, domain: &str, user: &str) -> Principal {
        self.accounts.principal(domain, user)
    }

    fn has_anonymous(&self) -> bool {
        self.accounts.has_anonymous()
    }

    fn barred_for(&self, domain: &str, user: &str) -> Option<Duration> {
        let own = || lock(&GUESSES).barred_for(&SourceGroup::of(&self.peer), user, Instant::now());
        let span = self.accounts.barred_for(domain, user).or_else(own);
        if span.is_some() {
            let caller = Caller { peer: self.peer.clone(), authenticated: None };
            log(caller, Refused::Guess(user.chars().take(NAME_MAX).collect()));
        }
        span
    }

    fn tried(&self, domain: &str, user: &str, is_right: bool) {
        self.accounts.tried(domain, user, is_right);
        lock(&GUESSES).tried(&SourceGroup::of(&self.peer), user, is_right, Instant::now());
    }
}

#[cfg(test)]
mod tests;
