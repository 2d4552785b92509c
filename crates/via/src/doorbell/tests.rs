//! The doorbell protocol under the loom model checker.

mod loom_model {
    //! The tests explore every interleaving of a sender and a receiver. The futex of the model
    //! behaves like the kernel's: a wait compares and sleeps in one step.

    use super::super::{PARKED, begin_sleep, end_sleep, interrupt, is_parked, must_call, must_ring, prepare_sleep};
    use loom::sync::atomic::{AtomicU32, Ordering};
    use loom::sync::{Arc, Condvar, Mutex};
    use loom::thread;

    #[derive(Default)]
    struct Words {
        sequence: AtomicU32,
        payload: AtomicU32,
        sleeps: AtomicU32,
        bell: AtomicU32,
        state: AtomicU32,
        futex: Mutex<()>,
        woken: Condvar,
    }

    impl Words {
        /// Waits as the kernel does: only while the bell has this value and the state is 0.
        fn wait(&self, value: u32) {
            let guard = self.futex.lock().unwrap();
            if self.bell.load(Ordering::SeqCst) == value && self.state.load(Ordering::SeqCst) == 0 {
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

        /// Waits like a receiver that sleeps at once. A lost wake-up blocks all threads of the
        /// model, which loom reports.
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

    /// A lost interruption blocks all threads of the model, which loom reports.
    #[test]
    fn a_sleep_on_both_words_loses_no_interruption() {
        loom::model(|| {
            let words = Arc::new(Words::default());
            let other = {
                let words = Arc::clone(&words);
                thread::spawn(move || {
                    interrupt(&words.state, 1);
                    words.wake();
                })
            };
            let bell = prepare_sleep(&words.sleeps, &words.bell);
            while words.state.load(Ordering::Acquire) == 0 {
                words.wait(bell);
            }
            other.join().unwrap();
        });
    }

    /// Only the peer changes the bell, so a wait for the bell alone misses interruptions.
    #[test]
    #[should_panic(expected = "an interruption was lost")]
    fn the_model_finds_the_interruption_lost_by_a_sleep_on_the_bell_alone() {
        loom::model(|| {
            let words = Arc::new(Words::default());
            let other = {
                let words = Arc::clone(&words);
                thread::spawn(move || interrupt(&words.state, 1))
            };
            let bell = prepare_sleep(&words.sleeps, &words.bell);
            let is_rung = words.state.load(Ordering::Acquire) != 0;
            other.join().unwrap();
            assert!(is_rung || words.bell.load(Ordering::SeqCst) != bell, "an interruption was lost");
        });
    }

    /// A connection whose receiver waits without a thread.
    #[derive(Default)]
    struct Parkable {
        words: Words,
        // The number of calls on the socket.
        socket: Mutex<u32>,
        readable: Condvar,
    }

    impl Parkable {
        /// Publishes the message. If the sender has to ring, `calls` says whether the sender has to
        /// call as well. The bell has no effect here, since the receiver does not wait for it.
        fn send(&self, calls: fn(&AtomicU32) -> bool) {
            self.words.sequence.store(1, Ordering::Release);
            if must_ring(&self.words.sleeps, &self.words.bell) && calls(&self.words.sleeps) {
                *self.socket.lock().unwrap() += 1;
                self.readable.notify_one();
            }
        }

        fn has_message(&self) -> bool {
            self.words.sequence.load(Ordering::Acquire) == 1
        }

        fn consume_calls(&self) {
            *self.socket.lock().unwrap() = 0;
        }

        /// Sleeps on the bell until the limit. Returns whether the message has been published.
        fn sleep(&self) -> bool {
            prepare_sleep(&self.words.sleeps, &self.words.bell);
            let is_there = self.has_message();
            end_sleep(&self.words.sleeps);
            is_there
        }

        /// Waits for a message as a server does: by a sleep, and then without a thread. A call
        /// without a message leaves the connection parked.
        fn receive(&self) {
            if self.sleep() {
                return;
            }
            while !self.settle() {
                let mut calls = self.socket.lock().unwrap();
                while *calls == 0 {
                    calls = self.readable.wait(calls).unwrap();
                }
            }
            end_sleep(&self.words.sleeps);
        }

        /// Parks the connection, or leaves it parked. Returns whether the message has been
        /// published.
        fn settle(&self) -> bool {
            self.consume_calls();
            begin_sleep(&self.words.sleeps, PARKED);
            self.has_message()
        }

        /// As [`Self::settle`], but looks for the message too early: before the calls are consumed.
        fn settle_after_a_look(&self) -> bool {
            begin_sleep(&self.words.sleeps, PARKED);
            let is_there = self.has_message();
            self.consume_calls();
            is_there
        }
    }

    /// A lost call blocks all threads of the model, which loom reports.
    #[test]
    fn a_parked_receiver_is_called_again_after_a_call_without_a_message() {
        loom::model(|| {
            let parkable = Arc::new(Parkable::default());
            // The call is for an earlier message, which the receiver had found before the call
            // arrived.
            *parkable.socket.lock().unwrap() = 1;
            let sender = {
                let parkable = Arc::clone(&parkable);
                thread::spawn(move || parkable.send(is_parked))
            };
            parkable.receive();
            sender.join().unwrap();
        });
    }

    /// Asserts that a receiver which parks either finds the message or is called.
    fn park_once(calls: fn(&AtomicU32) -> bool, settle: fn(&Parkable) -> bool) {
        loom::model(move || {
            let parkable = Arc::new(Parkable::default());
            let sender = {
                let parkable = Arc::clone(&parkable);
                thread::spawn(move || parkable.send(calls))
            };
            let has_message = parkable.sleep() || settle(&parkable);
            sender.join().unwrap();
            assert!(has_message || *parkable.socket.lock().unwrap() > 0, "a call was lost");
        });
    }

    #[test]
    fn a_receiver_that_parks_finds_the_message_or_is_called() {
        park_once(is_parked, Parkable::settle);
    }

    #[test]
    #[should_panic(expected = "a call was lost")]
    fn the_model_finds_the_call_lost_by_a_wake_up_of_the_bell_alone() {
        park_once(|_| false, Parkable::settle);
    }

    #[test]
    #[should_panic(expected = "a call was lost")]
    fn the_model_finds_the_call_lost_by_a_look_before_it_is_consumed() {
        park_once(is_parked, Parkable::settle_after_a_look);
    }

    #[test]
    fn a_message_and_an_interruption_both_reach_a_sleeper_on_both_words() {
        loom::model(|| {
            let words = Arc::new(Words::default());
            let [sender, other] = [true, false].map(|is_sender| {
                let words = Arc::clone(&words);
                thread::spawn(move || {
                    if is_sender {
                        words.send(1, must_ring);
                    } else {
                        interrupt(&words.state, 1);
                        words.wake();
                    }
                })
            });
            let (mut has_message, mut is_rung) = (false, false);
            while !(has_message && is_rung) {
                let bell = prepare_sleep(&words.sleeps, &words.bell);
                has_message = words.sequence.load(Ordering::Acquire) == 1;
                is_rung |= words.state.swap(0, Ordering::AcqRel) != 0;
                if !(has_message && is_rung) {
                    words.wait(bell);
                }
            }
            sender.join().unwrap();
            other.join().unwrap();
        });
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
    fn the_doorbell_loses_no_wake_up_and_orders_payload_before_sequence() {
        one_message(must_ring);
    }

    #[test]
    fn the_doorbell_wakes_both_sides_of_a_call() {
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

    /// Asserts that the sender rings the bell if the receiver sees no message after
    /// [`prepare_sleep`].
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
    fn senders_that_publish_before_checking_the_flag_lose_no_wake_up() {
        nobody_sleeps_through(|words| words.send(1, must_ring));
    }

    /// The model must be able to fail: a sender that looks at the flag before it publishes loses
    /// wake-ups.
    #[test]
    #[should_panic(expected = "a wake-up was lost")]
    fn the_model_finds_the_wake_up_lost_by_checking_before_publishing() {
        nobody_sleeps_through(|words| {
            must_ring(&words.sleeps, &words.bell);
            words.sequence.store(1, Ordering::Release);
        });
    }

    /// Two threads that sleep on one connection until its socket is readable. A thread that wakes
    /// consumes the call before it looks for messages.
    #[derive(Default)]
    struct Called {
        published: AtomicU32,
        sleeps: AtomicU32,
        // The number of calls on the socket.
        socket: Mutex<u32>,
        readable: Condvar,
        // The number of messages taken, the number of the latest sleep, and the number of sleeping
        // threads. The mutex is the lock of the VI.
        vi: Mutex<(u32, u32, u32)>,
    }

    impl Called {
        fn send(&self, number: u32, called: &mut u32, ring: impl Fn(&AtomicU32, &mut u32) -> bool) {
            self.published.store(number, Ordering::Release);
            if ring(&self.sleeps, called) {
                *self.socket.lock().unwrap() += 1;
                self.readable.notify_all();
            }
        }

        fn raise(&self, number: &mut u32) {
            *number += 1;
            begin_sleep(&self.sleeps, *number);
        }

        /// Makes progress as a called port does: consumes the calls on the socket, and takes the
        /// messages. If `renews` and other threads still sleep, sets the flag to a new number
        /// before it takes the messages.
        fn progress(&self, renews: bool) -> u32 {
            let mut vi = self.vi.lock().unwrap();
            let was_called = std::mem::take(&mut *self.socket.lock().unwrap()) > 0;
            if was_called && vi.2 > 0 && renews {
                self.raise(&mut vi.1);
            }
            vi.0 = self.published.load(Ordering::Acquire);
            vi.0
        }

        /// Sleeps until a call, again and again, until message `number` has arrived.
        fn receive(&self, number: u32) {
            while self.progress(true) < number {
                let mut vi = self.vi.lock().unwrap();
                self.raise(&mut vi.1);
                let is_there = self.published.load(Ordering::Acquire) >= number;
                vi.2 += u32::from(!is_there);
                drop(vi);
                if !is_there {
                    let mut socket = self.socket.lock().unwrap();
                    while *socket == 0 {
                        socket = self.readable.wait(socket).unwrap();
                    }
                    drop(socket);
                    let mut vi = self.vi.lock().unwrap();
                    vi.2 -= 1;
                    if vi.2 == 0 {
                        end_sleep(&self.sleeps);
                    }
                }
            }
        }
    }

    #[test]
    fn one_wake_up_call_per_sleep_is_enough() {
        loom::model(|| {
            let words = Arc::new(Called::default());
            let sender = {
                let words = Arc::clone(&words);
                thread::spawn(move || {
                    let mut called = 0;
                    words.send(1, &mut called, must_call);
                    words.send(2, &mut called, must_call);
                })
            };
            words.receive(1);
            words.receive(2);
            sender.join().unwrap();
        });
    }

    /// Lets one thread consume the call for both sleeping threads. If `renews`, this thread also
    /// sets the flag to a new number, so that the next message calls the other thread again.
    fn somebody_else_takes_the_call(renews: bool) {
        loom::model(move || {
            let words = Arc::new(Called::default());
            {
                let mut vi = words.vi.lock().unwrap();
                words.raise(&mut vi.1);
                vi.2 = 2;
            }
            let sender = {
                let words = Arc::clone(&words);
                thread::spawn(move || {
                    let mut called = 0;
                    words.send(1, &mut called, must_call);
                    words.send(2, &mut called, must_call);
                })
            };
            let taken = words.progress(renews);
            sender.join().unwrap();
            let calls = *words.socket.lock().unwrap();
            assert!(taken == 2 || calls > 0, "a call was lost");
        });
    }

    #[test]
    fn a_receiver_that_still_sleeps_is_called_again() {
        somebody_else_takes_the_call(true);
    }

    #[test]
    #[should_panic(expected = "a call was lost")]
    fn the_model_finds_wake_up_calls_consumed_by_another_thread() {
        somebody_else_takes_the_call(false);
    }
}
