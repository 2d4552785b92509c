//! Statements 46 to 50: threads, many VIs and much data.

use crate::ends::{AREA, Pair, Plan, drain, next, pattern, place, settle, until, well};
use crate::{Run, Side, soon, wanted};
use obvia_via::{Deadline, Descriptor, Operation, Queue, State, Vi, Waiting, WorkQueue};
use std::time::Duration;

/// 46. The two queues of a VI may belong to two threads, which need no lock. The language prevents
///     two threads from sharing one queue, because posting and taking borrow the queue mutably.
pub fn s46_each_work_queue_can_have_its_own_thread(run: &Run) {
    const COUNT: usize = 600;
    const POSTED: usize = 16;
    // Queues can be sent to a thread, and the methods' types prevent two threads from sharing a
    // queue.
    fn goes_to_a_thread<T: Send>() {}
    goes_to_a_thread::<Vi>();
    goes_to_a_thread::<WorkQueue>();
    let _: fn(&mut WorkQueue, Box<Descriptor>) -> Result<(), obvia_via::PostError> = WorkQueue::post;
    let _: fn(&mut WorkQueue) -> Option<Box<Descriptor>> = WorkQueue::done;
    for (level, waiting) in
        run.reliable_levels().into_iter().flat_map(|level| [(level, Waiting::Block), (level, Waiting::Adaptive)])
    {
        let mut pair = run.pair_by(&Plan { waiting, ..Plan::of(level) });
        for number in 0..POSTED {
            for end in [&mut pair.a, &mut pair.b] {
                end.receive(number * 4096, 4096);
                let bytes = pattern(number as u64, 4096);
                end.set(AREA / 2 + number * 4096, &bytes);
            }
        }
        // The number of receives that each side has posted so far. The sender on the other side
        // sends no more messages than this.
        let room = [std::sync::atomic::AtomicUsize::new(POSTED), std::sync::atomic::AtomicUsize::new(POSTED)];
        let order = std::sync::atomic::Ordering::SeqCst;
        std::thread::scope(|scope| {
            for (at, end) in [&mut pair.a, &mut pair.b].into_iter().enumerate() {
                let (area, room) = (&end.area, &room);
                let (send, receive) = end.vi.queues();
                scope.spawn(move || {
                    for number in 0..COUNT {
                        until("the receiver has room", || room[1 - at].load(order) > number);
                        let from = (AREA / 2 + number % POSTED * 4096) as u64;
                        let descriptor = Descriptor::send().with_segment(area, from, 1 + (number * 37 % 4096) as u32);
                        send.post(descriptor.with_immediate(number as u32)).expect("it can be posted");
                        if number % 8 == 7 {
                            (0..8).for_each(|_| drop(well(next(send))));
                        }
                    }
                });
                scope.spawn(move || {
                    for number in 0..COUNT {
                        let received = well(next(receive));
                        let length = 1 + number * 37 % 4096;
                        assert_eq!((received.immediate(), received.length() as usize), (Some(number as u32), length));
                        let bytes = crate::ends::read(area, number % POSTED * 4096, length);
                        assert!(bytes == pattern((number % POSTED) as u64, 4096)[..length], "message {number}");
                        receive.post(received).expect("it can be posted again");
                        room[at].fetch_add(1, order);
                    }
                });
            }
        });
        assert_eq!((pair.a.vi.state(), pair.b.vi.state()), (State::Connected, State::Connected));
    }
}

/// 47. A sender that is faster than its receiver is held back. As long as receives are posted, no
///     message is dropped and no connection breaks, however late the receiver takes the messages.
///     Both sides go on afterwards.
pub fn s47_fast_senders_do_not_overrun_slow_receivers(run: &Run) {
    const COUNT: usize = 100;
    for level in run.reliable_levels() {
        let length = (run.fixture.nic(Side::Client).attributes().max_transfer as usize).min(32 << 10);
        let mut pair = run.pair_by(&Plan { area: COUNT * length, ..Plan::of(level) });
        let count = COUNT.min(pair.a.nic.attributes().queue_depth);
        for round in 0..3 {
            let bytes = pattern(round, count * length);
            pair.a.set(0, &bytes);
            pair.b.set(0, &vec![0; count * length]);
            for number in 0..count {
                pair.b.receive(number * length, length);
            }
            for number in 0..count {
                pair.a.send(number * length, length);
            }
            std::thread::sleep(Duration::from_millis(150));
            for _ in 0..count {
                assert_eq!(pair.b.received().length() as usize, length, "{level}");
            }
            assert!(pair.b.bytes(0, count * length) == bytes, "{level}: round {round}");
            for _ in 0..count {
                pair.a.sent();
            }
        }
        pair.check_both(47);
    }
}

/// 48. Many VIs on one completion queue all make progress. Although every VI always has work, none
///     gets much less service than the others. `OBVIA_CONFORMANCE_VIS` sets the number of VIs.
pub fn s48_many_vis_are_served_fairly(run: &Run) {
    const ROUNDS: usize = 12;
    let vis = wanted("OBVIA_CONFORMANCE_VIS").unwrap_or(64);
    let plan = Plan { area: 4096, ..Plan::of(run.reliable_levels()[0]) };
    let (asking, listening) = (run.fixture.nic(Side::Client), run.fixture.nic(Side::Server));
    let mut queue = listening.completion_queue(vis * 8);
    let mut pairs: Vec<_> = (0..vis)
        .map(|_| {
            let b = run.end_of(&listening, &plan, None, Some(&queue));
            let mut pair = Pair { a: run.end_of(&asking, &plan, None, None), b };
            run.connect(&mut pair);
            pair
        })
        .collect();
    let places: std::collections::HashMap<_, _> =
        pairs.iter().enumerate().map(|(at, pair)| (pair.b.vi.id(), at)).collect();
    for pair in &mut pairs {
        (0..4).for_each(|_| pair.b.receive(0, 64));
    }
    for pair in &mut pairs {
        (0..2).for_each(|_| pair.a.send(0, 64));
    }
    let mut counts = vec![0_usize; vis];
    // Only fairness is tested here. The speed with many connections depends on the
    // machine, so the deadline is late.
    let deadline = Deadline::after_secs(400).start();
    let mut total = 0;
    // A wire may hold some VIs back for a while. Only the other VIs have work then, so the test
    // goes on until the counts are fair. On a steady wire, each VI must get a quarter of the
    // average, after at most `8 * vis * ROUNDS` entries in all. On another wire, each VI must get
    // `ROUNDS / 4` entries, after any number of entries in all.
    let is_fair = |counts: &[usize], total: usize| {
        let wanted = if run.is_steady { total / vis } else { ROUNDS } / 4;
        counts.iter().all(|count| *count >= wanted)
    };
    let most = if run.is_steady { 8 * vis * ROUNDS } else { usize::MAX };
    while total < vis * ROUNDS || !is_fair(&counts, total) && total < most {
        let entry = match queue.wait(deadline) {
            Ok(entry) if !deadline.is_over() => entry,
            other => panic!("{other:?} after {total}: {counts:?}"),
        };
        total += 1;
        assert_eq!(entry.queue, Queue::Receive);
        let at = places[&entry.vi];
        let Pair { a, b } = &mut pairs[at];
        let received = well(b.vi.receive.done().expect("an entry has its descriptor"));
        b.vi.receive.post(received).expect("it can be posted again");
        counts[at] += 1;
        drain(&mut a.vi.send);
        a.send(0, 64);
    }
    assert!(is_fair(&counts, total), "{counts:?}");
}

/// 49. Much data goes through one connection and arrives as it was sent. By default the test sends
///     some megabytes. The variable `OBVIA_CONFORMANCE_BYTES` sets another number of bytes. The
///     test `s49_ten_gigabytes` sends ten gigabytes.
pub fn s49_large_volumes_of_data_arrive_unchanged(run: &Run) {
    volume(run, wanted_bytes().unwrap_or(24_000_000));
}

fn wanted_bytes() -> Option<u64> {
    wanted("OBVIA_CONFORMANCE_BYTES")
}

/// Returns the number of bytes in the full test of statement 49.
pub fn full_volume() -> u64 {
    wanted_bytes().unwrap_or(10_000_000_000)
}

/// Returns the volume, the time and the rate of the full test, as text for its output.
pub fn rate(took: Duration) -> String {
    let (bytes, seconds) = (full_volume() as f64, took.as_secs_f64());
    format!("{:.1} GB verified in {seconds:.1} s, {:.0} MB/s", bytes / 1e9, bytes / 1e6 / seconds)
}

/// Sends `bytes` bytes through one connection, each message with different contents.
pub fn volume(run: &Run, bytes: u64) {
    const POSTED: u64 = 16;
    let length = run.fixture.nic(Side::Client).attributes().max_transfer.min(64 << 10);
    let area = length as usize * POSTED as usize;
    let level = *run.reliable_levels().last().expect("there is one");
    let mut pair = run.pair_by(&Plan { area, ..Plan::of(level) });
    let messages = bytes.div_ceil(u64::from(length));
    let base = pattern(49, length as usize);
    // The contents of a message are cheap to make. Each block of 64 bytes differs from the same
    // block of every other message.
    let stamped = |number: u64, buffer: &mut Vec<u8>| {
        buffer.clone_from(&base);
        for (at, eight) in buffer.chunks_exact_mut(8).enumerate().step_by(8) {
            eight.copy_from_slice(&(number ^ ((at as u64) << 48)).to_le_bytes());
        }
    };
    let (mut expected, mut found, mut outgoing) = (Vec::new(), vec![0; length as usize], Vec::new());
    for number in 0..POSTED {
        pair.b.receive((number * u64::from(length)) as usize, length as usize);
    }
    let (mut sent, mut completed, mut received) = (0, 0, 0);
    let mut stuck = soon().start();
    while received < messages || completed < messages {
        let before = (sent, completed, received);
        // A message is sent only if it has a posted receive, and if the earlier send from its place
        // in the sender's memory is complete.
        if sent < messages && sent < received + POSTED && sent < completed + POSTED {
            stamped(sent, &mut outgoing);
            let at = (sent % POSTED * u64::from(length)) as usize;
            pair.a.set(at, &outgoing);
            pair.a.send(at, length as usize);
            sent += 1;
        }
        while let Some(done) = pair.a.vi.send.done() {
            well(done);
            completed += 1;
        }
        while let Some(message) = pair.b.vi.receive.done() {
            let message = well(message);
            stamped(received, &mut expected);
            pair.b.area.memory().read(message.segments()[0].offset, &mut found).expect("it is inside");
            assert!(message.length() == length && found == expected, "message {received} of {messages}");
            pair.b.vi.receive.post(message).expect("it can be posted again");
            received += 1;
        }
        if before == (sent, completed, received) {
            assert!(!stuck.is_over(), "stuck: {sent} sent, {completed} complete, {received} received");
            std::thread::yield_now();
        } else {
            stuck = soon().start();
        }
    }
}

/// 50. The same work has the same results with every pair of wait policies of the two owners.
pub fn s50_all_waiting_modes_have_the_same_effects(run: &Run) {
    let ways = [Waiting::Poll, Waiting::Block, Waiting::Adaptive];
    let level = run.reliable_levels()[0];
    let mut expected: Option<Vec<Seen>> = None;
    for (asks, listens) in ways.into_iter().flat_map(|one| ways.map(|other| (one, other))) {
        let a = run.end(Side::Client, &Plan { waiting: asks, ..Plan::of(level) });
        let b = run.end(Side::Server, &Plan { waiting: listens, ..Plan::of(level) });
        let mut pair = Pair { a, b };
        run.connect(&mut pair);
        let seen = conversation(run, &mut pair);
        assert!(seen.len() > 40);
        match &expected {
            None => expected = Some(seen),
            Some(expected) => assert!(seen == *expected, "{asks:?} and {listens:?} give something else"),
        }
    }
}

/// The fields of a completion, and the bytes in the descriptor's first segment.
type Seen = (Operation, obvia_via::Status, u32, Option<u32>, u64, Vec<u8>);

/// Exchanges messages, with pauses in which both sides fall asleep, and ends with an error.
fn conversation(run: &Run, pair: &mut Pair) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut note = |end: &crate::ends::End, descriptor: Box<Descriptor>| {
        let at = descriptor.segments().first().map_or(0, |segment| segment.offset as usize);
        let bytes = end.bytes(at, descriptor.length() as usize);
        let said = (descriptor.operation(), descriptor.status(), descriptor.length(), descriptor.immediate());
        seen.push((said.0, said.1, said.2, said.3, descriptor.context, bytes));
    };
    for round in 0..10_u32 {
        let length = [10, 3000, 0, 40_000][round as usize % 4];
        pair.a.set(0, &pattern(u64::from(round), length));
        pair.b.receive(100_000, 50_000);
        pair.a.receive(100_000, 50_000);
        let Pair { a, b } = pair;
        let all = std::thread::scope(|scope| {
            let answer = scope.spawn(|| {
                let question = next(&mut b.vi.receive);
                if round == 9 {
                    settle();
                }
                let bytes: Vec<_> = b.bytes(100_000, length).into_iter().map(|byte| !byte).collect();
                b.set(200_000, &bytes);
                b.send(200_000, length);
                (question, next(&mut b.vi.send))
            });
            if round == 2 {
                settle();
            }
            a.send_as(Descriptor::send().with_immediate(round).with_context(u64::from(round)), 0, length);
            let (sent, answered) = (next(&mut a.vi.send), next(&mut a.vi.receive));
            // The calls of `done` find no completion. They make the VI acknowledge the answer
            // immediately.
            until("the answer is complete", || a.vi.receive.done().is_none() && answer.is_finished());
            (sent, answered, answer.join().expect("answering does not panic"))
        });
        let (sent, answered, (question, sent_back)) = all;
        [sent, answered].into_iter().for_each(|one| note(&pair.a, one));
        [question, sent_back].into_iter().for_each(|one| note(&pair.b, one));
        if run.access().write {
            pair.b.receive(0, 8);
            pair.a.send_as(Descriptor::rdma_write(place(&pair.b.area, 300_000)).with_immediate(round), 0, length);
            let noticed = next(&mut pair.b.vi.receive);
            let sent = next(&mut pair.a.vi.send);
            assert!(pair.b.bytes(300_000, length) == pattern(u64::from(round), length));
            note(&pair.a, sent);
            seen_length(&noticed, length);
        }
    }
    pair.b.receive(0, 50);
    pair.a.vi.disconnect();
    let flushed = next(&mut pair.b.vi.receive);
    note(&pair.b, flushed);
    seen
}

fn seen_length(descriptor: &Descriptor, length: usize) {
    assert_eq!(descriptor.length() as usize, length);
}
