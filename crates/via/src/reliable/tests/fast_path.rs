//! The fast path of predicted packets: which packets take it, and that no others do.

use super::{End, Faults, Net, carrying, got, pattern, place, region};
use crate::Error;
use crate::attributes::Reliability::{ReliableDelivery, Unreliable};
use crate::descriptor::{Descriptor, Operation};
use crate::memory::Access;
use crate::reliable::packet::{WRITE_HEADER, seal};
use crate::reliable::{Link, LinkPort};
use crate::spi::{Port, Sink};
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const SPAN: u64 = 200_000_000;

fn write(number: u64, length: u32) -> Box<Descriptor> {
    carrying(Descriptor::rdma_write(place(number * 256)).with_immediate(number as u32), &pattern(number, length))
}

/// Exchanges calls and answers, and checks every byte.
fn calls(faults: Faults, seed: u64, predicts: bool) -> Net {
    let mut net = Net::new(ReliableDelivery);
    net.predicts = predicts;
    net.pass(SPAN);
    (net.faults, net.chance.0) = (faults, seed);
    for number in 0..100 {
        for (from, to) in [(0, 1), (1, 0)] {
            net.post_receive(to, 0);
            let length = (number as u32 * 7) % 180;
            net.post(from, write(number, length));
            net.until(|ends| ends[to].queues.received.len() as u64 > number);
            let received = &net.ends[to].queues.received[number as usize];
            assert_eq!((received.immediate(), received.length()), (Some(number as u32), length));
            let mut bytes = vec![0; length as usize];
            net.ends[to].queues.exposed.memory.read(number * 256, &mut bytes).unwrap();
            assert!(bytes == pattern(number, length), "call {number} with seed {seed}");
        }
    }
    net.until(|ends| ends.iter().all(|end| end.queues.send.is_empty()));
    net
}

#[test]
fn calls_take_the_fast_path_in_both_directions() {
    let net = calls(Faults::default(), 1, true);
    for end in &net.ends {
        let statistics = end.engine.statistics();
        assert_eq!((statistics.expected, statistics.sent_at_once), (100, 100));
        assert_eq!(end.queues.sent.len(), 100);
    }
}

#[test]
fn calls_succeed_despite_faults_on_the_fast_and_slow_path() {
    let faults = Faults { loses: 7, doubles: 5, damages: 11, jitter: 300_000, ..Faults::default() };
    for seed in 1..=20 {
        let [short, long] = [true, false].map(|predicts| calls(faults, seed, predicts));
        assert!(short.ends[0].engine.statistics().expected > 10, "seed {seed}");
        assert!(short.ends[0].engine.statistics().retransmitted > 0, "seed {seed}");
        assert_eq!(long.ends[0].engine.statistics().expected, 0);
    }
}

/// Makes a packet that the second end predicts. Returns the packet and that end.
fn expected() -> (Vec<u8>, End) {
    let mut net = calls(Faults::default(), 1, true);
    net.pass(1_000_000);
    net.post(0, write(3, 16));
    net.post_receive(1, 0);
    let mut bytes = vec![0; 1000];
    let [one, other] = net.ends;
    let made = one.engine.make_expected(&one.queues, &mut bytes).unwrap();
    bytes.truncate(made.length);
    (bytes, other)
}

/// Whether a packet takes the fast path. Asserts that a packet that does not take the fast path
/// has changed nothing.
fn is_taken(end: &mut End, packet: &[u8]) -> bool {
    let before = format!("{end:?}");
    let is_taken = end.engine.take_expected(packet, &mut end.queues);
    assert_eq!(is_taken, format!("{end:?}") != before, "changed, or not, in {packet:x?}");
    is_taken
}

#[test]
fn unexpected_packets_take_the_slow_path() {
    let (packet, mut end) = expected();
    for bit in 0..packet.len() * 8 {
        let (byte, mut other) = (bit / 8, packet.clone());
        other[byte] ^= 1 << (bit % 8);
        assert!(!is_taken(&mut end, &other), "damaged in byte {byte}");
        seal(&mut other);
        // The peer may choose the window, immediate data, and offsets inside the region.
        let is_free = matches!(byte, 0..4 | 32..36 | 48..52 | 68..70 | WRITE_HEADER..) || (byte == 70 && bit % 8 < 4);
        assert!(is_free || !is_taken(&mut end, &other), "another byte {byte}");
    }
    for length in 0..packet.len() + 300 {
        let mut other = packet.clone();
        other.resize(length, 0);
        if length >= 4 {
            seal(&mut other);
        }
        assert!(length == packet.len() || !is_taken(&mut end, &other), "{length} bytes");
    }
    assert!(is_taken(&mut end, &packet));
    assert!(!is_taken(&mut end, &packet), "it has come");
}

#[test]
fn no_packet_is_predicted_while_other_work_is_pending() {
    let changes: [fn(&mut End); 6] = [
        |end| end.queues.receive.clear(),
        |end| end.queues.exposed = region(1 << 20, Access::READ),
        |end| end.queues.exposed = region(3 * 256 + 15, Access::BOTH),
        |end| assert!(end.engine.hint_gone(SPAN)),
        |end| end.engine.disconnect(),
        |end| {
            // The end then waits for an acknowledgement.
            end.queues.send.push_back(write(4, 0));
            end.queues.posted += 1;
            end.engine.transmit(2 * SPAN, &mut end.queues, &mut [0; 1000]).unwrap();
        },
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let (packet, mut end) = expected();
        change(&mut end);
        assert!(!is_taken(&mut end, &packet), "change {at}");
    }
}

#[test]
fn only_a_single_short_write_takes_the_fast_send_path() {
    let with = |post: fn(&mut Net)| {
        let mut net = calls(Faults::default(), 1, true);
        net.pass(1_000_000);
        post(&mut net);
        let End { engine, queues } = &net.ends[0];
        engine.make_expected(queues, &mut [0; 1000]).is_some()
    };
    assert!(with(|net| net.post(0, write(3, 180))));
    assert!(!with(|_| ()));
    assert!(!with(|net| net.post(0, write(3, 181))));
    assert!(!with(|net| net.post(0, carrying(Descriptor::rdma_write(place(0)), b"no immediate data"))));
    assert!(!with(|net| net.post(0, carrying(Descriptor::send(), b"a message").with_immediate(1))));
    assert!(!with(|net| (0..2).for_each(|number| net.post(0, write(number, 8)))));
    let mut net = Net::new(Unreliable);
    net.pass(SPAN);
    net.post(0, write(0, 8));
    assert!(net.ends[0].engine.make_expected(&net.ends[0].queues, &mut [0; 1000]).is_none());
}

/// One end of a wire without losses. The flag says whether the port reads marks.
#[derive(Debug)]
struct Wire(Sender<Vec<u8>>, Receiver<Vec<u8>>, bool);

impl Link for Wire {
    fn mtu(&self) -> usize {
        super::MTU
    }

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        Ok(self.0.send(datagram.to_vec()).is_ok())
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        let Ok(datagram) = self.1.try_recv() else { return Ok(None) };
        into[..datagram.len()].copy_from_slice(&datagram);
        Ok(Some(datagram.len()))
    }

    fn file(&self) -> Option<Arc<OwnedFd>> {
        None
    }

    fn peer(&self) -> String {
        "the other end".to_owned()
    }

    fn read_marks(&mut self, reads: bool) {
        self.2 = reads;
    }
}

#[test]
fn marks_are_read_from_a_long_datagram_until_sixteen_short_ones_in_a_row() {
    let (to_port, from_port) = (channel(), channel());
    let [End { engine, mut queues }, _] = Net::new(ReliableDelivery).ends;
    let mut port = LinkPort::new(engine, Wire(from_port.0, to_port.1, false), Instant::now());
    let mut reads = |length: usize| {
        to_port.0.send(vec![0; length]).unwrap();
        port.progress_to_answer(Instant::now(), &mut queues);
        port.link_mut().2
    };
    assert!(!reads(256));
    for _ in 0..3 {
        assert!(reads(257));
        assert!((0..15).all(|_| reads(256)));
    }
    assert!(!reads(256) && !reads(0) && reads(257));
}

#[test]
fn ports_on_the_fast_path_still_do_the_periodic_work() {
    const CALLS: u64 = 1000;
    let mut net = Net::new(ReliableDelivery);
    net.pass(SPAN);
    let start = Instant::now().checked_sub(Duration::from_nanos(net.now)).unwrap();
    let ((to_one, one), (to_other, other)) = (channel(), channel());
    let mut wires = [Wire(to_other, one, false), Wire(to_one, other, false)].into_iter();
    let mut ends = net.ends.map(|End { engine, queues }| (LinkPort::new(engine, wires.next().unwrap(), start), queues));
    for number in 0..CALLS {
        for (from, to) in [(0, 1), (1, 0)] {
            let (port, queues) = &mut ends[from];
            queues.send.push_back(write(number, 16));
            queues.posted += 1;
            if !port.submit_at_once(queues) {
                port.submit(Instant::now(), queues);
            }
            let (port, queues) = &mut ends[to];
            queues.receive.push_back(Descriptor::receive());
            while queues.received.len() as u64 == number {
                port.progress_to_answer(Instant::now(), queues);
            }
            assert_eq!(queues.received[number as usize].operation(), Operation::Receive);
        }
    }
    for (port, queues) in &mut ends {
        port.progress(Instant::now(), queues);
        let statistics = port.engine().statistics();
        assert!((900..990).contains(&statistics.expected), "{statistics:?}");
        assert!(statistics.sent_at_once > 900, "{statistics:?}");
        assert!(queues.completed() + 1 >= CALLS, "{} of {CALLS} completed", queues.completed());
        assert!(port.prepare_sleep(Instant::now()).is_none_or(|sleep| sleep.until.is_some()));
        let bytes = got(&queues.sent[0]);
        assert_eq!(bytes, pattern(0, 16));
    }
}
