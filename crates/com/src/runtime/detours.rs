//! The processes that could not be reached over virtual interfaces, and are reached by other
//! bindings for a while.

use crate::types::threads::lock;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The time for which, after a failed attempt, this process makes no further attempt to reach the
/// process over virtual interfaces.
const DETOUR: Duration = Duration::from_secs(60);
/// The greatest number of processes that are remembered at the same time.
const DETOURS_MAX: usize = 1024;

/// The processes that could not be reached over virtual interfaces, each with the time at which its
/// entry expires.
#[derive(Default)]
pub(super) struct Detours(Mutex<HashMap<u64, Instant>>);

impl Detours {
    pub(super) fn has(&self, oxid: u64) -> bool {
        lock(&self.0).get(&oxid).is_some_and(|until| Instant::now() < *until)
    }

    pub(super) fn add(&self, oxid: u64) {
        let (mut detours, now) = (lock(&self.0), Instant::now());
        detours.retain(|_, until| now < *until);
        if detours.len() < DETOURS_MAX {
            detours.insert(oxid, now + DETOUR);
        }
    }
}
