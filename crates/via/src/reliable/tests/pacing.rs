//! Pacing: which packets wait, and which do not.

use super::losses::{known, line, repeated, transfer};
use super::{Line, MILLISECOND};

#[test]
fn ten_packets_are_sent_at_once() {
    let mut net = line(50);
    assert_eq!(transfer(&mut net, 10, |_| false), 50);
}

#[test]
fn packets_over_short_round_trips_are_not_paced() {
    let mut net = known(Line { delay: 400_000, ..Line::default() });
    let began = net.now;
    transfer(&mut net, 40, |_| false);
    assert_eq!(net.now - began, 800_000);
}

#[test]
fn a_window_of_packets_passes_a_short_queue() {
    let mut net = known(Line { delay: 25 * MILLISECOND, rate: 100_000_000, queue: 20_000, ..Line::default() });
    let took = transfer(&mut net, 40, |_| false);
    assert_eq!(repeated(&net), 0);
    assert!((60..100).contains(&took), "{took} ms: within one round trip, and spread over it");
}
