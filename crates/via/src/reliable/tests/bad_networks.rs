//! Networks that lose, double, reorder and damage datagrams, and peers that fall silent.

use super::{Faults, Line, MTU, Net, carrying, got, pattern, place, region, statuses, with};
use crate::attributes::Reliability::{self, ReliableDelivery, ReliableReception, Unreliable};
use crate::descriptor::{Descriptor, Operation, Status};
use crate::error::Ended;
use crate::memory::Access;
use crate::reliable::Settings;
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;
const ALL_FAULTS: Faults = Faults {
    loses: 7,
    doubles: 5,
    damages: 11,
    jitter: 300_000,
    most: 0,
    loses_marks: false,
    refuses_above: 0,
    cut: [false; 2],
};

/// Runs a mix of operations over a network with `faults`, and checks every byte.
fn mix(level: Reliability, faults: Faults, seed: u64, count: u64) -> Net {
    let mut net = Net::new(level);
    (net.faults, net.chance.0) = (faults, seed);
    let mut messages = Vec::new();
    for number in 0..count {
        let length = (net.chance.next() % 20_000) as u32;
        let bytes = pattern(number, length);
        match net.chance.next() % 4 {
            0 => net.post(0, carrying(Descriptor::rdma_write(place(number * 20_000)), &bytes)),
            1 => {
                // The read covers the bytes of an earlier write, or bytes that no write uses.
                let from = place(net.chance.next() % number.max(1) * 20_000);
                net.post(0, with(Descriptor::rdma_read(from), &region(20_000, Access::LOCAL), 20_000));
            }
            _ => {
                net.post_receive(1, 20_000);
                net.post(0, carrying(Descriptor::send(), &bytes).with_immediate(number as u32));
                messages.push((number, length));
            }
        }
    }
    net.until(|[one, _]| one.queues.send.is_empty());
    let [one, other] = &net.ends;
    assert_eq!(statuses(&one.queues.sent), vec![Status::Done; count as usize], "seed {seed}");
    assert_eq!(other.queues.received.len(), messages.len(), "seed {seed}");
    for (received, (number, length)) in other.queues.received.iter().zip(messages) {
        assert_eq!(received.immediate(), Some(number as u32), "seed {seed}");
        assert!(got(received) == pattern(number, length), "message {number} with seed {seed}");
    }
    check_memory(&net, seed);
    net
}

/// Asserts that every write is in the memory, and that every read returned what the writes before
/// it had written.
fn check_memory(net: &Net, seed: u64) {
    let mut memory = vec![0; 1 << 20];
    for (number, done) in one_by_one(net) {
        let at = done.remote().map_or(0, |place| place.offset as usize);
        match done.operation() {
            Operation::RdmaWrite => {
                memory[at..][..done.length() as usize].copy_from_slice(&pattern(number, done.length()))
            }
            // A read may also see later writes. The check is valid nevertheless: each position is
            // written at most once, and a read covers only positions of earlier numbers.
            Operation::RdmaRead => assert!(got(done) == memory[at..][..20_000], "read {number} with seed {seed}"),
            _ => {}
        }
    }
    let mut there = vec![0; 1 << 20];
    net.ends[1].queues.exposed.memory.read(0, &mut there).unwrap();
    assert!(there == memory, "seed {seed}");
}

fn one_by_one(net: &Net) -> impl Iterator<Item = (u64, &Descriptor)> {
    (0..).zip(&net.ends[0].queues.sent)
}

#[test]
fn reliable_messages_arrive_once_and_intact_despite_all_faults() {
    for seed in 1..=40 {
        let level = if seed % 2 == 0 { ReliableDelivery } else { ReliableReception };
        let net = mix(level, ALL_FAULTS, seed, 50);
        assert!(net.ends[0].engine.statistics().retransmitted > 0);
    }
}

#[test]
fn reliable_messages_survive_each_kind_of_fault() {
    for (at, faults) in [
        Faults { loses: 2, ..Faults::default() },
        Faults { doubles: 1, ..Faults::default() },
        Faults { damages: 3, ..Faults::default() },
        Faults { jitter: 5_000_000, ..Faults::default() },
    ]
    .into_iter()
    .enumerate()
    {
        mix(ReliableDelivery, faults, 77 + at as u64, 20);
    }
}

#[test]
fn one_lost_packet_costs_one_retransmission_and_no_time_out() {
    let mut net = Net::new(ReliableDelivery);
    net.pass(SECOND / 5);
    net.post_receive(1, 60_000);
    net.post(0, carrying(Descriptor::send(), &pattern(1, 60_000)));
    // The first packet of the message gets lost.
    net.faults.loses = 1;
    let mut bytes = vec![0; MTU];
    let end = &mut net.ends[0];
    let length = end.engine.transmit(net.now, &mut end.queues, &mut bytes).unwrap();
    net.deliver(0, &bytes[..length]);
    net.faults.loses = 0;
    let began = net.now;
    net.until(|[one, _]| one.queues.send.is_empty());
    assert_eq!(net.ends[0].engine.statistics().retransmitted, 1);
    assert!(net.now - began < 1_000_000, "{} ns", net.now - began);
}

#[test]
fn unreliable_messages_arrive_at_most_once_and_never_damaged() {
    for seed in 1..=20 {
        let mut net = Net::new(Unreliable);
        net.pass(1_000_000);
        (net.faults, net.chance.0) = (Faults { jitter: 10_000, loses: 20, ..ALL_FAULTS }, seed);
        for number in 0..100 {
            net.post_receive(1, 8000);
            net.post(
                0,
                carrying(Descriptor::send(), &pattern(number, number as u32 * 50)).with_immediate(number as u32),
            );
            net.pass(30_000);
        }
        net.pass(10_000_000);
        let [one, other] = &net.ends;
        assert_eq!(statuses(&one.queues.sent), [Status::Done; 100]);
        let numbers: Vec<u32> = other.queues.received.iter().filter_map(|received| received.immediate()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "seed {seed}: {numbers:?}");
        assert!((10..100).contains(&numbers.len()), "seed {seed}: {numbers:?}");
        for received in &other.queues.received {
            let number = received.immediate().unwrap();
            assert!(got(received) == pattern(number.into(), number * 50), "message {number} with seed {seed}");
        }
        assert_eq!((one.queues.ended, other.queues.ended), (None, None));
    }
}

#[test]
fn the_longest_packet_length_is_found() {
    for (most, found) in [(0, 9000..=9000), (1472, 1400..=1472), (1200, 1200..=1200)] {
        let mut net = Net::with(ReliableDelivery, &Settings::default(), 9000);
        net.faults.most = most;
        net.pass(3 * SECOND);
        assert!(found.contains(&net.ends[0].engine.statistics().packet), "{:?}", net.ends[0].engine.statistics());
        net.post_receive(1, 100_000);
        net.post(0, carrying(Descriptor::send(), &pattern(1, 100_000)));
        net.until(|[one, _]| one.queues.send.is_empty());
        assert_eq!(got(&net.ends[1].queues.received[0]), pattern(1, 100_000));
        assert_eq!(net.ends[0].engine.statistics().retransmitted, 0);
    }
}

#[test]
fn silent_peers_are_detected_in_time_on_idle_and_busy_connections() {
    let settings = Settings { silence: Duration::from_millis(800), ..Settings::default() };
    for is_busy in [false, true] {
        for level in [Unreliable, ReliableDelivery] {
            let mut net = Net::with(level, &settings, MTU);
            net.pass(10 * SECOND);
            assert_eq!(net.ends[0].queues.ended, None, "life signs go on");
            net.faults.cut = [true; 2];
            let began = net.now;
            if is_busy {
                net.post(0, carrying(Descriptor::send(), b"anybody there?"));
            }
            net.until(|[one, other]| one.queues.ended.is_some() && other.queues.ended.is_some());
            let took = net.now - began;
            assert!((400_000_000..=1_000_000_000).contains(&took), "{took} ns");
            assert_eq!(net.ends[0].queues.ended, Some(Ended::Silent));
            if is_busy && level == ReliableDelivery {
                assert_eq!(statuses(&net.ends[0].queues.sent), [Status::ConnectionLost]);
            }
        }
    }
}

#[test]
fn a_peer_given_up_as_silent_is_told() {
    let settings = Settings { silence: Duration::from_millis(800), ..Settings::default() };
    let mut net = Net::with(ReliableDelivery, &Settings { keep_alive: false, ..settings }, MTU);
    net.pass(SECOND);
    // Only one direction is cut: the other end still receives.
    net.faults.cut = [false, true];
    net.post_receive(1, 10);
    net.post(0, carrying(Descriptor::send(), b"hello"));
    net.until(|[one, _]| one.queues.ended.is_some());
    net.faults.cut = [false; 2];
    net.post(1, carrying(Descriptor::send(), b"you said"));
    net.until(|[_, other]| other.queues.ended.is_some());
    assert_eq!(net.ends[1].queues.ended, Some(Ended::Silent));
}

#[test]
fn a_hint_of_a_dead_peer_ends_the_connection_within_a_second() {
    let mut net = Net::new(ReliableDelivery);
    net.pass(SECOND);
    net.faults.cut = [true; 2];
    net.pass(SECOND / 10);
    let began = net.now;
    net.ends[0].engine.hint_gone(net.now);
    net.until(|[one, _]| one.queues.ended.is_some());
    assert!(net.now - began < SECOND / 2, "{} ms", (net.now - began) / 1_000_000);
    assert_eq!(net.ends[0].queues.ended, Some(Ended::Silent));
}

#[test]
fn forged_hints_end_no_connection_to_a_live_peer() {
    for (delay, loses) in [(20_000, 0), (1_000_000, 20), (150_000_000, 20), (600_000_000, 0)] {
        let settings = Settings { keep_alive: false, ..Settings::default() };
        let mut net = Net::over(ReliableDelivery, &settings, MTU, Line { delay, ..Line::default() });
        net.pass(4 * SECOND);
        net.faults.loses = loses;
        for _ in 0..400 {
            net.ends[0].engine.hint_gone(net.now);
            net.pass(SECOND / 4);
        }
        assert_eq!(net.ends[0].queues.ended, None, "over {delay} ns");
        // Hints that the peer has contradicted do not make the peer count as gone later.
        net.pass(5 * SECOND);
        assert_eq!(net.ends[0].queues.ended, None, "over {delay} ns");
    }
}

#[test]
fn a_side_that_has_sent_data_pings_soon_and_an_idle_one_seldom() {
    let pings = |net: &mut Net, span| {
        let before = net.datagrams;
        net.pass(span);
        // Half of the datagrams are pings, and half are the peer's answers.
        (net.datagrams - before) / 2
    };
    let mut net = Net::new(ReliableDelivery);
    net.pass(120 * SECOND);
    // One ping is sent in each quarter of the silence of 5 s.
    assert_eq!(pings(&mut net, 10 * SECOND), 8);
    net.post_receive(1, 10);
    net.post(0, carrying(Descriptor::send(), b"question"));
    net.until(|[one, _]| one.queues.send.is_empty());
    // The first ping comes after half a second. Each interval is longer than the previous one by
    // 1/32 of it.
    let soon = pings(&mut net, 10 * SECOND);
    assert!((15..=17).contains(&soon), "{soon} pings");
    net.pass(120 * SECOND);
    assert_eq!(pings(&mut net, 10 * SECOND), 8);
}
