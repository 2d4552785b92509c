//! The doorbell protocol: a sender wakes a sleeping receiver, and makes no system call while the
//! receiver is awake.
//!
//! Three words take part in a message: the sleeper's flag (in the sleeper's segment), the bell (in
//! the sender's segment) and the message's sequence word. The sleeper raises its flag, fences, and
//! looks at the sequence word once more before it sleeps on the bell. The sender stores the
//! sequence word, fences, and looks at the flag. At least one side sees the other side's store, so
//! no wake-up is lost. Where both sides only poll, neither flag nor bell changes.
//!
//! A receiver that waits without a thread has the flag [`PARKED`], which it sets by
//! [`begin_sleep`]. A sender that finds this flag calls the receiver over a socket. Before the
//! receiver looks for a message, it consumes the calls that have arrived. Each of these calls may
//! belong to the message that the receiver then finds, or to a later message.
//!
//! A fourth word, the state, belongs to the sleeper's process. The other threads of that process
//! interrupt a sleep through this word.

use crate::sync::{AtomicU32, fence};
use std::sync::atomic::Ordering;

/// Performs the sender's part of the protocol, after the sender has published a message.
///
/// Returns whether the peer sleeps. If so, the bell has been advanced, and the caller must wake the
/// futex on the bell.
#[inline]
pub fn must_ring(peer_sleeps: &AtomicU32, own_bell: &AtomicU32) -> bool {
    // Pairs with the fence in `prepare_sleep`: the message is published before the flag is read.
    fence(Ordering::SeqCst);
    if peer_sleeps.load(Ordering::Relaxed) == 0 {
        return false;
    }
    // Only the owner writes its bell, so a load and a store are enough for an increment.
    own_bell.store(own_bell.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    true
}

/// Performs the receiver's part before a sleep: raises the flag, and returns the bell's value to
/// sleep on.
///
/// The caller must look for a message again after this call, and only then wait for the bell to
/// differ from the value returned.
#[inline]
pub fn prepare_sleep(own_sleeps: &AtomicU32, peer_bell: &AtomicU32) -> u32 {
    let bell = peer_bell.load(Ordering::Acquire);
    own_sleeps.store(1, Ordering::Relaxed);
    // Pairs with the fence in `must_ring`: the flag is set before the caller looks for a message.
    fence(Ordering::SeqCst);
    bell
}

/// Performs the receiver's part after it woke or found a message: lowers the flag.
#[inline]
pub fn end_sleep(own_sleeps: &AtomicU32) {
    own_sleeps.store(0, Ordering::Relaxed);
}

/// The flag of a receiver that waits without a thread.
pub const PARKED: u32 = 2;

/// Whether the sender has to call the peer over a socket, after [`must_ring`] has returned true.
///
/// A receiver looks for a message once more after it has set the flag. So a receiver that sets the
/// flag only after [`must_ring`] has read the flag finds the message by itself, and needs no call.
#[inline]
pub fn is_parked(peer_sleeps: &AtomicU32) -> bool {
    peer_sleeps.load(Ordering::Relaxed) == PARKED
}

/// Interrupts the receiver's sleep from another thread of its process: adds `why` to the state, a
/// word that is 0 while the receiver may sleep. The caller must wake the futex on the state.
///
/// Only the peer can change the bell. So the receiver sleeps on both words: it looks at the state
/// after [`prepare_sleep`], and then waits for the bell or the state to change.
#[inline]
pub fn interrupt(state: &AtomicU32, why: u32) {
    state.fetch_or(why, Ordering::AcqRel);
}

/// Performs the sender's part, after the sender has published, for a receiver that sleeps on a
/// socket. A *call*, a message through the kernel, ends that sleep. The receiver's flag is the
/// number of its sleep, or 0 while the receiver is awake. `called` is the number of the sleep that
/// the sender called last.
///
/// Returns whether the sender has to call the receiver now. A call costs a system call, so each
/// sleep gets only one, however much the sender publishes during the sleep.
#[inline]
pub fn must_call(peer_sleeps: &AtomicU32, called: &mut u32) -> bool {
    // Pairs with the fence in `begin_sleep`: the message is published before the flag is read.
    fence(Ordering::SeqCst);
    let number = peer_sleeps.load(Ordering::Relaxed);
    if number == 0 || number == *called {
        return false;
    }
    *called = number;
    true
}

/// Performs the receiver's part for [`must_call`] before a sleep: sets the flag to the number of
/// the sleep, which is not 0 and differs from the previous sleep's number.
///
/// The caller must look for messages after this function, and only then wait. If several threads
/// sleep, the first that wakes consumes the call. That thread then has to set the flag to a new
/// number before it looks for messages. So the next message causes a new call, which wakes the
/// threads that still sleep.
#[inline]
pub fn begin_sleep(own_sleeps: &AtomicU32, number: u32) {
    own_sleeps.store(number, Ordering::Relaxed);
    // Pairs with the fence in `must_call`: the flag is set before the caller looks for messages.
    fence(Ordering::SeqCst);
}

#[cfg(all(test, loom))]
mod tests;
