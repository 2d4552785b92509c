//! The effect of each operation over a network without faults.

use super::{Net, carrying, deregister, got, pattern, place, region, statuses, with};
use crate::attributes::Reliability::{ReliableDelivery, ReliableReception, Unreliable};
use crate::descriptor::{Descriptor, Status};
use crate::error::Ended;
use crate::memory::Access;

const LENGTHS: [u32; 7] = [0, 1, 1148, 1149, 5000, 70_000, 1 << 20];

#[test]
fn messages_of_every_length_arrive_whole_and_in_order() {
    for level in [Unreliable, ReliableDelivery, ReliableReception] {
        let mut net = Net::new(level);
        net.pass(1_000_000);
        for (number, length) in (0..).zip(LENGTHS) {
            net.post_receive(1, 1 << 20);
            let send = carrying(Descriptor::send(), &pattern(number, length));
            net.post(0, if number % 2 == 0 { send } else { send.with_immediate(number as u32) });
        }
        net.until(|[one, other]| one.queues.send.is_empty() && other.queues.receive.is_empty());
        let [one, other] = &net.ends;
        for (number, length) in (0..).zip(LENGTHS) {
            let (sent, received) = (&one.queues.sent[number], &other.queues.received[number]);
            assert_eq!((sent.status(), received.status()), (Status::Done, Status::Done));
            assert_eq!((sent.length(), received.length()), (length, length));
            assert_eq!(got(received), pattern(number as u64, length), "{level}, {length} bytes");
            assert_eq!(received.immediate(), (number % 2 == 1).then_some(number as u32));
        }
    }
}

#[test]
fn a_request_and_its_response_take_two_datagrams() {
    let mut net = Net::new(ReliableDelivery);
    net.pass(200_000_000);
    let before = net.datagrams;
    for _ in 0..100 {
        for (from, to) in [(0, 1), (1, 0)] {
            net.post_receive(to, 64);
            net.post(from, carrying(Descriptor::send(), b"ping"));
            let arrived = net.ends[to].queues.received.len();
            net.until(|ends| ends[to].queues.received.len() > arrived);
        }
    }
    net.pass(1_000_000);
    assert_eq!(net.datagrams - before, 201, "one more acknowledges the last");
    assert_eq!(net.ends[0].queues.sent.len() + net.ends[1].queues.sent.len(), 200);
}

#[test]
fn rdma_writes_and_reads_reach_the_named_memory() {
    for length in LENGTHS {
        let mut net = Net::new(ReliableReception);
        let bytes = pattern(3, length);
        net.post(0, carrying(Descriptor::rdma_write(place(0)), &bytes));
        let target = region(length as usize, Access::LOCAL);
        net.post(0, with(Descriptor::rdma_read(place(0)), &target, length));
        net.post_receive(1, 4);
        net.post(0, carrying(Descriptor::rdma_write(place(0)).with_immediate(9), b""));
        net.until(|[one, _]| one.queues.send.is_empty());
        let [one, other] = &net.ends;
        assert_eq!(statuses(&one.queues.sent), [Status::Done; 3]);
        assert_eq!(got(&one.queues.sent[1]), bytes, "{length} bytes");
        assert_eq!(other.queues.received.len(), 1, "only immediate data takes a receive");
        assert_eq!((other.queues.received[0].immediate(), other.queues.received[0].length()), (Some(9), 0));
    }
}

#[test]
fn both_ends_read_and_send_at_once() {
    let mut net = Net::new(ReliableDelivery);
    for at in [0, 1] {
        net.ends[at].queues.exposed.memory.write(0, &pattern(at as u64, 300_000)).unwrap();
        for number in 0..100 {
            net.post_receive(at, 40_000);
            net.post(at, carrying(Descriptor::send(), &pattern(number, 40_000)));
            net.post(at, with(Descriptor::rdma_read(place(0)), &region(300_000, Access::LOCAL), 300_000));
        }
    }
    net.until(|ends| ends.iter().all(|end| end.queues.send.is_empty()));
    for at in [0, 1] {
        let queues = &net.ends[at].queues;
        for number in 0..100 {
            assert_eq!(got(&queues.received[number]), pattern(number as u64, 40_000));
            assert_eq!(got(&queues.sent[2 * number + 1]), pattern(1 - at as u64, 300_000));
        }
    }
}

/// Posts two valid writes, the invalid operation `bad` and another valid write. Returns the
/// outcomes at both ends.
fn refused(bad: Box<Descriptor>, room: Option<u32>) -> (Vec<Status>, [Option<Ended>; 2], Net) {
    let mut net = Net::new(ReliableReception);
    room.into_iter().for_each(|room| net.post_receive(1, room));
    net.post(1, with(Descriptor::rdma_read(place(0)), &region(10, Access::LOCAL), 10));
    net.until(|[_, other]| other.queues.send.is_empty());
    net.post(0, carrying(Descriptor::rdma_write(place(0)), b"first"));
    net.post(0, with(Descriptor::rdma_read(place(0)), &region(200_000, Access::LOCAL), 200_000));
    net.post(0, bad);
    net.post(0, carrying(Descriptor::rdma_write(place(10)), b"behind"));
    net.until(|ends| ends.iter().all(|end| end.queues.ended.is_some()));
    net.pass(100_000_000);
    (statuses(&net.ends[0].queues.sent), [net.ends[0].queues.ended, net.ends[1].queues.ended], net)
}

#[test]
fn a_refused_operation_breaks_both_ends_and_flushes_later_ones() {
    let long = carrying(Descriptor::send(), &pattern(1, 9000));
    let beyond = carrying(Descriptor::rdma_write(place((1 << 20) - 8999)), &pattern(1, 9000));
    let read = with(Descriptor::rdma_read(place((1 << 20) - 8999)), &region(9000, Access::LOCAL), 9000);
    let immediate = carrying(Descriptor::rdma_write(place(5)), b"").with_immediate(1);
    for (bad, room, status, ended) in [
        (carrying(Descriptor::send(), b"x"), None, Status::ReceiverNotReady, Ended::ReceiverNotReady),
        (long, Some(8999), Status::TooLong, Ended::TooLong),
        (beyond, None, Status::RemoteProtection, Ended::Protection),
        (read, None, Status::RemoteProtection, Ended::Protection),
        (immediate, None, Status::ReceiverNotReady, Ended::ReceiverNotReady),
    ] {
        let (statuses, both, net) = refused(bad, room);
        assert_eq!(statuses, [Status::Done, Status::Done, status, Status::Flushed]);
        assert_eq!(both, [Some(ended); 2]);
        let mut memory = [0; 16];
        net.ends[1].queues.exposed.memory.read(0, &mut memory).unwrap();
        assert_eq!(memory, *b"first\0\0\0\0\0\0\0\0\0\0\0");
        let mut end = [0; 9000];
        net.ends[1].queues.exposed.memory.read((1 << 20) - 9000, &mut end).unwrap();
        assert_eq!(end, [0; 9000], "nothing of a refused write is done");
        if status == Status::TooLong {
            assert_eq!(net.ends[1].queues.received[0].status(), Status::TooLong);
        }
    }
}

#[test]
fn rdma_reads_of_memory_deregistered_meanwhile_are_refused() {
    let mut net = Net::new(ReliableDelivery);
    net.post(0, with(Descriptor::rdma_read(place(0)), &region(1 << 20, Access::LOCAL), 1 << 20));
    net.pass(100_000);
    assert!(!net.ends[0].queues.send.is_empty(), "it is under way");
    deregister(&net.ends[1].queues.exposed);
    net.until(|ends| ends.iter().all(|end| end.queues.ended.is_some()));
    assert_eq!(statuses(&net.ends[0].queues.sent), [Status::RemoteProtection]);
}

#[test]
fn unreliable_messages_without_a_receive_are_dropped() {
    let mut net = Net::new(Unreliable);
    net.pass(1_000_000);
    let sizes = [3000, 3000, 9000, 3000];
    for (number, room) in [None, Some(4000), Some(4000), Some(4000)].into_iter().enumerate() {
        room.into_iter().for_each(|room| net.post_receive(1, room));
        net.post(0, carrying(Descriptor::send(), &pattern(number as u64, sizes[number])));
        net.pass(1_000_000);
    }
    let [one, other] = &net.ends;
    assert_eq!(statuses(&one.queues.sent), [Status::Done; 4]);
    assert_eq!(statuses(&other.queues.received), [Status::Done, Status::TooLong, Status::Done]);
    assert_eq!(got(&other.queues.received[2]), pattern(3, 3000));
    assert_eq!((one.queues.ended, other.queues.ended), (None, None));
}
