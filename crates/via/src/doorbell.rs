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

/// The sender's half where a sleep is ended by a message of the kernel's, which costs more than a futex nobody sleeps on: what it does
/// after it has published something. The sleeper's flag is the number of its sleep, 0 when it is awake, and `called` the number of the sleep
/// that it was last called out of.
///
/// Returns whether the sleeper is to be called: once for each sleep, however much is published meanwhile.
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

/// The sleeper's half for [`must_call`]: raises the flag with the number of the sleep, another one than the last and not 0.
///
/// The caller must look for messages after this call, and only then wait. Who takes a call away that others still sleep for raises
/// the flag anew before it looks for messages.
#[inline]
pub fn begin_sleep(own_sleeps: &AtomicU32, number: u32) {
    own_sleeps.store(number, Ordering::Relaxed);
    // Pairs with the fence in `must_call`: flag before look.
    fence(Ordering::SeqCst);
}

#[cfg(all(test, loom))]
mod loom_model {
    //! Every interleaving of a sender and a receiver, with the futex as the kernel has it: a wait compares and sleeps in one step.

    use super::{end_sleep, must_ring, prepare_sleep};
    use loom::sync::atomic::{AtomicU32, Ordering};
    use loom::sync::{Arc, Condvar, Mutex};
    use loom::thread;

    #[derive(Default)]
    struct Words {
        sequence: AtomicU32,
        payload: AtomicU32,
        sleeps: AtomicU32,
        bell: AtomicU32,
        futex: Mutex<()>,
        woken: Condvar,
    }

    impl Words {
        fn wait(&self, value: u32) {
            let guard = self.futex.lock().unwrap();
            if self.bell.load(Ordering::SeqCst) == value {
                drop(self.woken.wait(guard).unwrap());
            }
        }

        fn wake(&self) {
            let _guard = self.futex.lock().unwrap();
            self.woken.notify_all();
        }

        /// Publishes a message as `Tx` does.
        fn send(&self, number: u32, ring: impl Fn(&AtomicU32, &AtomicU32) -> bool) {
            self.payload.store(number * 10, Ordering::Relaxed);
            self.sequence.store(number, Ordering::Release);
            if ring(&self.sleeps, &self.bell) {
                self.wake();
            }
        }

        /// Waits as a receiver does that sleeps at once; a lost wake-up makes the model stand still, which loom reports.
        fn receive(&self, number: u32) -> u32 {
            while self.sequence.load(Ordering::Acquire) != number {
                let bell = prepare_sleep(&self.sleeps, &self.bell);
                if self.sequence.load(Ordering::Acquire) != number {
                    self.wait(bell);
                }
                end_sleep(&self.sleeps);
            }
            self.payload.load(Ordering::Relaxed)
        }
    }

    fn one_message(ring: impl Fn(&AtomicU32, &AtomicU32) -> bool + Copy + Send + Sync + 'static) {
        loom::model(move || {
            let words = Arc::new(Words::default());
            let sender = {
                let words = Arc::clone(&words);
                thread::spawn(move || words.send(1, ring))
            };
            assert_eq!(words.receive(1), 10);
            sender.join().unwrap();
        });
    }

    #[test]
    fn no_wake_up_is_lost_and_payload_comes_before_sequence() {
        one_message(must_ring);
    }

    #[test]
    fn a_conversation_goes_on() {
        loom::model(|| {
            let (there, back) = (Arc::new(Words::default()), Arc::new(Words::default()));
            let server = {
                let (there, back) = (Arc::clone(&there), Arc::clone(&back));
                thread::spawn(move || {
                    assert_eq!(there.receive(1), 10);
                    back.send(1, must_ring);
                })
            };
            there.send(1, must_ring);
            assert_eq!(back.receive(1), 10);
            server.join().unwrap();
        });
    }

    /// Whether a receiver that is about to sleep when it should not is rung out of it.
    fn nobody_sleeps_through(send: impl Fn(&Words) + Copy + Send + Sync + 'static) {
        loom::model(move || {
            let words = Arc::new(Words::default());
            let sender = {
                let words = Arc::clone(&words);
                thread::spawn(move || send(&words))
            };
            let bell = prepare_sleep(&words.sleeps, &words.bell);
            let sleeps = words.sequence.load(Ordering::Acquire) != 1;
            sender.join().unwrap();
            assert!(!sleeps || words.bell.load(Ordering::SeqCst) != bell, "a wake-up was lost");
        });
    }

    #[test]
    fn publishing_before_looking_rings_every_sleeper() {
        nobody_sleeps_through(|words| words.send(1, must_ring));
    }

    /// The model must be able to fail: a sender that looks at the flag before it publishes loses wake-ups.
    #[test]
    #[should_panic(expected = "a wake-up was lost")]
    fn looking_before_publishing_is_found_out() {
        nobody_sleeps_through(|words| {
            must_ring(&words.sleeps, &words.bell);
            words.sequence.store(1, Ordering::Release);
        });
    }
}
