//! Threads that perform the same action at the same moment.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A racing thread, with the sum of the rounds that the two threads have begun. A thread that
/// panics makes the sum so large that the other thread does not wait for it.
struct Racer<'a>(&'a AtomicUsize);

impl Drop for Racer<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(usize::MAX / 2, Ordering::Release);
        }
    }
}

/// Calls `act` in two threads for each round, at the same moment if two processors are free.
/// Returns the results of each thread.
///
/// # Panics
///
/// When `act` panics.
pub fn race<T: Send>(rounds: usize, act: impl Fn(usize) -> T + Sync) -> [Vec<T>; 2] {
    /// The number of checks after which a waiting thread yields its processor.
    const CHECKS: u32 = 1000;
    let begun = AtomicUsize::new(0);
    let run = || {
        let racer = Racer(&begun);
        let begin_and_act = |round: usize| {
            racer.0.fetch_add(1, Ordering::AcqRel);
            let mut checks = 0_u32;
            while racer.0.load(Ordering::Acquire) < 2 * (round + 1) {
                checks += 1;
                if checks.is_multiple_of(CHECKS) {
                    thread::yield_now();
                }
            }
            act(round)
        };
        (0..rounds).map(begin_and_act).collect()
    };
    thread::scope(|scope| {
        let threads = [scope.spawn(run), scope.spawn(run)];
        threads.map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use super::race;
    use std::panic::catch_unwind;
    use std::sync::Mutex;

    #[test]
    fn a_round_begins_when_both_threads_have_ended_the_last_one() {
        let acts = Mutex::new(Vec::new());
        let results = race(100, |round| {
            acts.lock().unwrap().push(round);
            round
        });
        assert_eq!(results, [Vec::from_iter(0..100), Vec::from_iter(0..100)]);
        assert_eq!(acts.into_inner().unwrap(), Vec::from_iter((0..100).flat_map(|round| [round, round])));
    }

    #[test]
    fn a_panic_in_a_thread_ends_the_race() {
        let first = Mutex::new(true);
        let raced = catch_unwind(|| race(5, |_| assert!(!std::mem::take(&mut *first.lock().unwrap()))));
        assert!(raced.is_err());
    }
}
