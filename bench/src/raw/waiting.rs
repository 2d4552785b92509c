//! Waiting for a change of a shared word: spinning, spinning with a pause, sleeping.

use crate::{Error, Stalling, Watch};
use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use rustix::time::Timespec;
use std::hint::spin_loop;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The number of spins between two checks whether the other side has ended or stalls. The spins
/// take some milliseconds.
const SPINS: u32 = 1 << 20;

/// The way in which both sides wait.
pub(super) trait Waiting {
    /// Waits until `word` holds `value`. All writes before the publication of `value` are then
    /// visible.
    fn until(word: &AtomicU32, value: u32, watch: &mut impl Watch) -> Result<(), Error>;

    /// Publishes `value` and all earlier writes.
    fn publish(word: &AtomicU32, value: u32);
}

/// Spins without a pause.
pub(super) struct Spin;

impl Waiting for Spin {
    #[inline]
    fn until(word: &AtomicU32, value: u32, watch: &mut impl Watch) -> Result<(), Error> {
        spin(word, value, watch, || ())
    }

    #[inline]
    fn publish(word: &AtomicU32, value: u32) {
        word.store(value, Release);
    }
}

/// Spins with a pause instruction.
pub(super) struct Pause;

impl Waiting for Pause {
    #[inline]
    fn until(word: &AtomicU32, value: u32, watch: &mut impl Watch) -> Result<(), Error> {
        spin(word, value, watch, spin_loop)
    }

    #[inline]
    fn publish(word: &AtomicU32, value: u32) {
        word.store(value, Release);
    }
}

#[inline]
fn spin(word: &AtomicU32, value: u32, watch: &mut impl Watch, between: impl Fn()) -> Result<(), Error> {
    let mut stalling = Stalling::default();
    loop {
        for _ in 0..SPINS {
            if word.load(Acquire) == value {
                return Ok(());
            }
            between();
        }
        stalling.check(watch)?;
    }
}

/// Sleeps on a futex. `publish` always wakes the other side. A side that waits always sleeps, so a
/// flag that says whether it sleeps would only cost time.
pub(super) struct Sleep;

impl Waiting for Sleep {
    fn until(word: &AtomicU32, value: u32, watch: &mut impl Watch) -> Result<(), Error> {
        let half_a_second = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
        let mut stalling = Stalling::default();
        loop {
            let found = word.load(Acquire);
            if found == value {
                return Ok(());
            }
            match futex::wait(word, Flags::empty(), found, Some(&half_a_second)) {
                Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::TIMEDOUT) => stalling.check(watch)?,
                Err(error) => return Err(Error::system("sleeping on a futex")(error)),
            }
        }
    }

    fn publish(word: &AtomicU32, value: u32) {
        word.store(value, Release);
        let outcome = futex::wake(word, Flags::empty(), 1);
        debug_assert!(outcome.is_ok(), "{outcome:?}");
    }
}
