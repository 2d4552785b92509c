//! The doorbell protocol: a sender wakes a sleeping receiver, and makes no system call when none
//! sleeps.
//!
//! Three words take part: the sleeper's flag (in the sleeper's segment), the bell (in the sender's
//! segment) and the message's sequence word. The sleeper raises its flag, fences, and looks at the
//! sequence word once more before it sleeps on the bell. The sender stores the sequence word,
//! fences, and looks at the flag. At least one side sees the other side's store, so no wake-up is
//! lost. Where both sides only poll, neither flag nor bell changes.

use crate::sync::{AtomicU32, fence};
use std::sync::atomic::Ordering;

/// Does the sender's half, after it has published a message.
///
/// Returns whether the peer sleeps. Then the bell has been advanced, and the caller must wake the
/// futex on it.
#[inline]
pub fn must_ring(peer_sleeps: &AtomicU32, own_bell: &AtomicU32) -> bool {
    // Pairs with the fence in `prepare_sleep`: publish before look.
    fence(Ordering::SeqCst);
    if peer_sleeps.load(Ordering::Relaxed) == 0 {
        return false;
    }
    // Only the owner writes its bell, so a load and a store make an increment.
    own_bell.store(own_bell.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    true
}

/// Does the sleeper's half, before it sleeps: raises the flag and returns the bell's value to sleep
/// on.
///
/// The caller must look for a message again after this call, and only then wait for the bell to
/// differ from the value returned.
#[inline]
pub fn prepare_sleep(own_sleeps: &AtomicU32, peer_bell: &AtomicU32) -> u32 {
    let bell = peer_bell.load(Ordering::Acquire);
    own_sleeps.store(1, Ordering::Relaxed);
    // Pairs with the fence in `must_ring`: flag before look.
    fence(Ordering::SeqCst);
    bell
}

/// Does the sleeper's half, after it woke or found a message: lowers the flag.
#[inline]
pub fn end_sleep(own_sleeps: &AtomicU32) {
    own_sleeps.store(0, Ordering::Relaxed);
}

/// Does the sender's half, after it has published, where a message through the kernel ends the
/// sleep: such a message costs more than a futex that no thread sleeps on. The sleeper's flag is
/// the number of its sleep, 0 when it is awake. `called` is the number of the sleep that the sender
/// last ended by a call.
///
/// Returns whether the sender has to call the sleeper: once for each sleep, however much is
/// published meanwhile.
#[inline]
pub fn must_call(peer_sleeps: &AtomicU32, called: &mut u32) -> bool {
    // Pairs with the fence in `begin_sleep`: publish before look.
    fence(Ordering::SeqCst);
    let number = peer_sleeps.load(Ordering::Relaxed);
    if number == 0 || number == *called {
        return false;
    }
    *called = number;
    true
}

/// Does the sleeper's half for [`must_call`]: raises the flag with the number of the sleep, which
/// is not 0 and differs from the previous one.
///
/// The caller must look for messages after this call, and only then wait. A thread that consumes a
/// call for which others still sleep raises the flag anew before it looks for messages.
#[inline]
pub fn begin_sleep(own_sleeps: &AtomicU32, number: u32) {
    own_sleeps.store(number, Ordering::Relaxed);
    // Pairs with the fence in `must_call`: flag before look.
    fence(Ordering::SeqCst);
}

#[cfg(all(test, loom))]
mod tests;
