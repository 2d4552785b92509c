//! Slow start: how much it overfills a queue, and how two connections share a line.

use super::long_lines::{LENGTH, arrived, goodput, post_writes, queued, rate};
use super::{MILLISECOND, Net, region};
use crate::memory::Access;

/// The length of a packet on the line, in bytes.
const PACKET: u64 = super::MTU as u64;

/// Has two connections write over one line without a pause, for a span of milliseconds. Returns the
/// rates in Mbit/s at which their data arrived.
fn compete(nets: &mut [Net; 2], span: u64) -> [f64; 2] {
    let source = region(LENGTH as usize, Access::LOCAL);
    let before = [0, 1].map(|at| arrived(&nets[at]));
    let mut now = nets[0].now.max(nets[1].now);
    let limit = now + span * MILLISECOND;
    let mut line_free = [0, 1].map(|way| nets[0].line_free[way].max(nets[1].line_free[way]));
    let mut order = [0, 1];
    while now < limit {
        // Neither connection is always the first to send.
        order.reverse();
        for at in order {
            let net = &mut nets[at];
            post_writes(net, &source);
            net.line_free = line_free;
            net.flush();
            line_free = net.line_free;
        }
        now = nets.iter().filter_map(Net::next_event).min().unwrap().min(limit);
        for at in order {
            let net = &mut nets[at];
            net.line_free = line_free;
            net.step_to(now);
            line_free = net.line_free;
        }
    }
    [0, 1].map(|at| rate(arrived(&nets[at]) - before[at], span))
}

#[test]
fn slow_start_overfills_a_queue_by_a_part_of_its_length() {
    for round_trip in [5, 20, 50, 100] {
        let mut net = queued(round_trip);
        goodput(&mut net, 2000);
        let (lost, queue) = (net.overflowed, net.line.queue / PACKET);
        // A window that doubled until the first loss would lose two or three times as many packets
        // as fit the queue.
        assert!(0 < lost && lost < queue * 2 / 3, "{lost} packets, and {queue} wait at {round_trip} ms");
        let rate = goodput(&mut net, 2000);
        assert!(rate > 95.0, "{rate} Mbit/s at {round_trip} ms");
    }
}

/// Makes a connection over a line of 10 Mbit/s with a round trip of 20 ms, whose queue has room for
/// the bytes of 50 ms.
fn slow() -> Net {
    let mut net = queued(20);
    (net.line.rate, net.line.queue) = (net.line.rate / 10, net.line.queue / 10);
    net
}

#[test]
fn two_connections_share_a_line() {
    let mut nets = [slow(), slow()];
    goodput(&mut nets[0], 30);
    let idle = nets[0].now - nets[1].now;
    nets[1].pass(idle);
    // The sizes of the two windows approach each other with each loss. About one packet a second is
    // lost.
    compete(&mut nets, 20_000);
    let [one, other] = compete(&mut nets, 60_000);
    let share = one / (one + other);
    assert!((0.4..=0.6).contains(&share), "{one} and {other} Mbit/s");
    assert!(one + other > 9.5, "{one} and {other} Mbit/s");
}
