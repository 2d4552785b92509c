//! Statement 34: messages over a bad wire.

use crate::ends::{Pair, Plan, next, pattern, timed, well};
use crate::{Faults, Run, Wire, soon};
use obvia_via::{Descriptor, State, Waiting};
use std::time::Duration;

/// A wire with every kind of fault.
pub(super) const BAD: Faults = Faults { lost: 30, doubled: 30, delayed: 50, corrupted: 10 };
/// The number of messages in each direction.
const COUNT: usize = 400;
/// The number of receives that are posted at a time.
const POSTED: usize = 32;

/// 34. Reliable connections deliver each message exactly once, intact and in order, though the wire
///     loses, doubles, delays and corrupts datagrams. Messages go in both directions at a time,
///     with RDMA among them. A lost datagram is sent again even when no thread calls the VI any
///     more, or when the VI's owner sleeps on the other queue.
pub fn s34_reliable_messages_arrive_once_and_in_order_over_a_bad_wire(run: &Run) {
    for level in run.reliable_levels() {
        let mut pair = run.pair(level);
        if let Some(wire) = run.fixture.wire() {
            wire.disturb(BAD);
        }
        let mut ways = [Way::default(), Way::default()];
        for number in 0..POSTED {
            pair.a.receive(place_of(number), 8192);
            pair.b.receive(place_of(number), 8192);
        }
        let deadline = soon().start();
        while ways.iter().any(|way| way.received < COUNT || way.completed < way.posted) {
            assert!(!deadline.is_over(), "{level}: no end: {ways:?}, {:?}, {:?}", pair.a.vi.state(), pair.b.vi.state());
            let Pair { a, b } = &mut pair;
            ways[0].step(a, b, run.access().write);
            ways[1].step(b, a, false);
        }
        assert_eq!((pair.a.vi.state(), pair.b.vi.state()), (State::Connected, State::Connected));
        // Datagrams that are still under way are copies of earlier ones, and must not be delivered.
        crate::ends::settle();
        assert!(pair.a.vi.receive.done().is_none() && pair.b.vi.receive.done().is_none(), "{level}: more came");
        if let Some(wire) = run.fixture.wire() {
            wire.disturb(Faults::default());
        }
    }
    if let Some(wire) = run.fixture.wire() {
        for sleeps in [false, true] {
            // On a busy machine some repetitions are late, so one repetition in time is enough. If
            // the sender repeated a message only after a sign of life of its peer, every repetition
            // would be late.
            let mut took = vec![is_sent_again(run, wire, sleeps)];
            while took.iter().all(|took| *took >= AGAIN) {
                assert!(took.len() < 40, "another thread sleeps: {sleeps}: it took {took:?}");
                took.push(is_sent_again(run, wire, sleeps));
            }
        }
    }
}

/// The maximum time until a lost message is sent again, on a wire without delay.
const AGAIN: Duration = Duration::from_millis(150);

/// Loses a message, and does not call the sender's VI afterwards. If `sleeps`, another thread
/// sleeps on the receive queue of this VI. Returns the time until the repetition arrived.
fn is_sent_again(run: &Run, wire: &dyn Wire, sleeps: bool) -> Duration {
    let mut pair = run.pair_by(&Plan { waiting: Waiting::Block, ..Plan::of(run.reliable_levels()[0]) });
    pair.check_both(34);
    let Pair { a, b } = &mut pair;
    a.receive(0, 10);
    b.receive(0, 100);
    let (length, took) = std::thread::scope(|scope| {
        let area = &a.area;
        let (send, receive) = a.vi.queues();
        if sleeps {
            scope.spawn(move || next(receive));
        }
        // The time is long enough for the other thread to fall asleep, and for the NICs' own
        // threads to take over the idle VIs.
        std::thread::sleep(Duration::from_millis(100));
        wire.disturb(Faults { lost: 1000, ..Faults::default() });
        send.post(Descriptor::send().with_segment(area, 0, 77)).expect("it can be posted");
        std::thread::sleep(Duration::from_millis(3));
        wire.disturb(Faults::default());
        let (received, took) = timed(|| b.vi.receive.wait(soon()));
        // Ends the sleep of the other thread.
        b.send(0, 1);
        (received.map(|receive| well(receive).length()), took)
    });
    assert_eq!(length.expect("it is sent again"), 77, "while another thread sleeps: {sleeps}");
    took
}

/// Returns the offset of the receive with this number.
fn place_of(number: usize) -> usize {
    number % POSTED * 8192
}

fn length_of(number: usize) -> usize {
    [1, 8192, 0, 1400, 2900, 64][number % 6]
}

/// The messages in one direction.
#[derive(Debug, Default)]
struct Way {
    sent: usize,
    posted: usize,
    completed: usize,
    received: usize,
}

impl Way {
    fn step(&mut self, from: &mut crate::ends::End, to: &mut crate::ends::End, with_rdma: bool) {
        // Several messages are sent at a time, so that the wire can reorder them. There are never
        // more of them than posted receives.
        for _ in 0..5 {
            self.send(from, to, with_rdma);
        }
        self.take(from, to);
    }

    fn send(&mut self, from: &mut crate::ends::End, to: &crate::ends::End, with_rdma: bool) {
        if self.sent < COUNT && self.sent < self.received + POSTED {
            let slot = 300_000 + self.sent % POSTED * 4096;
            let bytes = pattern(self.sent as u64, length_of(self.sent));
            let (begin, rest) = bytes.split_at(bytes.len().min(4096));
            from.set(slot, begin);
            let send = Descriptor::send().with_immediate(self.sent as u32);
            let send = send.with_segment(&from.area, slot as u64, begin.len() as u32);
            // The bytes after the first 4096 lie in memory that several messages use.
            from.set(280_000 + self.sent % 4 * 4096, rest);
            let send = send.with_segment(&from.area, 280_000 + (self.sent % 4 * 4096) as u64, rest.len() as u32);
            from.vi.send.post(send).expect("a send can be posted");
            self.sent += 1;
            self.posted += 1;
            if with_rdma && self.sent.is_multiple_of(7) {
                let write = Descriptor::rdma_write(crate::ends::place(&to.area, 450_000));
                from.send_as(write, slot, 3000);
                self.posted += 1;
            }
        }
    }

    fn take(&mut self, from: &mut crate::ends::End, to: &mut crate::ends::End) {
        while let Some(sent) = from.vi.send.done() {
            well(sent);
            self.completed += 1;
        }
        while let Some(receive) = to.vi.receive.done() {
            let receive = well(receive);
            let number = self.received;
            assert_eq!(receive.immediate(), Some(number as u32), "exactly once and in order");
            assert_eq!(
                (receive.length() as usize, receive.segments()[0].offset as usize),
                (length_of(number), place_of(number))
            );
            let arrived = to.bytes(place_of(number), length_of(number));
            let expected = pattern(number as u64, length_of(number));
            let alike = arrived.len().min(4096);
            assert!(arrived[..alike] == expected[..alike], "message {number} is not as it was sent");
            self.received += 1;
            to.vi.receive.post(receive).expect("a receive can be posted again");
        }
    }
}
