//! Statements 7 to 12: how the owner of a VI learns of completions.

use crate::ends::{LATE, Plan, drain, entry, next, pattern, timed, until, well, within_ms};
use crate::{MissingFeature, Run, Side, soon};
use obvia_via::{Completion, Deadline, Descriptor, Error, PostFault, Queue, State, Status, Waiting};
use std::collections::HashMap;
use std::time::Duration;

/// 7. Under every wait policy, a call that only looks for a completion returns at once. A wait
///    without a completion returns at its deadline and not before.
pub fn s07_poll_never_blocks(run: &Run) {
    let level = run.reliable_levels()[0];
    for waiting in [Waiting::Poll, Waiting::Block, Waiting::Adaptive] {
        let mut pair = run.pair_by(&Plan { waiting, ..Plan::of(level) });
        let mut queue = pair.b.nic.completion_queue(4).with_waiting(waiting);
        pair.b.receive(0, 100);
        let sleeps = sleeps_of_this_thread();
        let found = {
            (0..1000)
                .filter(|_| {
                    pair.b.vi.receive.done().is_some()
                        || pair.b.vi.send.done().is_some()
                        || queue.done().expect("nothing is wrong with it").is_some()
                })
                .count()
        };
        assert_eq!(found, 0);
        // Some of the calls wait for the lock of the VI, which the NIC's thread holds now and then.
        let slept = sleeps_of_this_thread() - sleeps;
        assert!(slept < 500, "in a thousand looks it slept {slept} times");
        let is_late = |took: Duration| took > LATE;
        let (outcome, took) = timed(|| pair.b.vi.receive.wait(Deadline::Within(Duration::ZERO)));
        assert!(matches!(outcome, Err(Error::TimedOut)) && !is_late(took), "{outcome:?} after {took:?}");
        let (outcome, took) = timed(|| pair.b.vi.receive.wait(within_ms(120)));
        assert!(matches!(outcome, Err(Error::TimedOut)), "{outcome:?}");
        assert!(took >= Duration::from_millis(120) && !is_late(took), "{took:?}");
        let (outcome, took) = timed(|| queue.wait(within_ms(120)));
        assert!(matches!(outcome, Err(Error::TimedOut)), "{outcome:?}");
        assert!(took >= Duration::from_millis(120) && !is_late(took), "{took:?}");
        // The receiving VI still works.
        pair.a.send(0, 10);
        assert_eq!(pair.b.received().length(), 10);
    }
}

/// Returns the number of times that this thread has given up its processor to wait.
fn sleeps_of_this_thread() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("the system says how threads are");
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).expect("it counts them")
}

/// 8. A wait on one VI is not ended by completions on another VI of the same NIC.
pub fn s08_waits_return_completions_of_their_own_vi(run: &Run) {
    let level = run.reliable_levels()[0];
    for waiting in [Waiting::Block, Waiting::Adaptive] {
        let plan = Plan { waiting, ..Plan::of(level) };
        let mut busy = run.pair_by(&plan);
        let mut quiet = crate::ends::Pair {
            a: run.end_of(&busy.a.nic, &plan, None, None),
            b: run.end_of(&busy.b.nic, &plan, None, None),
        };
        run.connect(&mut quiet);
        quiet.b.receive(0, 100);
        std::thread::scope(|scope| {
            let receive = &mut quiet.b.vi.receive;
            let waiter = scope.spawn(move || timed(|| receive.wait(within_ms(400))));
            let mut seed = 0;
            while !waiter.is_finished() {
                busy.check_both(seed);
                seed += 2;
            }
            assert!(seed > 2, "the other VI was busy meanwhile");
            let (outcome, took) = waiter.join().expect("waiting does not panic");
            assert!(matches!(outcome, Err(Error::TimedOut)), "{outcome:?}");
            assert!(took >= Duration::from_millis(400), "{took:?}");
        });
        quiet.a.send(0, 7);
        assert_eq!(quiet.b.received().length(), 7);
    }
}

/// 9. A completion queue has exactly one entry for every completion. The entry names the VI and the
///    work queue of the completion. Entries of one work queue are in order.
pub fn s09_completion_queues_report_each_completion_once(run: &Run) {
    const VIS: usize = 3;
    const EACH: usize = 20;
    for level in run.reliable_levels() {
        let plan = Plan::of(level);
        let nic = run.fixture.nic(Side::Server);
        let asking = run.fixture.nic(Side::Client);
        let mut queue = nic.completion_queue(1024);
        let mut pairs: Vec<_> = (0..VIS)
            .map(|_| crate::ends::Pair {
                a: run.end_of(&asking, &plan, None, None),
                b: run.end_of(&nic, &plan, Some(&queue), Some(&queue)),
            })
            .collect();
        for pair in &mut pairs {
            run.connect(pair);
            for number in 0..EACH {
                pair.b.receive(number * 1000, 1000);
                pair.a.receive(number * 1000, 1000);
            }
        }
        for number in 0..EACH {
            for pair in &mut pairs {
                pair.a.send(0, number);
                pair.b.send(0, number);
            }
        }
        let mut seen: HashMap<Completion, usize> = HashMap::new();
        for _ in 0..VIS * EACH * 2 {
            let entry = entry(&mut queue);
            let pair = pairs.iter_mut().find(|pair| pair.b.vi.id() == entry.vi).expect("it names a VI that it serves");
            let queue = match entry.queue {
                Queue::Send => &mut pair.b.vi.send,
                Queue::Receive => &mut pair.b.vi.receive,
            };
            let descriptor = well(queue.done().expect("an entry has its descriptor"));
            let count = seen.entry(entry).or_default();
            assert_eq!(descriptor.length() as usize, *count, "{level}: entries of one queue are in order");
            *count += 1;
        }
        assert_eq!(seen.len(), VIS * 2);
        assert!(seen.values().all(|count| *count == EACH), "{seen:?}");
        crate::ends::settle();
        assert!(matches!(queue.done(), Ok(None)), "each completion has one entry");
        for pair in &mut pairs {
            assert!(drain(&mut pair.b.vi.send).is_empty() && drain(&mut pair.b.vi.receive).is_empty());
        }
    }
}

/// 10. The two work queues of a VI can use different completion queues or the same one, and a work
///     queue can have no completion queue.
pub fn s10_each_work_queue_has_its_own_completion_queue(run: &Run) {
    let plan = Plan::of(run.reliable_levels()[0]);
    let nic = run.fixture.nic(Side::Server);
    let (mut one, mut other) = (nic.completion_queue(64), nic.completion_queue(64));
    for (send_to, receive_to) in [(Some(0), Some(1)), (Some(0), Some(0)), (None, Some(1)), (Some(1), None)] {
        let b = {
            let pick = |which: Option<i32>| which.map(|which| if which == 0 { &one } else { &other });
            run.end_of(&nic, &plan, pick(send_to), pick(receive_to))
        };
        let mut pair = crate::ends::Pair { a: run.end(Side::Client, &plan), b };
        run.connect(&mut pair);
        let id = pair.b.vi.id();
        pair.b.receive(0, 100);
        pair.a.send(0, 10);
        for (queue, announced) in [(Queue::Receive, receive_to), (Queue::Send, send_to)] {
            if queue == Queue::Send {
                pair.a.receive(0, 100);
                pair.b.send(0, 10);
            }
            let work = if queue == Queue::Send { &mut pair.b.vi.send } else { &mut pair.b.vi.receive };
            match announced {
                None => drop(well(next(work))),
                Some(which) => {
                    let told = entry(if which == 0 { &mut one } else { &mut other });
                    assert_eq!(told, Completion { vi: id, queue });
                    let refused = work.wait(within_ms(10));
                    assert!(matches!(refused, Err(Error::BadState { .. })), "its wait is the queue's: {refused:?}");
                    well(work.done().expect("an entry has its descriptor"));
                }
            }
        }
        assert!(matches!((one.done(), other.done()), (Ok(None), Ok(None))));
    }
}

/// 11. A full completion queue reports once that it missed completions. No completed descriptor is
///     lost: the descriptors are in their VIs' queues.
pub fn s11_a_full_completion_queue_reports_the_overflow(run: &Run) {
    let plan = Plan::of(run.reliable_levels()[0]);
    let nic = run.fixture.nic(Side::Server);
    let mut queue = nic.completion_queue(2);
    let b = run.end_of(&nic, &plan, None, Some(&queue));
    let mut pair = crate::ends::Pair { a: run.end(Side::Client, &plan), b };
    run.connect(&mut pair);
    for round in 0..3 {
        for number in 0..5 {
            pair.b.receive(number * 100, 100);
        }
        for number in 0..5 {
            pair.a.set(0, &pattern(round, 100));
            pair.a.send(0, 20 + number);
        }
        until("all five are received", || {
            assert_eq!(pair.b.vi.state(), State::Connected);
            pair.b.vi.receive.posted() == 0
        });
        let id = pair.b.vi.id();
        for _ in 0..2 {
            assert_eq!(entry(&mut queue), Completion { vi: id, queue: Queue::Receive });
        }
        let missed = if round == 0 { queue.wait(soon()).err() } else { queue.done().err() };
        assert!(matches!(missed, Some(Error::Overflow { missed: 3 })), "{missed:?}");
        assert!(matches!(queue.done(), Ok(None)), "it is said once");
        let lengths: Vec<_> = drain(&mut pair.b.vi.receive).into_iter().map(|receive| well(receive).length()).collect();
        assert_eq!(lengths, [20, 21, 22, 23, 24]);
        for _ in 0..5 {
            pair.a.sent();
        }
    }
}

/// 12. Receives can be posted before a VI is connected, and are used once the VI is connected. Any
///     other descriptor completes with an error if it is posted before the VI is connected.
pub fn s12_idle_vis_accept_receives_and_fail_sends(run: &Run) {
    for level in run.reliable_levels() {
        let plan = Plan::of(level);
        let mut pair = crate::ends::Pair { a: run.end(Side::Client, &plan), b: run.end(Side::Server, &plan) };
        for (number, end) in [&mut pair.a, &mut pair.b].into_iter().enumerate() {
            assert_eq!(end.vi.state(), State::Idle);
            for receive in 0..3 {
                end.receive(receive * 100, 100);
            }
            end.send_as(Descriptor::send().with_context(5), 0, 10);
            let failed = next(&mut end.vi.send);
            assert_eq!(
                (failed.status(), failed.length(), failed.context),
                (Status::NotConnected, 0, 5),
                "end {number}"
            );
            let nowhere = crate::ends::place(&end.area, 0);
            let write = Descriptor::rdma_write(nowhere).with_segment(&end.area, 0, 10);
            match end.vi.send.post(write) {
                Ok(()) => assert_eq!(next(&mut end.vi.send).status(), Status::NotConnected),
                Err(error) => {
                    assert!(run.lacks(MissingFeature::RdmaWrite) && error.fault == PostFault::Unsupported, "{error:?}")
                }
            }
            assert_eq!(end.vi.receive.posted(), 3, "receives stay posted");
            assert!(end.vi.receive.done().is_none());
        }
        run.connect(&mut pair);
        for asks_sends in [true, false] {
            let crate::ends::Pair { a, b } = &mut pair;
            let (from, to) = if asks_sends { (a, b) } else { (b, a) };
            for number in 0..3 {
                let bytes = pattern(number, 90);
                from.set(2000, &bytes);
                from.send(2000, 90);
                let received = to.received();
                assert_eq!((received.length(), received.segments()[0].offset), (90, number * 100), "{level}");
                assert_eq!(to.bytes(number as usize * 100, 90), bytes);
                from.sent();
            }
        }
    }
}
