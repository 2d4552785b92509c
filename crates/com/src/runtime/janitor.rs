//! The janitor: a thread that gives references back in batches, and closes links that nobody uses.

use super::Runtime;
use std::sync::{Condvar, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// How long releases wait for others to join them.
const BATCH: Duration = Duration::from_millis(5);
/// How often unused links are looked for.
const ROUND: Duration = Duration::from_secs(10);

static PENDING: Mutex<bool> = Mutex::new(false);
static SIGNAL: Condvar = Condvar::new();
static START: Once = Once::new();

/// Tells the janitor that there is something to give back.
pub(crate) fn wake() {
    START.call_once(|| {
        // Without the thread references are given back when the process ends.
        let _ = std::thread::Builder::new().name("obvia-janitor".to_owned()).spawn(work);
    });
    let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !*pending {
        *pending = true;
        SIGNAL.notify_one();
    }
}

fn work() {
    let mut last_round = Instant::now();
    loop {
        let pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = SIGNAL.wait_timeout_while(pending, ROUND, |pending| !*pending);
        let (mut pending, outcome) = waited.unwrap_or_else(PoisonError::into_inner);
        *pending = false;
        drop(pending);
        let Ok(runtime) = Runtime::of_process() else {
            return;
        };
        if !outcome.timed_out() {
            std::thread::sleep(BATCH);
            for link in runtime.links() {
                link.flush_releases();
            }
        }
        // By the clock: where something is given back all the time, no wait times out.
        let is_due = last_round.elapsed() >= ROUND;
        if is_due {
            last_round = Instant::now();
        }
        runtime.close_links(is_due);
    }
}
