//! Statements 33 and 35 to 39: the promises of the reliability levels, and the effects of errors.

use crate::ends::{AREA, Pair, Plan, drain, next, pattern, place, settle, until, well, within_ms};
use crate::{MissingFeature, Run, Side};
use obvia_via::{Descriptor, Ended, Error, Reliability, RemoteAddress, State, Status, ViAttributes};

const LEVELS: [Reliability; 3] =
    [Reliability::Unreliable, Reliability::ReliableDelivery, Reliability::ReliableReception];

/// 33. VIs of different reliability levels are not connected: both sides get the reason, and both
///     VIs stay idle and usable. A level that the provider lacks is refused when the VI is made.
pub fn s33_reliability_levels_must_agree(run: &Run) {
    let (asking, listening) = (run.fixture.nic(Side::Client), run.fixture.nic(Side::Server));
    let (has, lacks): (Vec<_>, Vec<_>) =
        LEVELS.into_iter().partition(|level| !run.lacks(MissingFeature::Level(*level)));
    assert!(has.iter().all(|level| asking.attributes().reliability.contains(level)));
    for reliability in lacks {
        assert!(!asking.attributes().reliability.contains(&reliability));
        let attributes = ViAttributes { reliability, ..ViAttributes::default() };
        let refused = asking.vi(attributes, &asking.protection_tag(), None, None);
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    }
    for one in &has {
        for other in has.iter().filter(|other| *other != one) {
            let mut a = run.end_of(&asking, &Plan::of(*one), None, None);
            let mut b = run.end_of(&listening, &Plan::of(*other), None, None);
            let (asked, accepted) = run.try_connect(&mut a.vi, &listening, &mut b.vi);
            for refused in [asked.map(drop), accepted] {
                let Err(Error::Refused { why }) = refused else { panic!("{one} with {other}: {refused:?}") };
                assert!(why.contains(&one.to_string()) && why.contains(&other.to_string()), "{why:?}");
            }
            assert_eq!((a.vi.state(), b.vi.state()), (State::Idle, State::Idle));
            let mut pair = Pair { a, b: run.end_of(&listening, &Plan::of(*one), None, None) };
            run.connect(&mut pair);
            if one.is_reliable() {
                pair.check(33);
            }
        }
    }
}

/// 35. With reliable reception, a send or an RDMA write is complete only when its bytes are in the
///     target's memory.
pub fn s35_reliable_reception_completes_after_the_data_is_in_memory(run: &Run) {
    if run.lacks(MissingFeature::Level(Reliability::ReliableReception)) {
        return s33_reliability_levels_must_agree(run);
    }
    let mut pair = run.pair(Reliability::ReliableReception);
    for round in 0..60 {
        let length = [100, 50_000, 4000][round % 3];
        let bytes = pattern(round as u64, length);
        pair.a.set(0, &bytes);
        pair.b.set(0, &vec![0; 200_000]);
        pair.b.receive(100_000, 60_000);
        pair.a.send(0, length);
        // The test does not call the target's VI before the send has completed at the sender.
        well(next(&mut pair.a.vi.send));
        assert!(pair.b.bytes(100_000, length) == bytes, "round {round}: the send was complete too early");
        pair.b.received();
        if !run.lacks(MissingFeature::RdmaWrite) {
            pair.a.send_as(Descriptor::rdma_write(place(&pair.b.area, 0)), 0, length);
            well(next(&mut pair.a.vi.send));
            assert!(pair.b.bytes(0, length) == bytes, "round {round}: the RDMA write was complete too early");
        }
    }
}

/// 36. Unreliable delivery delivers a message at most once and as it was sent, over any wire. A
///     message that is lost, or that finds no receive, is dropped without a report, and the
///     connection goes on.
pub fn s36_unreliable_messages_arrive_at_most_once(run: &Run) {
    if run.lacks(MissingFeature::Level(Reliability::Unreliable)) {
        return s33_reliability_levels_must_agree(run);
    }
    const COUNT: u32 = 300;
    let mut pair = run.pair(Reliability::Unreliable);
    // Without a receive, the messages are dropped.
    for _ in 0..5 {
        pair.a.send(0, 100);
        pair.a.sent();
    }
    settle();
    assert_eq!((pair.a.vi.state(), pair.b.vi.state()), (State::Connected, State::Connected));
    assert!(drain(&mut pair.b.vi.receive).is_empty());
    if let Some(wire) = run.fixture.wire() {
        wire.disturb(super::loss::BAD);
    }
    let most = (pair.a.vi.max_transfer() as usize).min(3000);
    for number in 0..8 {
        pair.b.receive(number * 4096, 4096);
    }
    let mut seen = vec![false; COUNT as usize];
    let mut take = |pair: &mut Pair| {
        while let Some(receive) = pair.b.vi.receive.done() {
            let receive = well(receive);
            let number = receive.immediate().expect("each message has its number") as usize;
            assert!(!std::mem::replace(&mut seen[number], true), "message {number} came twice");
            let length = 1 + number * 97 % most;
            let at = receive.segments()[0].offset as usize;
            assert_eq!(receive.length() as usize, length, "message {number}");
            assert!(
                pair.b.bytes(at, length) == pattern(number as u64, length),
                "message {number} is not as it was sent"
            );
            pair.b.vi.receive.post(receive).expect("a receive can be posted again");
        }
        seen.iter().filter(|seen| **seen).count()
    };
    let mut arrived = 0;
    for number in 0..COUNT {
        let length = 1 + number as usize * 97 % most;
        pair.a.set(0, &pattern(u64::from(number), length));
        pair.a.send_as(Descriptor::send().with_immediate(number), 0, length);
        pair.a.sent();
        // The next message is sent only when this one has arrived, so that it finds a posted
        // receive even if the provider is slow. The wait has a limit, because a message may be
        // lost, and a loss is not reported.
        let (before, given_up) = (arrived, within_ms(5).start());
        while arrived == before && !given_up.is_over() {
            arrived = take(&mut pair);
        }
    }
    settle();
    let arrived = take(&mut pair);
    assert!(arrived >= COUNT as usize / 4, "only {arrived} of {COUNT} arrived");
    assert_eq!((pair.a.vi.state(), pair.b.vi.state()), (State::Connected, State::Connected));
}

/// 37. A message without a receive descriptor ends a reliable connection, with that reason at both
///     ends.
pub fn s37_messages_without_a_receive_break_reliable_connections(run: &Run) {
    for level in run.reliable_levels() {
        for length in [0, 10, 60_000] {
            let mut pair = run.pair(level);
            pair.check(37);
            pair.a.receive(0, 10);
            pair.a.send(0, length);
            pair.a.send(0, 1);
            assert_eq!(pair.b.ended(), Ended::ReceiverNotReady, "{level}");
            assert_eq!(pair.a.ended(), Ended::ReceiverNotReady, "{level}");
            let sent = next(&mut pair.a.vi.send).status();
            let may_be_done = level == Reliability::ReliableDelivery && sent == Status::Done;
            assert!(sent == Status::ReceiverNotReady || may_be_done, "{level}: {sent:?}");
            assert_eq!(next(&mut pair.a.vi.receive).status(), Status::Flushed);
            // A receive that is posted now is too late.
            pair.b.receive(0, 100);
            let late = next(&mut pair.b.vi.receive);
            assert_eq!((late.status(), late.length()), (Status::Flushed, 0), "{level}");
            assert!(drain(&mut pair.b.vi.receive).is_empty());
        }
    }
}

/// 38. After an error the VI is broken. Its posted descriptors, and those that are posted later,
///     complete as flushed, in order. A wait for a completion that cannot come ends at once.
pub fn s38_errors_flush_descriptors_in_order(run: &Run) {
    for level in run.reliable_levels() {
        let mut pair = run.pair(level);
        for context in 0..10 {
            for end in [&mut pair.a, &mut pair.b] {
                let receive = Descriptor::receive().with_segment(&end.area, 0, 64).with_context(context);
                end.vi.receive.post(receive).expect("it can be posted");
            }
        }
        // The first message is too long for the first receive.
        for context in 0..10 {
            pair.a.send_as(Descriptor::send().with_context(context), 0, 65 + context as usize);
        }
        pair.a.ended();
        pair.b.ended();
        for context in 10..15 {
            for end in [&mut pair.a, &mut pair.b] {
                end.send_as(Descriptor::send().with_context(context), 0, 10);
                end.vi.receive.post(Descriptor::receive().with_context(context)).expect("it is flushed later");
            }
        }
        let mut flushed = 0;
        for context in 0..15 {
            let sent = next(&mut pair.a.vi.send);
            assert_eq!(sent.context, context, "{level}: sends are flushed in order");
            flushed += u32::from(sent.status() == Status::Flushed);
            // A message that was already on its way may have completed as done, but only if no
            // earlier message was flushed.
            assert!(flushed == 0 || sent.status() == Status::Flushed, "{level}: {:?} after a flush", sent.status());
            let received = next(&mut pair.b.vi.receive);
            let expected = if context == 0 { Status::TooLong } else { Status::Flushed };
            assert_eq!((received.context, received.status(), received.length()), (context, expected, 0), "{level}");
            let received = next(&mut pair.a.vi.receive);
            assert_eq!((received.context, received.status()), (context, Status::Flushed), "{level}");
        }
        for context in 10..15 {
            let sent = next(&mut pair.b.vi.send);
            assert_eq!((sent.context, sent.status()), (context, Status::Flushed), "{level}");
        }
        for end in [&mut pair.a, &mut pair.b] {
            for queue in [&mut end.vi.send, &mut end.vi.receive] {
                let nothing = queue.wait(within_ms(5000));
                let is_over = matches!(nothing, Err(Error::Disconnected { why: Ended::TooLong, .. }));
                assert!(is_over, "{level}: {nothing:?}");
            }
            end.vi.disconnect();
            assert_eq!(end.vi.state(), State::Idle);
        }
    }
}

/// 39. With reliable reception, no descriptor that was posted after the failed one is performed.
pub fn s39_no_operation_behind_an_error_is_performed(run: &Run) {
    if run.lacks(MissingFeature::Level(Reliability::ReliableReception)) {
        return s33_reliability_levels_must_agree(run);
    }
    let mut pair = run.pair(Reliability::ReliableReception);
    if run.lacks(MissingFeature::RdmaWrite) {
        pair.b.receive(0, 10);
        pair.b.receive(100, 10);
        pair.a.set(0, &[7; 100]);
        pair.a.send(0, 50);
        pair.a.send(0, 10);
    } else {
        pair.a.set(0, &pattern(1, 50_000));
        pair.b.receive(400_000, 100);
        let to = |offset| Descriptor::rdma_write(RemoteAddress { offset, ..place(&pair.b.area, 0) });
        let writes = [to(0), to(AREA as u64 * 100), to(100_000), to(200_000).with_immediate(1)];
        for write in writes {
            pair.a.send_as(write, 0, 50_000);
        }
        pair.a.send(0, 100);
        assert_eq!(next(&mut pair.a.vi.send).status(), Status::Done);
        assert!(pair.b.bytes(0, 50_000) == pattern(1, 50_000), "what is before it is done");
    }
    let failed = next(&mut pair.a.vi.send).status();
    assert!(matches!(failed, Status::RemoteProtection | Status::TooLong), "{failed:?}");
    pair.b.ended();
    until("everything else is flushed", || pair.a.vi.send.posted() == 0);
    assert!(drain(&mut pair.a.vi.send).iter().all(|descriptor| descriptor.status() == Status::Flushed));
    settle();
    assert!(pair.b.bytes(50_000, 350_000) == vec![0; 350_000], "something behind the error was written");
    assert!(drain(&mut pair.b.vi.receive).iter().all(|receive| !receive.status().is_done()));
    assert_eq!(pair.b.bytes(400_000, 1000), [0; 1000]);
}
