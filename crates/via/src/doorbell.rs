//! How a thread that sleeps on a connection learns of a message, without a system call when nobody sleeps.
//!
//! Three words take part: the sleeper's flag (in the sleeper's segment), the bell (in the sender's segment)
//! and the message's sequence word. The sleeper raises its flag, fences, and looks at the sequence word once more
//! before it sleeps on the bell; the sender stores the sequence word, fences, and looks at the flag. One of the two must see
//! the other's store, so no wake-up is lost. Where both sides only poll, neither word is touched.

use crate::sync::{AtomicU32, fence};
use std::sync::atomic::Ordering;

/// The sender's half: what it does after it has published a message.
///
/// Returns whether the peer sleeps, in which case the bell has been advanced and the caller must wake
/// the futex on it.
#[inline]
pub fn must_ring(peer_sleeps: &AtomicU32, own_bell: &AtomicU32) -> bool {
    // Pairs with the fence in `prepare_sleep`: publish before look.
    fence(Ordering::SeqCst);
    if peer_sleeps.load(Ordering::Relaxed) == 0 {
        return false;
    }
    // The owner alone writes its bell, so load and store make an increment.
    own_bell.store(own_bell.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    true
}

/// The sleeper's half, before it sleeps: raises the flag and returns the bell's value to sleep on.
///
/// The caller must look for a message again after this call, and only then wait for the bell to differ from
/// the value returned.
#[inline]
pub fn prepare_sleep(own_sleeps: &AtomicU32, peer_bell: &AtomicU32) -> u32 {
    let bell = peer_bell.load(Ordering::Acquire);
    own_sleeps.store(1, Ordering::Relaxed);
    // Pairs with the fence in `must_ring`: flag before look.
    fence(Ordering::SeqCst);
    bell
}

/// The sleeper's half, after it woke or found a message: lowers the flag.
#[inline]
pub fn end_sleep(own_sleeps: &AtomicU32) {
    own_sleeps.store(0, Ordering::Relaxed);
}
