//! Paths whose maximum packet length changes during a connection.

use super::{Faults, Line, MILLISECOND, MTU, Net, carrying, got, pattern, place, region, with};
use crate::attributes::Reliability::ReliableDelivery;
use crate::descriptor::Descriptor;
use crate::memory::Access;
use crate::reliable::Settings;

const SECOND: u64 = 1000 * MILLISECOND;
/// The payload of a datagram over a link of 1280 bytes.
const SHORT: usize = 1252;
/// The length of a message, in bytes.
const LENGTH: u32 = 1 << 20;

/// Makes a connection over a line of 100 Mbit/s with a round trip of 20 ms and packets of `mtu`
/// bytes. Both ends have found the packet length.
fn line(mtu: usize) -> Net {
    let line = Line { delay: 10 * MILLISECOND, rate: 100_000_000, queue: 250_000, ..Line::default() };
    let mut net = Net::over(ReliableDelivery, &Settings { window: 4 << 20, ..Settings::default() }, mtu, line);
    net.pass(SECOND);
    assert_eq!(packets(&net), [mtu; 2]);
    net
}

fn packets(net: &Net) -> [usize; 2] {
    [0, 1].map(|at| net.ends[at].engine.statistics().packet)
}

/// Sends messages while the faults of the network become `faults`. Returns the time until all
/// messages have arrived, in milliseconds.
fn transfer(net: &mut Net, faults: Faults) -> u64 {
    let before = net.ends[1].queues.received.len();
    for number in 0..3 {
        net.post_receive(1, LENGTH);
        net.post(0, carrying(Descriptor::send(), &pattern(number, LENGTH)));
    }
    net.until(|[_, other]| other.queues.received.len() > before);
    net.faults = faults;
    let began = net.now;
    net.until(|[one, _]| one.queues.send.is_empty());
    for (number, received) in (0..).zip(&net.ends[1].queues.received[before..]) {
        assert!(got(received) == pattern(number, LENGTH), "message {number}");
    }
    (net.now - began) / MILLISECOND
}

#[test]
fn a_path_that_gets_shorter_in_mid_transfer_costs_seconds_and_no_connection() {
    for (mtu, most) in [(MTU, SHORT), (9000, MTU), (65507, SHORT)] {
        let mut net = line(mtu);
        let took = transfer(&mut net, Faults { most, ..Faults::default() });
        assert!(took < 3000, "{took} ms for {mtu} to {most}");
        net.pass(5 * SECOND);
        let found = packets(&net)[0];
        assert!(found <= most && most - found < 64, "{found} of {most}");
        assert_eq!((net.ends[0].queues.ended, net.ends[1].queues.ended), (None, None));
        net.faults = Faults::default();
        net.pass(650 * SECOND);
        assert_eq!(packets(&net)[0], mtu, "the path takes long packets again");
    }
}

#[test]
fn fragments_get_through_losses_and_reordering() {
    let mut net = line(9000);
    let faults =
        Faults { most: MTU, loses: 20, doubles: 20, damages: 50, jitter: 5 * MILLISECOND, ..Faults::default() };
    let took = transfer(&mut net, faults);
    assert!(took < 20_000, "{took} ms");
}

#[test]
fn answers_to_reads_get_through_a_path_that_got_shorter() {
    let mut net = line(MTU);
    let local = region(LENGTH as usize, Access::LOCAL);
    for _ in 0..4 {
        net.post(0, with(Descriptor::rdma_read(place(0)), &local, LENGTH));
    }
    net.until(|[one, _]| one.queues.send.len() == 2);
    net.faults.most = SHORT;
    let began = net.now;
    net.until(|[one, _]| one.queues.send.is_empty());
    assert!(net.now - began < 3 * SECOND, "{} ms", (net.now - began) / MILLISECOND);
}

#[test]
fn a_long_packet_counts_as_too_long_although_the_short_ones_behind_it_arrive() {
    let mut net = line(MTU);
    net.faults.most = SHORT;
    let began = net.now;
    for number in 0..200 {
        let length = if number == 0 { 1400 } else { 10 };
        net.post_receive(1, 1400);
        net.post(0, carrying(Descriptor::send(), &pattern(number, length)));
        net.pass(4 * MILLISECOND);
    }
    assert!(packets(&net)[0] <= SHORT, "{:?}", packets(&net));
    net.until(|[one, _]| one.queues.send.is_empty());
    assert!(net.now - began < SECOND, "{} ms", (net.now - began) / MILLISECOND);
    for (number, received) in (0..).zip(&net.ends[1].queues.received) {
        assert!(got(received) == pattern(number, received.length()), "message {number}");
    }
}

#[test]
fn an_interruption_shortens_packets_only_for_a_moment() {
    let mut net = line(MTU);
    net.post_receive(1, LENGTH);
    net.post(0, carrying(Descriptor::send(), &pattern(1, LENGTH)));
    net.faults.cut = [true; 2];
    net.pass(2 * SECOND);
    net.faults.cut = [false; 2];
    net.until(|[one, _]| one.queues.send.is_empty());
    net.pass(SECOND / 2);
    assert_eq!(packets(&net)[0], MTU);
}

#[test]
fn a_length_that_the_link_refuses_is_replaced_at_once() {
    let mut net = line(MTU);
    let took = transfer(&mut net, Faults { refuses_above: SHORT, ..Faults::default() });
    assert!(took < 1000, "{took} ms");
    let found = packets(&net)[0];
    assert!(found <= SHORT && SHORT - found < 64, "{found} of {SHORT}");
}
