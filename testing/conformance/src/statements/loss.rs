//! Statement 34: messages over a bad wire.

use crate::ends::{Pair, pattern, well};
use crate::{Faults, Fixture, Lack, Run, SOON};
use obvia_via::{Descriptor, State};

/// A wire that is bad in every way.
pub(super) const BAD: Faults = Faults { lost: 30, doubled: 30, delayed: 50, corrupted: 10 };
/// Messages each way.
const COUNT: usize = 400;
/// Receives that are posted at a time.
const POSTED: usize = 32;

/// 34. Reliable connections deliver exactly once, intact and in order, though the wire loses, doubles, delays and corrupts; in both
///     directions at a time, RDMA among the messages.
pub fn s34_exactly_once_in_order_over_a_bad_wire<F: Fixture>(run: &Run<F>) {
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
        let deadline = SOON.start();
        while ways.iter().any(|way| way.received < COUNT || way.completed < way.posted) {
            assert!(!deadline.is_over(), "{level}: no end: {ways:?}, {:?}, {:?}", pair.a.vi.state(), pair.b.vi.state());
            let Pair { a, b } = &mut pair;
            ways[0].step(a, b, run.access().write);
            ways[1].step(b, a, false);
        }
        assert_eq!((pair.a.vi.state(), pair.b.vi.state()), (State::Connected, State::Connected));
        // Whatever is still under way is a copy, and must not come.
        crate::ends::settle();
        assert!(pair.a.vi.receive.done().is_none() && pair.b.vi.receive.done().is_none(), "{level}: more came");
        if let Some(wire) = run.fixture.wire() {
            wire.disturb(Faults::default());
        }
    }
    assert!(!run.lacks(Lack::Level(run.reliable_levels()[0])));
}

/// Where the receive numbered so lies.
fn place_of(number: usize) -> usize {
    number % POSTED * 8192
}

fn length_of(number: usize) -> usize {
    [1, 8192, 0, 1400, 2900, 64][number % 6]
}

/// Messages in one direction.
#[derive(Debug, Default)]
struct Way {
    sent: usize,
    posted: usize,
    completed: usize,
    received: usize,
}

impl Way {
    fn step(&mut self, from: &mut crate::ends::End, to: &mut crate::ends::End, with_rdma: bool) {
        // No more than the receiver has room for.
        if self.sent < COUNT && self.sent < self.received + POSTED {
            let slot = 300_000 + self.sent % POSTED * 4096;
            let bytes = pattern(self.sent as u64, length_of(self.sent));
            let (begin, rest) = bytes.split_at(bytes.len().min(4096));
            from.set(slot, begin);
            let send = Descriptor::send().with_immediate(self.sent as u32);
            let send = send.with_segment(&from.area, slot as u64, begin.len() as u32);
            // Long ones end with bytes that are the same for all of their length.
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
