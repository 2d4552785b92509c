//! Statements 1 to 6: work queues, and the contents of their descriptors.

use crate::ends::{Plan, drain, pattern, place, settle, well};
use crate::{MissingFeature, Run};
use obvia_via::{Descriptor, Operation, Reliability, Segment, Status};

/// 1. Descriptors of one work queue complete in the order in which they were posted, whatever they
///    do and however long they take.
pub fn s01_work_queues_complete_in_order(run: &Run) {
    for (level, with_rdma) in run.reliable_levels().into_iter().flat_map(|level| [(level, false), (level, true)]) {
        let mut pair = run.pair(level);
        let count = 48.min(pair.a.nic.attributes().queue_depth / 3);
        let lengths: Vec<usize> = (0..count).map(|number| [1, 3000, 0, 20_000, 64][number % 5]).collect();
        let mut messages = Vec::new();
        for (number, length) in lengths.iter().enumerate() {
            let receive = Descriptor::receive().with_segment(&pair.b.area, number as u64 * 4096, 4096);
            let receive = if *length > 4096 { receive.with_segment(&pair.b.area, 256 << 10, 20_000) } else { receive };
            pair.b.vi.receive.post(receive.with_context(number as u64)).expect("it can be posted");
        }
        let mut posted = 0;
        for (number, length) in lengths.iter().enumerate() {
            let bytes = pattern(number as u64, *length);
            pair.a.set(number * 4096, &bytes[..bytes.len().min(4096)]);
            messages.push((*length, bytes[..bytes.len().min(4096)].to_vec()));
            let send = Descriptor::send().with_segment(&pair.a.area, number as u64 * 4096, (*length).min(4096) as u32);
            let rest = length.saturating_sub(4096) as u32;
            pair.a.vi.send.post(send.with_segment(&pair.a.area, 0, rest).with_context(posted)).expect("posted");
            posted += 1;
            for rdma in rdma_of_all_kinds(run, &pair.b).into_iter().filter(|_| with_rdma) {
                let rdma = rdma.with_segment(&pair.a.area, 300 << 10, 10_000).with_context(posted);
                pair.a.vi.send.post(rdma).expect("it can be posted");
                posted += 1;
            }
        }
        for context in 0..posted {
            assert_eq!(pair.a.sent().context, context, "{level}: sends complete in order");
        }
        for (number, (length, begin)) in messages.into_iter().enumerate() {
            let received = pair.b.received();
            assert_eq!((received.context, received.length() as usize), (number as u64, length), "{level}");
            assert_eq!(pair.b.bytes(number * 4096, begin.len()), begin, "{level}: message {number}");
        }
    }
}

/// Returns an RDMA write and an RDMA read, if the provider supports them, at an offset that no
/// message uses.
#[expect(clippy::vec_box, reason = "descriptors are posted in boxes")]
fn rdma_of_all_kinds(run: &Run, target: &crate::ends::End) -> Vec<Box<Descriptor>> {
    let there = place(&target.area, 400 << 10);
    let write = (!run.lacks(MissingFeature::RdmaWrite)).then(|| Descriptor::rdma_write(there));
    let read = (!run.lacks(MissingFeature::RdmaRead)).then(|| Descriptor::rdma_read(there));
    write.into_iter().chain(read).collect()
}

/// 2. No order is promised between VIs: a VI whose completions are not taken does not delay other
///    VIs of the same NICs.
pub fn s02_vis_do_not_block_each_other(run: &Run) {
    for level in run.reliable_levels() {
        let plan = Plan::of(level);
        let mut held = run.pair(level);
        let mut free = crate::ends::Pair {
            a: run.end_of(&held.a.nic, &plan, None, None),
            b: run.end_of(&held.b.nic, &plan, None, None),
        };
        run.connect(&mut free);
        let count = 64.min(held.a.nic.attributes().queue_depth);
        // In both directions, the queues of one VI are full of completed descriptors that are not
        // taken.
        for number in 0..count {
            held.b.receive(number * 4096, 4096);
            held.a.receive(number * 4096, 4096);
        }
        for _ in 0..count {
            held.a.send(0, 4096);
            held.b.send(0, 4096);
        }
        for seed in 0..20 {
            free.check_both(seed);
        }
        for _ in 0..count {
            held.a.received();
            held.b.received();
            held.a.sent();
            held.b.sent();
        }
    }
}

/// 3. A completed descriptor has its status, its operation and the number of bytes transferred. Its
///    other contents are as they were posted.
pub fn s03_completions_report_the_operation(run: &Run) {
    for level in run.reliable_levels() {
        let mut pair = run.pair(level);
        assert_eq!(Descriptor::send().status(), Status::Pending);
        for length in [0, 1, 63, 64, 65, 1499, 5000, 70_000] {
            pair.b
                .vi
                .receive
                .post(Descriptor::receive().with_segment(&pair.b.area, 0, 80_000).with_context(7))
                .unwrap();
            pair.a.send_as(Descriptor::send().with_context(8), 0, length);
            let received = pair.b.received();
            let seen = (received.operation(), received.length() as usize, received.context, received.segments().len());
            assert_eq!(seen, (Operation::Receive, length, 7, 1), "{level}");
            assert_eq!(received.total(), 80_000);
            let sent = pair.a.sent();
            let seen = (sent.operation(), sent.length() as usize, sent.context, sent.segments().len());
            assert_eq!(seen, (Operation::Send, length, 8, 1), "{level}");
            for rdma in rdma_of_all_kinds(run, &pair.b) {
                let operation = rdma.operation();
                pair.a.send_as(rdma, 0, length);
                let done = pair.a.sent();
                assert_eq!((done.operation(), done.length() as usize), (operation, length), "{level}");
                assert_eq!(done.remote(), Some(place(&pair.b.area, 400 << 10)));
            }
        }
    }
}

/// 4. Immediate data arrives as it was sent, whatever its value, with messages of any length. A
///    message without immediate data has none when it arrives, even if its descriptor had immediate
///    data before.
pub fn s04_immediate_data_arrives_or_is_absent(run: &Run) {
    let values = [None, Some(0), Some(u32::MAX), None, Some(0xdead_beef), Some(1), None];
    for level in run.reliable_levels() {
        let mut pair = run.pair(level);
        let mut receive = Descriptor::receive().with_segment(&pair.b.area, 0, 10_000);
        let mut send = Descriptor::send();
        for length in [0, 5, 9000] {
            send.segments_mut().clear();
            let mut send_again = send.with_segment(&pair.a.area, 0, length);
            for value in values {
                pair.b.vi.receive.post(receive).expect("a receive can be posted again");
                send_again.set_immediate(value);
                pair.a.vi.send.post(send_again).expect("a send can be posted again");
                receive = pair.b.received();
                assert_eq!((receive.immediate(), receive.length()), (value, length), "{level}");
                send_again = pair.a.sent();
                assert_eq!(send_again.immediate(), value, "{level}: the sender's stays as it is");
                if value.is_some() && !run.lacks(MissingFeature::RdmaWrite) {
                    pair.b.vi.receive.post(receive).expect("a receive can be posted again");
                    let mut write = Descriptor::rdma_write(place(&pair.b.area, 100_000));
                    write.set_immediate(value);
                    pair.a.send_as(write, 0, length as usize);
                    receive = pair.b.received();
                    assert_eq!((receive.immediate(), receive.length()), (value, length), "{level}: RDMA write");
                    pair.a.sent();
                }
            }
            send = send_again;
        }
    }
}

/// 5. Messages are gathered from any number of segments, and scattered to any number, up to the
///    NIC's maximum. Some segments are empty, and the two ends divide the bytes differently.
///    Nothing beside the segments is touched. The same holds for RDMA.
pub fn s05_segments_are_gathered_and_scattered(run: &Run) {
    for level in run.reliable_levels() {
        let mut pair = run.pair(level);
        let most = pair.a.nic.attributes().max_segments;
        assert!(most >= 1);
        for (sends, receives) in
            [(1, 1), (2, 1), (1, 2), (2.min(most), 16.min(most)), (16.min(most), 3.min(most)), (most, most)]
        {
            if sends > most || receives > most {
                continue;
            }
            gather_and_scatter(&mut pair, sends, receives, None);
            if !run.lacks(MissingFeature::RdmaWrite) {
                gather_and_scatter(&mut pair, sends, receives, Some(Operation::RdmaWrite));
            }
            if !run.lacks(MissingFeature::RdmaRead) {
                gather_and_scatter(&mut pair, sends, receives, Some(Operation::RdmaRead));
            }
        }
    }
}

/// The value of the bytes beside the segments. No transfer may change these bytes, and no pattern
/// of the test repeats this value.
const GUARD: u8 = 0xEE;

/// Returns segments that have `total` bytes in all. Three bytes separate neighbors, and every third
/// segment is empty, unless it is the last one.
fn segments(base: u64, count: usize, total: u64) -> Vec<(u64, u32)> {
    let is_empty = |at: usize| at % 3 == 1 && at + 1 < count;
    let full = (0..count).filter(|at| !is_empty(*at)).count() as u64;
    let (mut at, mut left, mut segments, mut rest) = (base, total, Vec::new(), full);
    for number in 0..count {
        let length = if is_empty(number) { 0 } else { left / rest };
        rest -= u64::from(!is_empty(number));
        segments.push((at, length as u32));
        (at, left) = (at + length + 3, left - length);
    }
    assert_eq!(left, 0);
    segments
}

fn gather_and_scatter(pair: &mut crate::ends::Pair, sends: usize, receives: usize, rdma: Option<Operation>) {
    const TOTAL: u64 = 20_011;
    const FAR: usize = 200 << 10;
    let bytes = pattern(sends as u64 * 77 + receives as u64, TOTAL as usize);
    let of = |descriptor: Box<Descriptor>, end: &crate::ends::End, places: &[(u64, u32)]| {
        places.iter().fold(descriptor, |descriptor, (at, length)| descriptor.with_segment(&end.area, *at, *length))
    };
    let put = |end: &crate::ends::End, places: &[(u64, u32)]| {
        let mut rest = &bytes[..];
        for (at, length) in places {
            let (now, later) = rest.split_at(*length as usize);
            end.set(*at as usize, now);
            rest = later;
        }
    };
    for end in [&pair.a, &pair.b] {
        end.set(0, &vec![GUARD; crate::ends::AREA]);
    }
    let (from, to) = (segments(64, sends, TOTAL), segments(64, receives, TOTAL));
    let remote = place(&pair.b.area, FAR);
    let expected_at = |places: &[(u64, u32)]| {
        let mut expected = vec![GUARD; FAR];
        let mut rest = &bytes[..];
        for (at, length) in places {
            let (now, later) = rest.split_at(*length as usize);
            expected[*at as usize..][..now.len()].copy_from_slice(now);
            rest = later;
        }
        expected
    };
    match rdma {
        None => {
            put(&pair.a, &from);
            pair.b.vi.receive.post(of(Descriptor::receive(), &pair.b, &to)).expect("a receive can be posted");
            pair.a.vi.send.post(of(Descriptor::send(), &pair.a, &from)).expect("a send can be posted");
            assert_eq!(u64::from(pair.b.received().length()), TOTAL);
            assert!(pair.b.bytes(0, FAR) == expected_at(&to), "{sends} segments to {receives}");
        }
        Some(Operation::RdmaRead) => {
            pair.b.set(FAR, &bytes);
            pair.a.vi.send.post(of(Descriptor::rdma_read(remote), &pair.a, &to)).expect("a read can be posted");
            pair.a.sent();
            assert!(pair.a.bytes(0, FAR) == expected_at(&to), "RDMA read to {receives} segments");
            return;
        }
        Some(_) => {
            put(&pair.a, &from);
            pair.a.vi.send.post(of(Descriptor::rdma_write(remote), &pair.a, &from)).expect("a write can be posted");
            // The arrival of a send that is posted after the write shows that the write is done.
            pair.b.receive(0, 0);
            pair.a.send(0, 0);
            pair.b.received();
            pair.a.sent();
            let around = pair.b.bytes(FAR - 8, TOTAL as usize + 16);
            assert!(around[8..][..TOTAL as usize] == bytes, "RDMA write of {sends} segments");
            assert_eq!((&around[..8], &around[TOTAL as usize + 8..]), (&[GUARD; 8][..], &[GUARD; 8][..]));
        }
    }
    pair.a.sent();
}

/// 6. A send without bytes, with or without segments, consumes a receive descriptor, as every other
///    send does.
pub fn s06_an_empty_send_consumes_a_receive(run: &Run) {
    for level in run.reliable_levels() {
        let mut pair = run.pair(level);
        for number in 0..3 {
            pair.b.set(number * 100, &[GUARD; 100]);
            pair.b.receive(number * 100, 100);
        }
        pair.a.vi.send.post(Descriptor::send()).expect("a send needs no segment");
        pair.a.send(50, 0);
        pair.a.set(0, &[1]);
        pair.a.send(0, 1);
        for (number, length) in [0, 0, 1].into_iter().enumerate() {
            let received = pair.b.received();
            assert_eq!((received.length(), received.segments()[0].offset), (length, number as u64 * 100), "{level}");
            assert_eq!(received.segments().first().map(|segment: &Segment| segment.length), Some(100));
        }
        assert_eq!(pair.b.bytes(0, 200), [GUARD; 200]);
        assert_eq!(pair.b.bytes(200, 2), [1, GUARD]);
        settle();
        assert!(drain(&mut pair.b.vi.receive).is_empty());
        for _ in 0..3 {
            well(pair.a.sent());
        }
    }
    if !run.lacks(MissingFeature::Level(Reliability::Unreliable)) {
        let mut pair = run.pair(Reliability::Unreliable);
        pair.b.receive(0, 100);
        crate::ends::until("an empty datagram arrives", || {
            pair.a.vi.send.post(Descriptor::send()).expect("a send needs no segment");
            pair.a.sent();
            pair.b.vi.receive.wait(crate::ends::within_ms(100)).is_ok_and(|receive| well(receive).length() == 0)
        });
    }
}
