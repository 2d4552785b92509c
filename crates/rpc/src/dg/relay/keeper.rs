//! What is to be done for activities between their calls: results are acknowledged, and servers told that the client is there.

use std::fmt::Debug;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// How often it is looked what there is to be done.
const ROUND: Duration = Duration::from_millis(500);

/// An activity that may have something to be done.
pub(super) trait Kept: Send + Sync + Debug {
    /// Does what is due.
    fn keep(&self);
}

/// The activities of this process. A thread of the process's own goes [its rounds](Self::round).
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

    /// Waits until it is time, and does what is due for each. While there is no activity, it only waits, for an hour at most.
    pub fn round(&self) {
        let kept = self.lock();
        let waited = self.first.wait_timeout_while(kept, Duration::from_secs(3600), |kept| kept.is_empty());
        let (kept, _) = waited.unwrap_or_else(PoisonError::into_inner);
        // Nobody notifies now: this waits as long as it says.
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
