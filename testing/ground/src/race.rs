//! Threads that do the same at the same moment.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The number of rounds that threads have begun, in all.
struct Begun(AtomicUsize);

/// A racing thread. A thread that panics does not keep the other one waiting.
struct Racer<'a>(&'a Begun);

impl Drop for Racer<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.0.store(usize::MAX / 2, Ordering::Release);
        }
    }
}

/// Calls `act` in two threads for each round, at the same moment if two processors are free.
/// Returns the results of each thread.
///
/// # Panics
///
/// When `act` panics.
#[track_caller]
pub fn race<T: Send>(rounds: usize, act: impl Fn(usize) -> T + Sync) -> [Vec<T>; 2] {
    /// The number of looks for the other thread after which the processor is left to it.
    const LOOKS: u32 = 1000;
    let begun = Begun(AtomicUsize::new(0));
    let run = || {
        let racer = Racer(&begun);
        let begin_and_act = |round: usize| {
            racer.0.0.fetch_add(1, Ordering::AcqRel);
            let mut looks = 0_u32;
            while racer.0.0.load(Ordering::Acquire) < 2 * (round + 1) {
                looks += 1;
                if looks.is_multiple_of(LOOKS) {
                    thread::yield_now();
                }
            }
            act(round)
        };
        (0..rounds).map(begin_and_act).collect()
    };
    thread::scope(|scope| {
        let threads = [scope.spawn(run), scope.spawn(run)];
        threads.map(|thread| thread.join().expect("no thread panics"))
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
