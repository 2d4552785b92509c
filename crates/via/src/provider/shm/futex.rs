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

/// Whether the kernel can sleep on two words: Linux 5.16, unless a filter of system calls or an
/// emulator refuses.
fn has_waitv() -> bool {
    static HAS_WAITV: OnceLock<bool> = OnceLock::new();
    // A sleep on no words is an error of its own.
    let probe = || futex::waitv(&[], WaitvFlags::empty(), None, ClockId::Monotonic);
    *HAS_WAITV.get_or_init(|| probe() == Err(Errno::INVAL))
}

/// The word of another process on which a thread sleeps, with the value that it last had.
#[derive(Clone, Copy)]
pub(super) struct PeerWord<'a> {
    pub(super) word: &'a AtomicU32,
    pub(super) value: u32,
}

/// Sleeps while `peer` has its value and `own`, a word of this process alone, is 0, at most `span`.
/// The return tells nothing: callers look again.
pub(super) fn wait(peer: PeerWord<'_>, own: &AtomicU32, span: Duration) {
    if has_waitv() {
        wait_for_both(peer, own, span);
    } else {
        wait_for_one(peer, span.min(NAP));
    }
}

/// Wakes all threads that sleep on the word of this process with which its peers wake each other.
pub(super) fn wake(word: &AtomicU32) {
    wake_with(word, Flags::empty());
}

/// Wakes the threads of this process that sleep on both words, after `own` has changed.
pub(super) fn wake_own(peer: &AtomicU32, own: &AtomicU32) {
    if has_waitv() {
        wake_with(own, Flags::PRIVATE);
    } else {
        wake(peer);
    }
}

fn wait_for_both(peer: PeerWord<'_>, own: &AtomicU32, span: Duration) {
    let words = [(peer.word, peer.value, WaitFlags::SIZE_U32), (own, 0, WaitFlags::SIZE_U32 | WaitFlags::PRIVATE)];
    let waits = words.map(|(word, value, flags)| {
        let mut wait = Wait::new();
        (wait.val, wait.flags) = (value.into(), flags);
        wait.uaddr = WaitPtr::new(word.as_ptr().cast());
        wait
    });
    // The system call takes an instant. None is so far away that the sum overflows.
    let until = clock_gettime(ClockId::Monotonic).checked_add(timespec(span));
    let outcome = futex::waitv(&waits, WaitvFlags::empty(), until.as_ref(), ClockId::Monotonic);
    debug_assert!(matches!(outcome, Ok(_) | Err(Errno::AGAIN | Errno::TIMEDOUT | Errno::INTR)), "{outcome:?}");
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

    /// Sleeps by `sleep` until `change` has been made, and returns the length of the sleep.
    fn slept(
        sleep: impl FnOnce(PeerWord<'_>, &AtomicU32),
        change: impl FnOnce(&AtomicU32, &AtomicU32) + Send,
    ) -> Duration {
        let (bell, state) = (AtomicU32::new(7), AtomicU32::new(0));
        let (thread, begun) = (ground::thread_number(), Instant::now());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                ground::until("the thread sleeps", || ground::is_asleep(thread));
                change(&bell, &state);
            });
            sleep(PeerWord { word: &bell, value: 7 }, &state);
        });
        begun.elapsed()
    }

    fn ring(_: &AtomicU32, state: &AtomicU32) {
        state.store(1, Ordering::Relaxed);
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn a_change_of_either_word_ends_a_sleep() {
        let sleep = |peer: PeerWord<'_>, own: &AtomicU32| wait_for_both(peer, own, ground::LATEST);
        let by_peer = |bell: &AtomicU32, _: &AtomicU32| {
            bell.store(8, Ordering::Relaxed);
            wake(bell);
        };
        let by_own = |bell: &AtomicU32, state: &AtomicU32| {
            ring(bell, state);
            wake_with(state, Flags::PRIVATE);
        };
        assert!(slept(sleep, by_peer) < ground::LATEST && slept(sleep, by_own) < ground::LATEST);
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn no_thread_sleeps_after_either_word_has_changed() {
        let (bell, state) = (AtomicU32::new(7), AtomicU32::new(0));
        let begun = Instant::now();
        wait_for_both(PeerWord { word: &bell, value: 6 }, &state, ground::LATEST);
        state.store(1, Ordering::Relaxed);
        wait_for_both(PeerWord { word: &bell, value: 7 }, &state, ground::LATEST);
        assert!(begun.elapsed() < ground::LATEST);
    }
}
