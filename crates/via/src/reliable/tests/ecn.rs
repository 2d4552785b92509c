//! Lines that mark datagrams instead of losing them, and lines that do not carry marks.

use super::long_lines::goodput;
use super::{Faults, Line, MILLISECOND, MTU, Net, carrying, pattern};
use crate::attributes::Reliability::{ReliableDelivery, Unreliable};
use crate::descriptor::Descriptor;
use crate::reliable::Settings;

/// A line of 100 Mbit/s with a round trip of 20 ms, on which 250 kB are on their way.
const LINE: Line = Line { delay: 10 * MILLISECOND, rate: 100_000_000, queue: 1_000_000, marks_from: 125_000 };

fn over(line: Line) -> Net {
    let settings = Settings { window: 16 << 20, ..Settings::default() };
    let mut net = Net::over(ReliableDelivery, &settings, MTU, line);
    net.until(|ends| ends.iter().all(|end| end.engine.is_open()));
    net
}

#[test]
fn a_flow_through_a_marking_bottleneck_loses_nothing_and_fills_it() {
    let mut net = over(LINE);
    let first = goodput(&mut net, 2000);
    let rate = goodput(&mut net, 20_000);
    assert!(first > 80.0 && rate > 90.0, "{first} and {rate} Mbit/s");
    assert_eq!(net.ends[0].engine.statistics().retransmitted, 0);
    assert!(net.ends[0].engine.sends_marks());
    let marks = net.marks[1];
    assert!(marks.congested > 0 && marks.congested < marks.capable / 20, "{marks:?}");
}

#[test]
fn no_marks_are_sent_over_a_line_that_removes_them() {
    let mut net = over(Line { marks_from: 0, ..LINE });
    goodput(&mut net, 10);
    assert!(net.ends[0].engine.sends_marks());
    goodput(&mut net, 1000);
    assert!(!net.ends[0].engine.sends_marks());
}

#[test]
fn no_marks_are_sent_over_a_line_that_loses_datagrams_with_marks() {
    let mut net = over(LINE);
    net.pass(1000 * MILLISECOND);
    net.faults = Faults { loses_marks: true, ..Faults::default() };
    net.post_receive(1, 10_000);
    net.post(0, carrying(Descriptor::send(), &pattern(1, 10_000)));
    let began = net.now;
    net.until(|[one, _]| one.queues.send.is_empty());
    assert!(net.now - began < 1000 * MILLISECOND, "{} ms", (net.now - began) / MILLISECOND);
    assert!(net.ends.iter().all(|end| !end.engine.sends_marks()));
}

#[test]
fn unreliable_delivery_sends_no_marks() {
    let net = Net::new(Unreliable);
    assert!(!net.ends[0].engine.sends_marks());
}
