//! Sends and receives.

use super::scene::{End, LEVELS, Place, SOON, attributes, connect, mapped_regions, pair, pattern};
use obvia_via::{Access, Deadline, Descriptor, Ended, Error, Nic, Reliability, State, Status, Waiting};

const ROUNDS: u32 = 200;

/// Answers with the received bytes; the next receive is posted before the answer is sent.
fn echo(end: &mut End) {
    for round in 0..ROUNDS {
        assert_eq!(end.received(), (Status::Done, 4, None));
        assert_eq!(end.bytes(0, 4), round.to_le_bytes());
        end.fill(1024, &round.to_le_bytes());
        end.post_receive(0, 64);
        end.post_send(1024, 4);
        assert_eq!(end.sent(), (Status::Done, 4));
    }
}

fn ask(end: &mut End) {
    for round in 0..ROUNDS {
        end.fill(1024, &round.to_le_bytes());
        end.post_send(1024, 4);
        assert_eq!(end.sent(), (Status::Done, 4));
        assert_eq!(end.received(), (Status::Done, 4, None));
        assert_eq!(end.bytes(0, 4), round.to_le_bytes());
        end.post_receive(0, 64);
    }
}

#[test]
fn messages_are_exchanged_in_every_waiting_mode() {
    let place = Place::new();
    for waiting in [Waiting::Poll, Waiting::Block, Waiting::Adaptive] {
        for level in LEVELS {
            let nic = place.nic();
            let end = || End::new(&nic, attributes(level, waiting), 4096, Access::LOCAL);
            let (mut one, mut other) = (end(), end());
            one.post_receive(0, 64);
            one.post_receive(0, 64);
            other.post_receive(0, 64);
            connect(&mut one.vi, &nic, &mut other.vi);
            std::thread::scope(|scope| {
                scope.spawn(|| echo(&mut other));
                ask(&mut one);
            });
        }
    }
}

/// One thread serves both ends in turn, so no call may wait for the other end.
#[test]
fn one_thread_can_serve_both_ends() {
    let place = Place::new();
    for nic in [place.nic(), place.tiny_nic()] {
        for length in [0, 1, 104, 105, 4096, 1 << 20, 16 << 20] {
            let (mut one, mut other) = pair(&nic, &attributes(Reliability::ReliableDelivery, Waiting::Poll), 16 << 20);
            one.fill(0, &pattern(length, 1 + length as u64));
            other.post_receive(0, 16 << 20);
            one.post_send(0, length as u32);
            let (mut sent, mut received) = (None, None);
            while sent.is_none() || received.is_none() {
                sent = sent.or_else(|| one.vi.send.done());
                received = received.or_else(|| other.vi.receive.done());
            }
            assert_eq!(sent.map(|sent| (sent.status(), sent.length())), Some((Status::Done, length as u32)));
            let received = received.unwrap();
            assert_eq!((received.status(), received.length()), (Status::Done, length as u32));
            assert!(other.bytes(0, length) == pattern(length, 1 + length as u64), "{length} bytes are others");
        }
    }
}

/// Adds segments at odd offsets of a region to a descriptor.
fn pieces(mut descriptor: Box<Descriptor>, end: &End, lengths: &[u32]) -> Box<Descriptor> {
    let mut offset = 3;
    for length in lengths {
        descriptor = descriptor.with_segment(&end.region, offset, *length);
        offset += u64::from(*length) + 5;
    }
    descriptor
}

/// Returns the bytes of these segments, one after the other.
fn bytes_of(end: &End, lengths: &[u32]) -> Vec<u8> {
    let (mut offset, mut bytes) = (3, Vec::new());
    for length in lengths {
        bytes.extend(end.bytes(offset, *length as usize));
        offset += u64::from(*length) + 5;
    }
    bytes
}

#[test]
fn send_and_receive_segments_can_differ() {
    let place = Place::new();
    let all: Vec<u32> = (0..64).map(|number| number * 37 % 500).collect();
    let shapes: [(&[u32], &[u32]); 6] = [
        (&[], &[]),
        (&[0, 0], &[0]),
        (&[10, 20, 0, 30], &[60]),
        (&[100_000], &[1, 0, 65_536, 34_463]),
        (&all, &[40_000]),
        (&[16_000], &all),
    ];
    for nic in [place.nic(), place.tiny_nic()] {
        let (mut one, mut other) = pair(&nic, &attributes(Reliability::ReliableReception, Waiting::Adaptive), 1 << 18);
        for (number, (from, into)) in shapes.into_iter().enumerate() {
            let immediate = (number % 2 == 1).then_some(number as u32 * 1_000_003);
            one.fill(0, &pattern(1 << 18, number as u64 + 1));
            other.vi.receive.post(pieces(Descriptor::receive(), &other, into)).unwrap();
            let mut send = pieces(Descriptor::send(), &one, from);
            send.set_immediate(immediate);
            let sum = from.iter().sum::<u32>().min(into.iter().sum());
            // Another test covers messages longer than the receive.
            if from.iter().sum::<u32>() > sum {
                continue;
            }
            one.vi.send.post(send).unwrap();
            assert_eq!(other.received(), (Status::Done, sum, immediate));
            assert_eq!(one.sent(), (Status::Done, sum));
            assert!(bytes_of(&other, into)[..sum as usize] == bytes_of(&one, from)[..], "shape {number}");
        }
    }
}

#[test]
fn messages_faster_than_their_receiver_arrive_whole() {
    let place = Place::new();
    for nic in [place.nic(), place.tiny_nic()] {
        for waiting in [Waiting::Poll, Waiting::Block, Waiting::Adaptive] {
            let (mut one, mut other) = pair(&nic, &attributes(Reliability::ReliableDelivery, waiting), 1 << 16);
            let count = 400_u32;
            for _ in 0..count {
                other.post_receive(0, 4096);
            }
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for number in 0..count {
                        let length = number * 97 % 4096;
                        assert_eq!(other.received(), (Status::Done, length, Some(number)));
                    }
                });
                for number in 0..count {
                    let send = Descriptor::send().with_segment(&one.region, 0, number * 97 % 4096);
                    one.vi.send.post(send.with_immediate(number)).unwrap();
                }
                for number in 0..count {
                    assert_eq!(one.sent(), (Status::Done, number * 97 % 4096));
                }
            });
        }
    }
}

fn ended(end: &mut End) -> State {
    let deadline = SOON.start();
    while end.vi.state() == State::Connected && !deadline.is_over() {
        std::thread::yield_now();
    }
    end.vi.state()
}

#[test]
fn messages_without_a_receive_break_only_reliable_connections() {
    let place = Place::new();
    for level in LEVELS {
        let (mut one, mut other) = pair(&place.nic(), &attributes(level, Waiting::Adaptive), 4096);
        one.fill(0, b"first");
        one.post_send(0, 5);
        if level.is_reliable() {
            one.post_send(0, 5);
            one.post_receive(0, 5);
            assert_eq!(one.sent(), (Status::ReceiverNotReady, 0));
            assert_eq!(one.sent(), (Status::Flushed, 0));
            assert_eq!(one.received(), (Status::Flushed, 0, None));
            one.post_send(0, 5);
            assert_eq!(one.sent(), (Status::Flushed, 0), "posted later");
            for end in [&mut one, &mut other] {
                assert_eq!(ended(end), State::Broken(Ended::ReceiverNotReady));
            }
            continue;
        }
        assert_eq!(one.sent(), (Status::Done, 5));
        // The first message is taken, and lost, before a receive is posted.
        for _ in 0..100 {
            assert!(other.vi.receive.done().is_none());
        }
        other.post_receive(0, 64);
        one.fill(0, b"other");
        one.post_send(0, 5);
        assert_eq!(other.received(), (Status::Done, 5, None));
        assert_eq!(other.bytes(0, 5), b"other");
        assert_eq!((one.vi.state(), other.vi.state()), (State::Connected, State::Connected));
    }
}

#[test]
fn operations_before_a_refused_one_complete_and_later_ones_are_flushed() {
    let place = Place::new();
    for level in [Reliability::ReliableDelivery, Reliability::ReliableReception] {
        let (mut one, mut other) = pair(&place.nic(), &attributes(level, Waiting::Adaptive), 4096);
        for _ in 0..3 {
            other.post_receive(0, 64);
        }
        for _ in 0..5 {
            one.post_send(0, 8);
        }
        let statuses: Vec<_> = (0..5).map(|_| one.sent()).collect();
        let (done, late, flushed) = ((Status::Done, 8), (Status::ReceiverNotReady, 0), (Status::Flushed, 0));
        assert_eq!(statuses, [done, done, done, late, flushed]);
        assert_eq!((0..3).map(|_| other.received().0).collect::<Vec<_>>(), [Status::Done; 3]);
    }
}

#[test]
fn messages_longer_than_their_receive_complete_it_with_an_error() {
    let place = Place::new();
    for level in LEVELS {
        for length in [65, 100_000] {
            let (mut one, mut other) = pair(&place.nic(), &attributes(level, Waiting::Adaptive), 1 << 17);
            other.fill(0, &[7; 200]);
            other.post_receive(0, 64);
            other.post_receive(0, 64);
            one.post_send(0, length);
            assert_eq!(other.received(), (Status::TooLong, 0, None));
            assert_eq!(other.bytes(0, 200), [7; 200], "nothing was written");
            if level.is_reliable() {
                assert_eq!(one.sent(), (Status::TooLong, 0));
                assert_eq!(other.received(), (Status::Flushed, 0, None));
                assert_eq!(ended(&mut one), State::Broken(Ended::TooLong));
                assert_eq!(ended(&mut other), State::Broken(Ended::TooLong));
            } else {
                assert_eq!(one.sent(), (Status::Done, length));
                one.fill(0, b"short");
                one.post_send(0, 5);
                assert_eq!(other.received(), (Status::Done, 5, None));
                assert_eq!(other.bytes(0, 5), b"short");
            }
        }
    }
}

#[test]
fn unreliable_messages_without_room_are_dropped_whole() {
    let place = Place::new();
    let (mut one, mut other) = pair(&place.tiny_nic(), &attributes(Reliability::Unreliable, Waiting::Poll), 1 << 16);
    for _ in 0..1000 {
        other.post_receive(0, 4096);
    }
    let mut came = Vec::new();
    for number in 0..1000_u32 {
        one.fill(0, &number.to_le_bytes());
        one.post_send(0, 4);
        assert_eq!(one.vi.send.done().map(|send| send.status()), Some(Status::Done), "at once");
        if number % 7 == 0
            && let Some(receive) = other.vi.receive.done()
        {
            assert_eq!((receive.status(), receive.length()), (Status::Done, 4));
            came.push(other.bytes(0, 4));
        }
    }
    assert!(!came.is_empty());
    assert_eq!((one.vi.state(), other.vi.state()), (State::Connected, State::Connected));
}

/// The owners of both VIs make no call while the message is under way.
#[test]
fn the_nic_thread_serves_idle_vis() {
    let place = Place::new();
    let nic = place.nic();
    // Peers have no access to the memory, so no region is opened or lent. Opening or lending a
    // region would wake the NIC, but in this test only the message itself may wake it.
    let end = || End::new(&nic, attributes(Reliability::ReliableReception, Waiting::Block), 1 << 21, Access::LOCAL);
    let (mut one, mut other) = (end(), end());
    connect(&mut one.vi, &nic, &mut other.vi);
    // The owners serve both ends during this loop, and then stop.
    for _ in 0..10 {
        assert!(one.vi.send.done().is_none() && other.vi.receive.done().is_none());
    }
    for round in 0..20_u64 {
        std::thread::sleep(std::time::Duration::from_millis(round * 3));
        other.post_receive(0, 1 << 21);
        one.fill(0, &pattern(1 << 21, round + 1));
        one.post_send(0, 1 << 21);
        let under_way = || one.vi.send.posted() + other.vi.receive.posted() > 0;
        ground::until(&format!("the message of round {round} arrives"), || !under_way());
        assert_eq!(one.sent(), (Status::Done, 1 << 21));
        assert_eq!(other.received(), (Status::Done, 1 << 21, None));
        assert!(other.bytes(0, 1 << 21) == pattern(1 << 21, round + 1));
    }
}

#[test]
fn unmappable_memory_is_sent_and_received() {
    let place = Place::new();
    let nic: Nic = place.nic();
    let (mut one, mut other) = pair(&nic, &attributes(Reliability::ReliableDelivery, Waiting::Adaptive), 4096);
    one.region = nic.register(obvia_via::Memory::new(1 << 20).unwrap(), &one.tag, Access::LOCAL).unwrap();
    other.region = nic.register(obvia_via::Memory::new(1 << 20).unwrap(), &other.tag, Access::LOCAL).unwrap();
    one.fill(0, &pattern(1 << 20, 5));
    other.post_receive(0, 1 << 20);
    one.post_send(0, 1 << 20);
    assert_eq!(other.received(), (Status::Done, 1 << 20, None));
    assert!(other.bytes(0, 1 << 20) == pattern(1 << 20, 5));
}

#[test]
fn a_wait_ends_at_its_deadline() {
    let place = Place::new();
    for waiting in [Waiting::Poll, Waiting::Block, Waiting::Adaptive] {
        let (mut one, _other) = pair(&place.nic(), &attributes(Reliability::ReliableDelivery, waiting), 4096);
        one.post_receive(0, 64);
        let began = std::time::Instant::now();
        let span = std::time::Duration::from_millis(30);
        assert!(matches!(one.vi.receive.wait(Deadline::Within(span)), Err(Error::TimedOut)));
        let took = began.elapsed();
        assert!(took >= span && took < ground::LATEST, "{waiting:?}: {took:?}");
    }
}

/// For long messages, the sender lends the peer the regions that peers may read, and later
/// withdraws them. The messages of a region arrive even if the region is dropped while they are
/// under way.
#[test]
fn long_messages_of_short_lived_regions_arrive_whole() {
    const LONG: u32 = 40_000;
    let place = Place::new();
    for access in [Access::READ, Access::BOTH, Access::WRITE, Access::LOCAL] {
        let (mut one, mut other) =
            pair(&place.nic(), &attributes(Reliability::ReliableDelivery, Waiting::Adaptive), 1 << 18);
        for round in 0..300_u64 {
            let region = one.nic.register(one.nic.memory(1 << 17).unwrap(), &one.tag, access).unwrap();
            region.memory().write(0, &pattern(1 << 17, round + 1)).unwrap();
            for _ in 0..2 {
                other.post_receive(0, 1 << 18);
                let send = Descriptor::send().with_segment(&region, round, LONG).with_segment(&region, 7, 3);
                one.vi.send.post(send.with_segment(&region, 50_000, LONG).with_immediate(3)).unwrap();
            }
            drop(region);
            let all = pattern(1 << 17, round + 1);
            let first = round as usize;
            for _ in 0..2 {
                assert_eq!(other.received(), (Status::Done, 2 * LONG + 3, Some(3)));
                let bytes = other.bytes(0, 2 * LONG as usize + 3);
                let (long, rest) = bytes.split_at(LONG as usize);
                assert!(long == &all[first..first + LONG as usize] && rest[..3] == all[7..10], "round {round}");
                assert!(rest[3..] == all[50_000..50_000 + LONG as usize], "round {round}");
                assert_eq!(one.sent(), (Status::Done, 2 * LONG + 3));
            }
        }
        // The sender has withdrawn all regions but the last few. The limit allows for the regions
        // of other tests.
        let deadline = SOON.start();
        while mapped_regions() > 150 {
            one.vi.state();
            other.vi.state();
            assert!(!deadline.is_over(), "{} regions are mapped", mapped_regions());
        }
    }
}

/// Unreliable sends are complete at once, so the sender may reuse their bytes before the receiver
/// looks.
#[test]
fn completed_unreliable_messages_can_be_overwritten() {
    let place = Place::new();
    let (mut one, mut other) = pair(&place.nic(), &attributes(Reliability::Unreliable, Waiting::Poll), 1 << 17);
    for round in 0..100_u64 {
        other.post_receive(0, 1 << 17);
        one.fill(0, &pattern(60_000, round + 1));
        one.post_send(0, 60_000);
        assert_eq!(one.sent(), (Status::Done, 60_000));
        one.fill(0, &[0; 60_000]);
        assert_eq!(other.received(), (Status::Done, 60_000, None));
        assert!(other.bytes(0, 60_000) == pattern(60_000, round + 1));
    }
}
