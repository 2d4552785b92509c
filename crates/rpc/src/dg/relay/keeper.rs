//! The keeper: periodic work for activities between their calls, namely acknowledgements of results
//! and keep-alive requests.

use std::fmt::Debug;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// The interval of the periodic work.
const ROUND: Duration = Duration::from_millis(500);

/// An activity with periodic work.
pub(super) trait Kept: Send + Sync + Debug {
    /// Performs the actions that are due.
    fn keep(&self);
}

/// The activities of this process. A dedicated thread calls [`round`](Self::round) repeatedly.
#[derive(Debug, Default)]
pub struct Keeper {
    kept: Mutex<Vec<Weak<dyn Kept>>>,
    first: Condvar,
}

impl Keeper {
    fn lock(&self) -> MutexGuard<'_, Vec<Weak<dyn Kept>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, kept: Weak<dyn Kept>) {
        self.lock().push(kept);
        self.first.notify_all();
    }

    /// Waits for the first activity if there is none, for an hour at most. Then waits for the next
    /// interval and does each activity's work.
    pub fn round(&self) {
        let kept = self.lock();
        let waited = self.first.wait_timeout_while(kept, Duration::from_secs(3600), |kept| kept.is_empty());
        let (kept, _) = waited.unwrap_or_else(PoisonError::into_inner);
        // The condition to wait is always true, so that notifications do not shorten the interval.
        let (mut kept, _) =
            self.first.wait_timeout_while(kept, ROUND, |_| true).unwrap_or_else(PoisonError::into_inner);
        kept.retain(|kept| kept.strong_count() > 0);
        let all: Vec<_> = kept.iter().filter_map(Weak::upgrade).collect();
        drop(kept);
        for kept in all {
            kept.keep();
        }
    }
}
