//! Statements 28 to 32: RDMA.

use crate::ends::{Pair, drain, next, pattern, place, read, region, settle, until, well};
use crate::{MissingFeature, Run};
use obvia_via::{Access, Descriptor, Ended, Error, PostFault, Reliability, Status};

/// Posts one more send, and waits for its completion, which shows that the peer has performed all
/// earlier operations.
#[track_caller]
fn behind(pair: &mut Pair) {
    pair.a.vi.send.post(Descriptor::send().with_context(u64::MAX)).expect("it can be posted");
    while pair.a.sent().context != u64::MAX {}
}

/// 28. An RDMA write without immediate data takes no receive descriptor, and no descriptor
///     completes at the target.
pub fn s28_rdma_writes_consume_no_receive(run: &Run) {
    if run.lacks(MissingFeature::RdmaWrite) {
        return without_rdma(run);
    }
    for level in run.reliable_levels() {
        let mut pair = run.pair(level);
        for number in 0..12 {
            let bytes = pattern(number, 3000);
            pair.a.set(0, &bytes);
            pair.a.send_as(Descriptor::rdma_write(place(&pair.b.area, number as usize * 3000)), 0, 3000);
            pair.a.sent();
            until("the write is done", || pair.b.bytes(number as usize * 3000, 3000) == bytes);
            assert!(drain(&mut pair.b.vi.receive).is_empty(), "{level}: nothing completes");
            if number % 4 == 0 {
                pair.b.receive(100_000, 100);
            }
        }
        assert_eq!(pair.b.vi.receive.posted(), 3, "{level}: no receive was taken");
        for _ in 0..3 {
            behind(&mut pair);
            assert_eq!(pair.b.received().length(), 0);
        }
        settle();
        assert!(drain(&mut pair.b.vi.receive).is_empty());
    }
}

/// 29. An RDMA write with immediate data takes exactly one receive, which reports the length of the
///     write; the receive's own segments stay as they are. Without a receive, the write fails as a
///     send would.
pub fn s29_rdma_writes_with_immediate_data_consume_one_receive(run: &Run) {
    if run.lacks(MissingFeature::RdmaWrite) {
        return without_rdma(run);
    }
    for level in run.reliable_levels() {
        let mut pair = run.pair(level);
        pair.b.set(0, &[0xEE; 1000]);
        for number in 0..4 {
            pair.b
                .vi
                .receive
                .post(Descriptor::receive().with_segment(&pair.b.area, number * 100, 100).with_context(number))
                .expect("it can be posted");
        }
        let lengths = [5000, 0, 100];
        for (number, length) in lengths.into_iter().enumerate() {
            let to = place(&pair.b.area, 10_000 * (number + 1));
            pair.a.set(0, &pattern(number as u64, length));
            pair.a.send_as(Descriptor::rdma_write(to).with_immediate(number as u32), 0, length);
            let received = pair.b.received();
            let seen = (received.context, received.length() as usize, received.immediate());
            assert_eq!(seen, (number as u64, length, Some(number as u32)), "{level}");
            assert_eq!(pair.b.bytes(10_000 * (number + 1), length), pattern(number as u64, length), "{level}");
            pair.a.sent();
        }
        assert_eq!((pair.b.vi.receive.posted(), pair.b.bytes(0, 1000)), (1, vec![0xEE; 1000]), "{level}");
        behind(&mut pair);
        assert_eq!((pair.b.received().context, pair.b.vi.receive.posted()), (3, 0));
        let late = Descriptor::rdma_write(place(&pair.b.area, 0)).with_immediate(1);
        pair.a.send_as(late, 0, 10);
        assert_eq!(pair.b.ended(), Ended::ReceiverNotReady, "{level}");
        assert_eq!(pair.a.ended(), Ended::ReceiverNotReady, "{level}");
    }
}

/// 30. All bytes of an RDMA write are in place when a later send on the same VI is received.
pub fn s30_rdma_writes_are_visible_before_later_sends(run: &Run) {
    if run.lacks(MissingFeature::RdmaWrite) {
        return without_rdma(run);
    }
    for level in run.reliable_levels() {
        let mut pair = run.pair(level);
        for round in 0..100 {
            let length = [64, 70_000, 1, 8000][round % 4];
            let bytes = pattern(round as u64 + 1, length);
            pair.a.set(0, &bytes);
            pair.b.receive(400_000, 8);
            pair.a.send_as(Descriptor::rdma_write(place(&pair.b.area, 0)), 0, length);
            pair.a.send(0, 1.min(length));
            pair.b.received();
            assert!(pair.b.bytes(0, length) == bytes, "{level}: round {round}: not all of it was there");
            pair.a.sent();
            pair.a.sent();
        }
    }
}

/// 31. An RDMA read returns the target's current bytes. The bytes are in place when the read
///     completes, and reads and sends complete in the order in which they were posted.
pub fn s31_rdma_reads_return_the_current_bytes(run: &Run) {
    if run.lacks(MissingFeature::RdmaRead) {
        return lacks_rdma_read(run);
    }
    for level in run.reliable_levels() {
        let mut pair = run.pair(level);
        for round in 0..48 {
            // Each length occurs twice in a row, so that a provider could wrongly return the bytes
            // of the previous read.
            let length = [8, 8, 70_000, 70_000, 1, 0, 9000, 9000][round % 8];
            let bytes = pattern(round as u64, length);
            pair.b.set(1000, &bytes);
            pair.b.receive(300_000, 8);
            pair.b.receive(300_000, 8);
            pair.a.send_as(Descriptor::send().with_context(1), 0, 1);
            pair.a.send_as(Descriptor::rdma_read(place(&pair.b.area, 1000)).with_context(2), 100_000, length);
            pair.a.send_as(Descriptor::send().with_context(3), 0, 1);
            assert_eq!(pair.a.sent().context, 1, "{level}");
            let read = pair.a.sent();
            assert_eq!((read.context, read.length() as usize), (2, length), "{level}");
            assert!(pair.a.bytes(100_000, length) == bytes, "{level}: round {round}: these are other bytes");
            assert_eq!(pair.a.sent().context, 3, "{level}");
            pair.b.received();
            pair.b.received();
        }
        assert!(drain(&mut pair.b.vi.receive).is_empty() && drain(&mut pair.b.vi.send).is_empty(), "nobody is told");
    }
}

/// 32. A provider's attributes say whether it supports RDMA read. Posting a read is an error at
///     once on a provider without this support, and on unreliable VIs of every provider.
pub fn s32_absent_rdma_read_is_an_error(run: &Run) {
    let mut pair = run.pair(run.reliable_levels()[0]);
    for end in [&pair.a, &pair.b] {
        let can = end.nic.attributes();
        assert_eq!(
            (can.rdma_read, can.rdma_write),
            (!run.lacks(MissingFeature::RdmaRead), !run.lacks(MissingFeature::RdmaWrite))
        );
        assert!(!can.provider.is_empty() && can.queue_depth > 0 && can.max_transfer > 0 && can.max_segments > 0);
    }
    if run.lacks(MissingFeature::RdmaRead) {
        lacks_rdma_read(run);
    } else {
        let source = region(&pair.b.nic, &pair.b.tag, 64, Access::READ);
        pair.a.send_as(Descriptor::rdma_read(place(&source, 0)), 0, 64);
        well(next(&mut pair.a.vi.send));
        assert_eq!(read(&source, 0, 64), [0; 64]);
    }
    if !run.lacks(MissingFeature::Level(Reliability::Unreliable)) {
        let mut pair = run.pair(Reliability::Unreliable);
        let read = Descriptor::rdma_read(place(&pair.b.area, 0)).with_segment(&pair.a.area, 0, 8);
        assert_eq!(pair.a.vi.send.post(read).expect_err("a lost answer hangs").fault, PostFault::Unsupported);
    }
}

/// Asserts that a provider without RDMA read refuses RDMA reads.
pub(super) fn lacks_rdma_read(run: &Run) {
    let mut pair = run.pair(run.reliable_levels()[0]);
    assert!(!pair.a.nic.attributes().rdma_read);
    let memory = pair.b.nic.memory(64).expect("there is memory");
    let refused = pair.b.nic.register(memory, &pair.b.tag, Access::READ);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    let read = Descriptor::rdma_read(place(&pair.b.area, 0)).with_segment(&pair.a.area, 0, 8);
    let refused = pair.a.vi.send.post(read).expect_err("there is no RDMA read");
    assert_eq!((refused.fault, refused.descriptor.status()), (PostFault::Unsupported, Status::Pending));
    pair.check(1);
}

/// Asserts that a provider without RDMA write refuses RDMA writes.
fn without_rdma(run: &Run) {
    let mut pair = run.pair(run.reliable_levels()[0]);
    let write = Descriptor::rdma_write(place(&pair.b.area, 0)).with_segment(&pair.a.area, 0, 8);
    for immediate in [None, Some(1)] {
        let mut write = Descriptor::rdma_write(write.remote().expect("it has one")).with_segment(&pair.a.area, 0, 8);
        write.set_immediate(immediate);
        assert_eq!(pair.a.vi.send.post(write).expect_err("there is none").fault, PostFault::Unsupported);
    }
    pair.check(1);
}
