//! Statements 13 to 15: the maximum length of messages, and the maximum number of segments.

use crate::ends::{Pair, Plan, drain, next, pattern, place, region, settle, until, well};
use crate::{MissingFeature, Run};
use obvia_via::{Access, Descriptor, Ended, PostFault, Reliability, State, Status};

/// The maximum length of a message in the test, in bytes, even if a provider permits longer
/// messages.
const LONGEST: u32 = 16 << 20;

/// 13. A message of the maximum length arrives whole, and so does RDMA of that length. A message
///     that is one byte longer is refused when it is posted, and no part of it is sent.
pub fn s13_only_transfers_up_to_the_maximum_length_succeed(run: &Run) {
    for level in run.reliable_levels() {
        let most = run.fixture.nic(crate::Side::Client).attributes().max_transfer;
        assert!(most >= 1);
        for max_transfer in [1.min(most), 5000.min(most), most.min(LONGEST)] {
            let longest = max_transfer as usize;
            let area = longest + 4096;
            let mut pair = run.pair_by(&Plan { max_transfer, area, ..Plan::of(level) });
            assert_eq!((pair.a.vi.max_transfer(), pair.b.vi.max_transfer()), (max_transfer, max_transfer));
            let bytes = pattern(13, longest);
            pair.a.set(0, &bytes);
            pair.b.receive(0, area);
            pair.a.send(0, longest);
            assert_eq!(pair.b.received().length(), max_transfer);
            assert!(pair.b.bytes(0, longest) == bytes, "{level}: {longest} bytes arrive as they were");
            assert_eq!(pair.b.bytes(longest, 8), [0; 8]);
            pair.a.sent();
            pair.b.receive(0, area);
            refuses_too_long(&mut pair, Descriptor::send(), longest + 1);
            if !run.lacks(MissingFeature::RdmaWrite) {
                pair.b.set(0, &vec![0; area]);
                let write = Descriptor::rdma_write(place(&pair.b.area, 0));
                refuses_too_long(&mut pair, write, longest + 1);
                let write = Descriptor::rdma_write(place(&pair.b.area, 8)).with_immediate(3);
                pair.a.send_as(write, 0, longest);
                assert_eq!(pair.b.received().length(), max_transfer);
                assert!(pair.b.bytes(8, longest) == bytes, "{level}: an RDMA write of {longest} bytes");
                assert_eq!((pair.b.bytes(0, 8), pair.b.bytes(longest + 8, 8)), (vec![0; 8], vec![0; 8]));
                pair.a.sent();
                pair.b.receive(0, area);
            }
            if !run.lacks(MissingFeature::RdmaRead) {
                pair.b.set(0, &bytes);
                let read = Descriptor::rdma_read(place(&pair.b.area, 0));
                refuses_too_long(&mut pair, read, longest + 1);
                pair.a.set(0, &vec![0; area]);
                pair.a.send_as(Descriptor::rdma_read(place(&pair.b.area, 0)), 0, longest);
                pair.a.sent();
                assert!(pair.a.bytes(0, longest) == bytes, "{level}: an RDMA read of {longest} bytes");
            }
            // The message below is the first to arrive, because no part of the refused messages was
            // sent.
            pair.a.send(0, 1);
            assert_eq!(pair.b.received().length(), 1);
        }
    }
}

fn refuses_too_long(pair: &mut Pair, descriptor: Box<Descriptor>, length: usize) {
    let descriptor = descriptor.with_segment(&pair.a.area, 0, length as u32).with_context(99);
    let refused = pair.a.vi.send.post(descriptor).expect_err("it is too long");
    assert_eq!((refused.fault, refused.descriptor.context), (PostFault::TooLong, 99));
    assert_eq!((pair.a.vi.send.posted(), pair.a.vi.state()), (0, State::Connected));
}

/// 14. A message that is longer than its receive completes the receive with a length error, and
///     nothing outside of the receive's segments is touched. Reliable connections then end at both
///     ends; unreliable ones go on.
pub fn s14_messages_longer_than_their_receive_fail(run: &Run) {
    for level in run.reliable_levels() {
        for (length, room) in [(101, 100), (60_000, 100), (60_000, 59_999), (1, 0)] {
            let mut pair = run.pair(level);
            pair.check(14);
            pair.b.set(0, &vec![0xEE; 70_000]);
            pair.a.set(0, &pattern(1, 60_000));
            pair.b.receive(0, room);
            pair.b.receive(70_000, 65_536);
            pair.a.send(0, length);
            pair.a.send(0, 10);
            let too_long = next(&mut pair.b.vi.receive);
            assert_eq!((too_long.status(), too_long.immediate()), (Status::TooLong, None), "{level}");
            assert_eq!(next(&mut pair.b.vi.receive).status(), Status::Flushed, "{level}");
            assert_eq!((pair.a.ended(), pair.b.ended()), (Ended::TooLong, Ended::TooLong), "{level}");
            let sent = next(&mut pair.a.vi.send).status();
            let may_be_done = level == Reliability::ReliableDelivery;
            assert!(sent == Status::TooLong || (may_be_done && sent == Status::Done), "{level}: {sent:?}");
            assert_eq!(pair.b.bytes(room, 70_000 - room), vec![0xEE; 70_000 - room], "{level}");
        }
    }
    if run.lacks(MissingFeature::Level(Reliability::Unreliable)) {
        return;
    }
    let mut pair = run.pair(Reliability::Unreliable);
    pair.b.set(0, &[0xEE; 8000]);
    pair.b.receive(0, 100);
    // A loss is no error, so the message is sent until it arrives.
    until("a message that is too long arrives", || {
        pair.a.send(0, 5000);
        well(next(&mut pair.a.vi.send));
        match pair.b.vi.receive.wait(crate::ends::within_ms(50)) {
            Ok(receive) => {
                assert_eq!(receive.status(), Status::TooLong);
                true
            }
            Err(_) => false,
        }
    });
    settle();
    assert_eq!((pair.a.vi.state(), pair.b.vi.state()), (State::Connected, State::Connected));
    assert_eq!(pair.b.bytes(100, 7900), [0xEE; 7900]);
    pair.b.receive(0, 8000);
    until("the connection goes on", || {
        pair.a.send(0, 50);
        pair.b
            .vi
            .receive
            .wait(crate::ends::within_ms(50))
            .is_ok_and(|receive| matches!(well(receive).length(), 50 | 5000))
    });
}

/// 15. A descriptor that does not fit its queue, or has too many segments, is handed back with the
///     reason. The connection goes on as before.
pub fn s15_malformed_descriptors_are_refused(run: &Run) {
    let mut pair = run.pair(run.reliable_levels()[0]);
    let there = place(&pair.b.area, 0);
    let most = pair.a.nic.attributes().max_segments;
    let with_segments = |descriptor: Box<Descriptor>, end: &crate::ends::End, count: usize| {
        (0..count).fold(descriptor, |descriptor, _| descriptor.with_segment(&end.area, 0, 1))
    };
    pair.b.receive(0, 100);
    let mut aimed = Descriptor::send();
    aimed.set_remote(there);
    let mut refused_sends = vec![
        (Descriptor::receive(), PostFault::Malformed),
        (aimed, PostFault::Malformed),
        (with_segments(Descriptor::send(), &pair.a, most + 1), PostFault::TooManySegments),
    ];
    if !run.lacks(MissingFeature::RdmaRead) {
        refused_sends.push((Descriptor::rdma_read(there).with_immediate(1), PostFault::Malformed));
    }
    if !run.lacks(MissingFeature::RdmaWrite) {
        let write = with_segments(Descriptor::rdma_write(there), &pair.a, most + 1);
        refused_sends.push((write, PostFault::TooManySegments));
    }
    for (descriptor, fault) in refused_sends {
        let refused = pair.a.vi.send.post(descriptor.with_context(3)).expect_err("it makes no sense");
        assert_eq!((refused.fault, refused.descriptor.context), (fault, 3));
        assert!(!refused.to_string().is_empty());
    }
    let mut aimed = Descriptor::receive();
    aimed.set_remote(there);
    let too_many = with_segments(Descriptor::receive(), &pair.b, most + 1);
    for (descriptor, fault) in [
        (Descriptor::send(), PostFault::Malformed),
        (aimed, PostFault::Malformed),
        (too_many, PostFault::TooManySegments),
    ] {
        assert_eq!(pair.b.vi.receive.post(descriptor).expect_err("it makes no sense").fault, fault);
    }
    assert_eq!((pair.a.vi.send.posted(), pair.b.vi.receive.posted()), (0, 1));
    assert!(drain(&mut pair.a.vi.send).is_empty());
    pair.a.send(0, 5);
    assert_eq!(pair.b.received().length(), 5);
    // A full queue refuses further descriptors, and keeps the descriptors that it has.
    let depth = pair.b.nic.attributes().queue_depth;
    let small = region(&pair.b.nic, &pair.b.tag, 64, Access::LOCAL);
    for number in 0..depth {
        let receive = Descriptor::receive().with_segment(&small, 0, 64).with_context(number as u64);
        pair.b.vi.receive.post(receive).expect("the queue has room");
    }
    let refused = pair.b.vi.receive.post(Descriptor::receive()).expect_err("the queue is full");
    assert_eq!((refused.fault, pair.b.vi.receive.posted()), (PostFault::QueueFull, depth));
    pair.a.send(0, 5);
    assert_eq!(pair.b.received().context, 0);
}
