//! Lost and late packets: which packets are sent again, and when.

use super::{Line, MILLISECOND, MTU, Net, carrying, pattern};
use crate::attributes::Reliability::ReliableDelivery;
use crate::descriptor::Descriptor;
use crate::reliable::Settings;
use crate::reliable::packet::DATA_HEADER;

/// The number of payload bytes in a packet.
const PAYLOAD: u32 = (MTU - DATA_HEADER) as u32;

/// Makes a connection over a line with a round trip of `round_trip` milliseconds.
pub(super) fn line(round_trip: u64) -> Net {
    known(Line { delay: round_trip * MILLISECOND / 2, ..Line::default() })
}

/// Makes a connection over a line whose round trip both ends know.
pub(super) fn known(line: Line) -> Net {
    let settings = Settings { window: 16 << 20, ..Settings::default() };
    let mut net = Net::over(ReliableDelivery, &settings, MTU, line);
    net.pass(1000 * MILLISECOND);
    for _ in 0..20 {
        transfer(&mut net, 1, |_| false);
    }
    net
}

/// Sends a message of `count` packets. The first transmission of each packet for which `is_lost`
/// returns true gets lost. Returns the time until all packets have arrived, in milliseconds.
pub(super) fn transfer(net: &mut Net, count: u32, is_lost: impl Fn(u32) -> bool) -> u64 {
    let began = net.now;
    let first = net.ends[0].engine.next_numbers()[0];
    net.lost = (0..count).filter(|number| is_lost(*number)).map(|number| first + number).collect();
    net.post_receive(1, count * PAYLOAD);
    net.post(0, carrying(Descriptor::send(), &pattern(1, count * PAYLOAD)));
    net.until(|[one, _]| one.queues.send.is_empty());
    (net.now - began) / MILLISECOND
}

pub(super) fn repeated(net: &Net) -> u64 {
    net.ends[0].engine.statistics().retransmitted
}

#[test]
fn a_lost_tail_costs_three_more_round_trips_and_no_slow_start() {
    let mut net = line(50);
    let took = transfer(&mut net, 20, |number| number >= 17);
    assert!((200..220).contains(&took), "{took} ms");
    assert_eq!(repeated(&net), 3);
    let took = transfer(&mut net, 25, |_| false);
    assert!(took < 80, "{took} ms: the window is still open");
}

#[test]
fn a_lost_packet_is_found_by_time_when_few_packets_follow() {
    let mut net = line(100);
    let took = transfer(&mut net, 2, |number| number == 0);
    assert!((225..230).contains(&took), "{took} ms: a quarter of the round trip later");
    assert_eq!(repeated(&net), 1);
}

#[test]
fn reordered_packets_do_not_count_as_lost() {
    let mut net = line(100);
    net.faults.jitter = 20 * MILLISECOND;
    transfer(&mut net, 20, |_| false);
    let before = repeated(&net);
    for _ in 0..50 {
        transfer(&mut net, 20, |_| false);
    }
    assert_eq!(repeated(&net) - before, 0, "of 1000 packets");
}

#[test]
fn packets_delayed_beyond_the_timeout_are_not_all_sent_again() {
    let mut net = line(1);
    net.line.delay = 100 * MILLISECOND;
    let took = transfer(&mut net, 40, |_| false);
    assert!(took < 220, "{took} ms");
    // Each timeout repeats two packets. The first timeout takes some milliseconds, and each further
    // one twice as long.
    assert!((2..20).contains(&repeated(&net)), "{}", repeated(&net));
}

#[test]
fn losses_among_many_packets_in_flight_are_found_together() {
    let mut net = line(100);
    for _ in 0..3 {
        transfer(&mut net, 700, |_| false);
    }
    let before = repeated(&net);
    let took = transfer(&mut net, 700, |number| number % 100 == 50);
    assert!(took < 400, "{took} ms");
    assert_eq!(repeated(&net) - before, 7);
}
