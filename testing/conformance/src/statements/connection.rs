//! Statements 40 to 42 and 44: making and ending connections.

use crate::ends::{LATE, Pair, Plan, drain, next, settle, timed, until, within_ms};
use crate::{Run, Side, soon};
use obvia_via::spi::Offer;
use obvia_via::{Descriptor, Ended, Error, PostFault, State, Status};
use std::time::Duration;

/// 40. A connection is requested, and accepted or rejected. A request for an address without a
///     listener fails, at the latest at its deadline. A request that the listener does not answer
///     ends at its deadline. Both sides exchange private data.
pub fn s40_connections_are_requested_and_accepted_or_rejected(run: &Run) {
    let plan = Plan::of(run.reliable_levels()[0]);
    let mut pair = Pair { a: run.end(Side::Client, &plan), b: run.end(Side::Server, &plan) };
    let discriminator = run.fixture.discriminator();
    let mut listener = pair.b.nic.listen(&discriminator).expect("the discriminator is free");
    let address = run.fixture.address(&listener);
    let again = run.fixture.nic(Side::Server).listen(&discriminator);
    // A discriminator such as "any" leaves the choice of an address to the provider. Two listeners
    // then get two addresses.
    assert!(again.as_ref().map_or(true, |again| run.fixture.address(again) != address), "two listen at one place");
    drop(again);
    let (nobody, took) = timed(|| listener.wait(within_ms(100)));
    assert!(matches!(nobody, Err(Error::TimedOut)), "{nobody:?}");
    assert!((Duration::from_millis(100)..LATE).contains(&took), "{took:?}");
    // Private data arrives. Too much private data is refused before the listener gets a request.
    let long = [7; Offer::PRIVATE_MAX];
    for (told, back) in [(&long[..], &b""[..]), (b"", &long), (b"x", b"y")] {
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| pair.a.vi.request(&address, told, soon()));
            let request = listener.wait(soon()).expect("somebody asks");
            assert_eq!((request.private(), request.reliability()), (told, plan.level));
            request.accept(&mut pair.b.vi, back, soon()).expect("it can be accepted");
            assert_eq!(asking.join().expect("asking does not panic").expect("it is accepted"), back);
        });
        pair.check_both(40);
        let busy = pair.a.vi.request(&address, b"", within_ms(1000));
        assert!(matches!(busy, Err(Error::BadState { .. })), "{busy:?}");
        pair.a.vi.disconnect();
        pair.b.vi.disconnect();
    }
    let refused = pair.a.vi.request(&address, &[0; Offer::PRIVATE_MAX + 1], soon());
    let most = Offer::PRIVATE_MAX as u64;
    let is_refused = matches!(refused, Err(Error::TooLong { length, limit }) if (length, limit) == (most + 1, most));
    assert!(is_refused, "{refused:?}");
    // Rejections, with a reason or without.
    for why in [Some("not on a Saturday"), None] {
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| pair.a.vi.request(&address, b"", soon()));
            let request = listener.wait(soon()).expect("somebody asks");
            match why {
                Some(why) => request.reject(why),
                None => drop(request),
            }
            let Err(Error::Refused { why: got }) = asking.join().expect("asking does not panic") else {
                panic!("a rejected request is refused")
            };
            assert!(got.contains(why.unwrap_or_default()), "{got:?}");
        });
        assert_eq!(pair.a.vi.state(), State::Idle);
    }
    asks_in_vain(run, &mut pair, listener, &address);
}

fn asks_in_vain(run: &Run, pair: &mut Pair, listener: obvia_via::Listener, address: &str) {
    // The listener exists, but does not answer.
    let (silence, took) = timed(|| pair.a.vi.request(address, b"", within_ms(300)));
    assert!(matches!(silence, Err(Error::TimedOut)), "{silence:?}");
    assert!((Duration::from_millis(300)..LATE).contains(&took), "{took:?}");
    drop(listener);
    // No listener exists. Some networks do not report that.
    let (nobody, took) = timed(|| pair.a.vi.request(address, b"", within_ms(500)));
    assert!(matches!(nobody, Err(Error::NotFound { .. } | Error::TimedOut)), "{nobody:?}");
    assert!(took < LATE, "{took:?}");
    for nonsense in ["", "\u{1}\n", "127.0.0.1:999999", &"x".repeat(5000)] {
        let refused = pair.a.vi.request(nonsense, b"", within_ms(500));
        assert!(refused.is_err(), "{nonsense:?} is no address");
    }
    assert_eq!(pair.a.vi.state(), State::Idle);
    run.connect(pair);
    pair.check_both(41);
}

/// 41. When two VIs have different transfer sizes, the smaller size applies to both VIs, in both
///     directions.
pub fn s41_the_smaller_transfer_size_is_negotiated(run: &Run) {
    for level in run.reliable_levels() {
        for (one, other) in [(1000, 4096), (4096, 1000), (0, 1000), (1000, 0)] {
            let a = run.end(Side::Client, &Plan { max_transfer: one, ..Plan::of(level) });
            let b = run.end(Side::Server, &Plan { max_transfer: other, ..Plan::of(level) });
            let mut pair = Pair { a, b };
            run.connect(&mut pair);
            assert_eq!((pair.a.vi.max_transfer(), pair.b.vi.max_transfer()), (1000, 1000), "{level}");
            pair.check_both(41);
            for end in [&mut pair.a, &mut pair.b] {
                let long = Descriptor::send().with_segment(&end.area, 0, 1001);
                assert_eq!(end.vi.send.post(long).expect_err("it is too long").fault, PostFault::TooLong);
            }
            pair.a.vi.disconnect();
            let own = if one == 0 { pair.a.nic.attributes().max_transfer } else { one };
            assert_eq!(pair.a.vi.max_transfer(), own, "an idle VI has its own size");
        }
    }
}

/// 42. Disconnecting completes the posted descriptors of both ends as flushed, in order. The peer
///     is told at once. Work that was complete before the disconnect is not lost.
pub fn s42_disconnecting_notifies_the_peer(run: &Run) {
    for level in run.reliable_levels() {
        for asks_ends in [true, false] {
            let mut pair = run.pair(level);
            for context in 0..8 {
                for end in [&mut pair.a, &mut pair.b] {
                    let receive = Descriptor::receive().with_segment(&end.area, 0, 100).with_context(context);
                    end.vi.receive.post(receive).expect("it can be posted");
                }
            }
            let Pair { a, b } = &mut pair;
            let (leaves, stays) = if asks_ends { (a, b) } else { (b, a) };
            leaves.send(0, 10);
            leaves.sent();
            leaves.vi.disconnect();
            assert_eq!(leaves.vi.state(), State::Idle);
            let contexts: Vec<_> =
                drain(&mut leaves.vi.receive).iter().map(|one| (one.context, one.status())).collect();
            assert_eq!(contexts, (0..8).map(|context| (context, Status::Flushed)).collect::<Vec<_>>());
            // The peer's next waits end: first with the message, then with flushed receives.
            let (first, took) = timed(|| next(&mut stays.vi.receive));
            assert_eq!((first.status(), first.length(), first.context), (Status::Done, 10, 0), "{level}");
            for context in 1..8 {
                let flushed = next(&mut stays.vi.receive);
                assert_eq!((flushed.status(), flushed.context), (Status::Flushed, context), "{level}");
            }
            assert!(took < LATE, "{took:?}");
            assert_eq!(stays.vi.state(), State::Broken(Ended::ByPeer), "{level}");
            stays.send(0, 10);
            assert_eq!(next(&mut stays.vi.send).status(), Status::Flushed);
            stays.vi.disconnect();
        }
        // Dropping a VI disconnects as well, and so does dropping all objects of a NIC.
        let Pair { a, mut b } = run.pair(level);
        b.receive(0, 10);
        drop(a);
        let flushed = next(&mut b.vi.receive).status();
        assert_eq!((flushed, b.ended()), (Status::Flushed, Ended::ByPeer), "{level}");
    }
}

/// 44. A VI can be connected again after its request was refused. It can also be connected again
///     after its connection was ended, by either side or by an error, and the VI was disconnected.
///     No data of one connection appears in the next connection.
pub fn s44_vis_can_be_connected_again(run: &Run) {
    for level in run.reliable_levels() {
        let plan = Plan::of(level);
        let mut pair = Pair { a: run.end(Side::Client, &plan), b: run.end(Side::Server, &plan) };
        for round in 0..6 {
            let mut listener = pair.b.nic.listen(&run.fixture.discriminator()).expect("the discriminator is free");
            let address = run.fixture.address(&listener);
            std::thread::scope(|scope| {
                let asking = scope.spawn(|| pair.a.vi.request(&address, b"", soon()));
                listener.wait(soon()).expect("somebody asks").reject("not yet");
                assert!(matches!(asking.join().expect("no panic"), Err(Error::Refused { .. })));
            });
            run.connect(&mut pair);
            pair.check_both(round);
            match round % 3 {
                0 => {
                    // A message without a receive ends the connection. The messages that were sent
                    // after this message must not arrive later.
                    for _ in 0..3 {
                        pair.a.send(0, 100);
                    }
                    pair.a.ended();
                    assert_eq!(pair.b.ended(), Ended::ReceiverNotReady);
                }
                1 => pair.b.vi.disconnect(),
                _ => pair.a.vi.disconnect(),
            }
            if pair.a.vi.state() != State::Idle {
                pair.a.ended();
                let refused = pair.a.vi.request(&address, b"", within_ms(100));
                assert!(matches!(refused, Err(Error::BadState { .. })), "{level}: {refused:?}");
            }
            pair.a.vi.disconnect();
            pair.b.vi.disconnect();
            for end in [&mut pair.a, &mut pair.b] {
                drain(&mut end.vi.send);
                assert!(drain(&mut end.vi.receive).iter().all(|one| one.status() == Status::Flushed));
            }
            // Only messages of the next connection may take these receives.
            pair.b.receive(0, 10);
            run.connect(&mut pair);
            settle();
            assert!(pair.b.vi.receive.done().is_none(), "{level}: a message of another connection");
            pair.a.send(0, 4);
            assert_eq!(pair.b.received().length(), 4);
            pair.a.vi.disconnect();
            until("the peer knows", || pair.b.vi.state() != State::Connected);
            pair.b.vi.disconnect();
            drain(&mut pair.a.vi.send);
        }
    }
}
