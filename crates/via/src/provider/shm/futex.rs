//! Sleeping on shared words, and waking their sleepers.

use crate::sync::AtomicU32;
use rustix::io::Errno;
use rustix::thread::futex::{self, Flags, Wait, WaitFlags, WaitPtr, WaitvFlags};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::sync::OnceLock;
use std::time::Duration;

/// The maximum length of a sleep on one word, where the kernel cannot sleep on two. Changes of the
/// second word are noticed after that time.
const NAP: Duration = Duration::from_millis(250);

/// The word of another process on which a thread sleeps, and the value that the word must have for
/// the thread to sleep.
#[derive(Clone, Copy)]
pub(super) struct PeerWord<'a> {
    pub(super) word: &'a AtomicU32,
    pub(super) value: u32,
}

/// The kind of sleep that the kernel supports, for a thread that waits for a peer's word and for a
/// word of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Futexes {
    /// A sleep on both words: Linux 5.16.
    Two,
    /// A sleep on the peer's word alone: on an older kernel, under a filter of system calls, or in
    /// an emulator.
    One,
}

impl Futexes {
    /// Returns the kind of sleep that this system's kernel supports.
    pub(super) fn of_system() -> Self {
        static OF_SYSTEM: OnceLock<Futexes> = OnceLock::new();
        // A kernel that has the system call rejects a sleep on no words as invalid.
        let probe = || futex::waitv(&[], WaitvFlags::empty(), None, ClockId::Monotonic);
        *OF_SYSTEM.get_or_init(|| if probe() == Err(Errno::INVAL) { Self::Two } else { Self::One })
    }

    /// Sleeps for at most `span`, as long as the peer's word has the value in `peer`, and `own` is
    /// 0. Only this process uses `own`. The sleep can also end early, so callers look at the words
    /// again.
    pub(super) fn wait(self, peer: PeerWord<'_>, own: &AtomicU32, span: Duration) {
        match self {
            Self::Two => wait_for_both(peer, own, span),
            Self::One => wait_for_one(peer, span.min(NAP)),
        }
    }

    /// Wakes the threads of this process that sleep on both words, after `own` has changed.
    pub(super) fn wake_own(self, peer: &AtomicU32, own: &AtomicU32) {
        match self {
            Self::Two => wake_with(own, Flags::PRIVATE),
            Self::One => wake(peer),
        }
    }
}

/// Wakes all threads, of this and other processes, that sleep on a shared word.
pub(super) fn wake(word: &AtomicU32) {
    wake_with(word, Flags::empty());
}

fn wait_for_both(peer: PeerWord<'_>, own: &AtomicU32, span: Duration) {
    let words = [(peer.word, peer.value, WaitFlags::SIZE_U32), (own, 0, WaitFlags::SIZE_U32 | WaitFlags::PRIVATE)];
    let waits = words.map(|(word, value, flags)| {
        let mut wait = Wait::new();
        (wait.val, wait.flags) = (value.into(), flags);
        wait.uaddr = WaitPtr::new(word.as_ptr().cast());
        wait
    });
    // The system call takes the end of the wait as a point in time. If the sum overflows, the wait
    // has no end.
    let until = clock_gettime(ClockId::Monotonic).checked_add(timespec(span));
    let outcome = futex::waitv(&waits, WaitvFlags::empty(), until.as_ref(), ClockId::Monotonic);
    if !matches!(outcome, Ok(_) | Err(Errno::AGAIN | Errno::TIMEDOUT | Errno::INTR)) {
        // The kernel lacks memory, or a filter of system calls that was set later forbids the call.
        wait_for_one(peer, span.min(NAP));
    }
}

fn wait_for_one(peer: PeerWord<'_>, span: Duration) {
    let outcome = futex::wait(peer.word, Flags::empty(), peer.value, Some(&timespec(span)));
    debug_assert!(matches!(outcome, Ok(()) | Err(Errno::AGAIN | Errno::TIMEDOUT | Errno::INTR)), "{outcome:?}");
}

fn wake_with(word: &AtomicU32, flags: Flags) {
    let outcome = futex::wake(word, flags, i32::MAX as u32);
    debug_assert!(outcome.is_ok(), "{outcome:?}");
}

fn timespec(span: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(span.as_secs()).unwrap_or(i64::MAX), tv_nsec: span.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;
    use std::time::Instant;

    const ALL: [Futexes; 2] = [Futexes::Two, Futexes::One];

    /// Sleeps until `change` has been made, and returns the length of the sleep.
    fn slept(futexes: Futexes, change: impl FnOnce(&AtomicU32, &AtomicU32) + Send) -> Duration {
        let (bell, state) = (AtomicU32::new(7), AtomicU32::new(0));
        let (thread, begun) = (ground::thread_number(), Instant::now());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                ground::until("the thread sleeps", || ground::is_asleep(thread));
                change(&bell, &state);
            });
            while bell.load(Ordering::Relaxed) == 7 && state.load(Ordering::Relaxed) == 0 {
                futexes.wait(PeerWord { word: &bell, value: 7 }, &state, ground::LATEST);
            }
        });
        begun.elapsed()
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn a_change_of_either_word_ends_a_sleep() {
        for futexes in ALL {
            let by_peer = |bell: &AtomicU32, _: &AtomicU32| {
                bell.store(8, Ordering::Relaxed);
                wake(bell);
            };
            let by_own = |bell: &AtomicU32, state: &AtomicU32| {
                state.store(1, Ordering::Relaxed);
                futexes.wake_own(bell, state);
            };
            assert!(slept(futexes, by_peer) < ground::LATEST && slept(futexes, by_own) < ground::LATEST);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn no_thread_sleeps_long_after_either_word_has_changed() {
        for futexes in ALL {
            let (bell, state) = (AtomicU32::new(7), AtomicU32::new(0));
            let begun = Instant::now();
            futexes.wait(PeerWord { word: &bell, value: 6 }, &state, ground::LATEST);
            state.store(1, Ordering::Relaxed);
            futexes.wait(PeerWord { word: &bell, value: 7 }, &state, ground::LATEST);
            assert!(begun.elapsed() < ground::LATEST, "{futexes:?}");
        }
    }
}
