//! Tests of the sending direction.

use super::{Piece, RoundTrip, Sack, Sending};

const MILLISECOND: u64 = 1_000_000;

fn sack(first: u64) -> Sack<'static> {
    Sack { first, ..Sack::NONE }
}

/// Returns 20 packets in flight, sent a microsecond apart, over a round trip of 10 ms.
fn sending() -> Sending {
    let mut trip = RoundTrip::new(5 * MILLISECOND, 60_000 * MILLISECOND, 1000 * MILLISECOND);
    trip.sample(10 * MILLISECOND);
    let mut sending = Sending::new(trip, 1000);
    sending.window_is(1 << 20);
    for number in 0..20 {
        sending.sent(number * 1000, Piece::Refuse, 1000);
    }
    sending
}

/// Lets acknowledgements be overdue `times` times, and sends the packets that have to be sent
/// again. Returns the time and the numbers of these packets.
fn overdue(sending: &mut Sending, times: u32) -> (u64, Vec<u64>) {
    let (mut now, mut numbers) = (0, Vec::new());
    for _ in 0..times {
        now = sending.expires().unwrap();
        sending.tick(now);
        while let Some((number, _)) = sending.repeat(now) {
            sending.sent_again(now, number, false);
            numbers.push(number);
        }
    }
    (now, numbers)
}

#[test]
fn overdue_acknowledgements_repeat_the_oldest_and_the_newest_packet() {
    let mut sending = sending();
    let (now, numbers) = overdue(&mut sending, 2);
    // The first timeout is 10 ms plus four times 5 ms. The second is twice as long.
    assert_eq!((now / MILLISECOND, numbers), (90, vec![0, 19, 0, 19]));
}

#[test]
fn losses_reduce_the_window_and_persistent_congestion_closes_it() {
    // A loss leaves 0.7 of the first window of 64 KiB: 45 packets.
    for (times, packets) in [(0, 45), (1, 45), (2, 2)] {
        let mut sending = sending();
        let (now, _) = overdue(&mut sending, times);
        sending.acknowledged(now + 10 * MILLISECOND, 0, sack(1 << 18), |_| {}).unwrap();
        assert_eq!(sending.congestion.window() / 1000, packets, "{times} times");
        assert!(sending.has_repeats());
    }
}

#[test]
fn acknowledgements_of_packets_never_sent_are_violations() {
    // 20 packets were sent, 0 to 19.
    for (ack, first, further, is_known) in [
        (20, 0, 0, true),
        (21, 0, 0, false),
        (0, 1 << 18, 0, true),
        (0, 1 << 19, 0, false),
        (19, 1, 0, false),
        (20, 1, 0, false),
        (0, 0, 1, false),
        (u64::MAX >> 1, 0, 1, false),
    ] {
        let (mut sending, further) = (sending(), u64::to_le_bytes(further));
        let sack = Sack { first, further: &further };
        let known = sending.acknowledged(10 * MILLISECOND, ack, sack, |_| {});
        assert_eq!(known.is_some(), is_known, "{ack} {first:x} {further:?}");
    }
}

#[test]
fn acknowledgements_after_a_timeout_tell_no_round_trip() {
    let mut sending = sending();
    let (now, _) = overdue(&mut sending, 1);
    sending.acknowledged(now + 10 * MILLISECOND, 20, Sack::NONE, |_| {}).unwrap();
    assert_eq!(sending.trip.smoothed(), 10 * MILLISECOND);
    sending.sent(now + 10 * MILLISECOND, Piece::Refuse, 1000);
    sending.acknowledged(now + 28 * MILLISECOND, 21, Sack::NONE, |_| {}).unwrap();
    assert_eq!(sending.trip.smoothed(), 11 * MILLISECOND);
}

#[test]
fn a_repetition_answered_too_soon_shows_reordering() {
    let mut sending = sending();
    sending.acknowledged(10 * MILLISECOND, 0, sack(0b111), |_| {}).unwrap();
    assert_eq!(sending.repeat(10 * MILLISECOND).unwrap().0, 0);
    sending.sent_again(10 * MILLISECOND, 0, false);
    // The first transmission arrives late, and the packets after it arrive in another order.
    sending.acknowledged(11 * MILLISECOND, 4, Sack::NONE, |_| {}).unwrap();
    sending.acknowledged(12 * MILLISECOND, 4, sack(0b111), |_| {}).unwrap();
    assert!(!sending.has_repeats());
    let now = sending.expires().unwrap();
    sending.tick(now);
    assert_eq!(sending.repeat(now).unwrap().0, 4);
}

#[test]
fn a_full_window_opens_for_several_packets() {
    let mut sending = sending();
    let fill = |sending: &mut Sending| {
        let mut count = 0;
        while sending.fits_network(1000) {
            sending.sent(20_000, Piece::Refuse, 1000);
            count += 1;
        }
        count
    };
    // The first window has 65,536 bytes. In slow start each acknowledged packet lets two pass.
    assert_eq!(fill(&mut sending), 45);
    sending.acknowledged(10 * MILLISECOND, 1, Sack::NONE, |_| {}).unwrap();
    assert_eq!(fill(&mut sending), 2);
    // A loss reduces the window to 46,575 bytes. The window sends a tenth of them in a millisecond,
    // so that it opens for five packets.
    sending.reduce();
    assert_eq!(fill(&mut sending), 0);
    for (acknowledged, count) in [(24, 0), (25, 0), (26, 5), (27, 0)] {
        sending.acknowledged(10 * MILLISECOND, acknowledged, Sack::NONE, |_| {}).unwrap();
        assert_eq!(fill(&mut sending), count, "{acknowledged} acknowledged");
    }
}

#[test]
fn a_full_window_opens_for_a_quarter_of_it_at_most() {
    // The window has 45,875 bytes, and the round trips are in microseconds. Below a millisecond,
    // packets are not paced.
    for (round_trip, bytes) in [(100_000, 458), (10_000, 4587), (2000, 11_468), (1000, 11_468), (999, 0)] {
        let mut trip = RoundTrip::new(5 * MILLISECOND, 60_000 * MILLISECOND, 1000 * MILLISECOND);
        trip.sample(round_trip * 1000);
        let mut sending = Sending::new(trip, 1000);
        assert_eq!(sending.several(sending.congestion.window()), 0, "slow start");
        sending.reduce();
        assert_eq!(sending.several(sending.congestion.window()), bytes, "{round_trip} us");
    }
}
