//! Lines with a long delay, a limited rate and losses: how much gets through.

use super::{Line, MILLISECOND, MTU, Net, carrying, pattern, place, region, with};
use crate::attributes::Reliability::ReliableDelivery;
use crate::descriptor::Descriptor;
use crate::memory::{Access, Region};
use crate::reliable::Settings;
use crate::reliable::packet::DATA_HEADER;
use std::sync::Arc;

/// The rate of the line, in bits per second.
const RATE: u64 = 100_000_000;
/// The number of bytes that may wait for the line: as many as the line carries in 20 ms.
const QUEUE: u64 = 250_000;
/// The length of an operation, in bytes.
pub(super) const LENGTH: u32 = 1 << 20;

/// Makes a connection over a line with a round trip of `round_trip` milliseconds. The ends keep all
/// datagrams that arrive.
pub(super) fn line(round_trip: u64) -> Net {
    to_socket(round_trip, 16 << 20)
}

/// Makes a connection like that of [`line`], whose ends keep `window` bytes of datagrams.
fn to_socket(round_trip: u64, window: u32) -> Net {
    let line = Line { delay: round_trip * MILLISECOND / 2, rate: RATE, queue: QUEUE, ..Line::default() };
    let settings = Settings { window, ..Settings::default() };
    let mut net = Net::over(ReliableDelivery, &settings, MTU, line);
    net.until(|ends| ends.iter().all(|end| end.engine.is_open()));
    net
}

/// Writes without a pause for a span of milliseconds. Returns the rate in Mbit/s at which data
/// arrived.
pub(super) fn goodput(net: &mut Net, span: u64) -> f64 {
    let source = region(LENGTH as usize, Access::LOCAL);
    let (before, limit) = (arrived(net), net.now + span * MILLISECOND);
    while net.now < limit {
        post_writes(net, &source);
        assert!(net.step_to(limit));
    }
    rate(arrived(net) - before, span)
}

/// Returns the number of data packets that end 1 has processed.
pub(super) fn arrived(net: &Net) -> u32 {
    net.ends[1].engine.next_numbers()[1]
}

/// Returns the rate in Mbit/s of a number of packets in a span of milliseconds.
pub(super) fn rate(packets: u32, span: u64) -> f64 {
    f64::from(packets) * (MTU - DATA_HEADER) as f64 * 8.0 / (span as f64 * 1000.0)
}

/// Keeps the line busy: posts writes of [`LENGTH`] bytes.
pub(super) fn post_writes(net: &mut Net, source: &Arc<Region>) {
    while net.ends[0].queues.send.len() < 16 {
        net.post(0, with(Descriptor::rdma_write(place(0)), source, LENGTH));
    }
}

/// Makes a connection over a line whose queue has room for the bytes of a round trip, and at least
/// for those of 50 ms, as in `obvia bench goodput`.
pub(super) fn queued(round_trip: u64) -> Net {
    let mut net = line(round_trip);
    net.line.queue = RATE / 8 / 1000 * round_trip.max(50);
    net
}

/// Prints the figures of docs/bench.md. As in `obvia bench goodput`, the measurement begins after
/// 40 round trips, when the rates have settled.
#[test]
#[ignore = "prints a table"]
fn goodput_by_round_trip_and_loss() {
    println!("loss   1 ms   50 ms  100 ms  250 ms  (Mbit/s of {})", RATE / 1_000_000);
    for (loss, loses) in [("0 %", 0), ("1 %", 100), ("5 %", 20)] {
        let rates = [1, 50, 100, 250].map(|round_trip| {
            let mut net = queued(round_trip);
            net.faults.loses = loses;
            goodput(&mut net, (40 * round_trip).clamp(2000, 10_000));
            // With long round trips, few packets are sent and lost in a second, so the measurement
            // takes longer.
            goodput(&mut net, if loses == 0 { 10_000 } else { (400 * round_trip).max(20_000) })
        });
        let [a, b, c, d] = rates;
        println!("{loss} {a:7.2} {b:7.2} {c:7.2} {d:7.2}");
    }
}

#[test]
fn calls_send_each_packet_once_at_every_round_trip() {
    for round_trip in [1, 25, 50, 100, 250, 400] {
        let mut net = line(round_trip);
        for number in 0..20 {
            for (from, to) in [(0, 1), (1, 0)] {
                net.post_receive(to, 64);
                net.post(from, carrying(Descriptor::send(), &pattern(number, 64)));
                net.until(|ends| ends[to].queues.received.len() as u64 > number);
            }
        }
        for end in &net.ends {
            let statistics = end.engine.statistics();
            assert_eq!(statistics.retransmitted, 0, "at {round_trip} ms: {statistics:?}");
            let measured = statistics.round_trip_ns / MILLISECOND;
            assert!((round_trip..=round_trip + 1).contains(&measured), "{measured} of {round_trip} ms");
        }
    }
}

#[test]
fn the_handshake_tells_a_short_round_trip() {
    let measured = |round_trip| line(round_trip).ends.map(|end| end.engine.statistics().round_trip_ns / MILLISECOND);
    assert_eq!(measured(15), [15; 2]);
    // Request and acceptance were repeated, so their answers do not show the round trip.
    assert_eq!(measured(25), [0; 2]);
}

#[test]
fn a_timeout_doubled_beyond_the_round_trip_is_kept_until_a_sample() {
    let mut net = line(1);
    net.line.delay = 150 * MILLISECOND;
    let mut repeated = Vec::new();
    for number in 0..8 {
        net.post_receive(1, 64);
        net.post(0, carrying(Descriptor::send(), &pattern(number, 64)));
        net.until(|[one, _]| one.queues.send.is_empty());
        repeated.push(net.ends[0].engine.statistics().retransmitted);
    }
    assert!(repeated[7] == repeated[2] && repeated[7] < 12, "{repeated:?}");
    assert!(net.ends[0].engine.statistics().round_trip_ns > 100 * MILLISECOND);
}

#[test]
fn the_answer_to_a_probe_tells_a_long_round_trip() {
    let mut net = line(250);
    net.pass(300 * MILLISECOND);
    assert_eq!(net.ends.map(|end| end.engine.statistics().round_trip_ns / MILLISECOND), [250; 2]);
}

#[test]
fn path_probes_wait_for_the_round_trip() {
    for round_trip in [1, 250] {
        let line = Line { delay: round_trip * MILLISECOND / 2, ..Line::default() };
        let mut net = Net::over(ReliableDelivery, &Settings::default(), 9000, line);
        net.pass(2000 * MILLISECOND);
        assert_eq!(net.ends[0].engine.statistics().packet, 9000);
        // The datagrams are repetitions of the handshake, two probes, their answers, and signs of
        // life.
        assert!(net.datagrams < 16, "{} datagrams at {round_trip} ms", net.datagrams);
    }
}

#[test]
fn one_connection_fills_a_long_line() {
    let mut net = line(250);
    goodput(&mut net, 5000);
    let rate = goodput(&mut net, 5000);
    assert!(rate > 70.0, "{rate} Mbit/s");
}

#[test]
fn a_small_socket_does_not_limit_a_long_line() {
    let mut net = to_socket(100, 200_000);
    goodput(&mut net, 5000);
    let rate = goodput(&mut net, 5000);
    assert!(rate > 30.0, "{rate} Mbit/s");
}
