//! Goodput over lines with a delay and losses: obvia gets what docs/bench.md says, beside the
//! kernel's TCP.

use obvia_bench::goodput::{Conditions, Goodput, Plan, Point, Sharing, Transport, measure};
use std::time::Duration;

/// The least goodput of obvia, as a multiple of TCP's.
const RATIO_MIN: f64 = 0.9;

fn conditions(round_trip: u64, loss: f64) -> Conditions {
    Conditions { rate: 100_000_000, round_trip: Duration::from_millis(round_trip), loss }
}

/// Returns the results under these conditions. If `shares`, two flows also share a line with a
/// round trip of 20 ms. `None` without the necessary privileges, unless `CI` is set.
fn measured(points: Vec<Conditions>, shares: bool) -> Option<Goodput> {
    // Losses that move the rate of one flow to the other are some eight seconds apart.
    let shared = shares.then(|| (conditions(20, 0.0), Duration::from_secs(240)));
    let plan = Plan { points, time: Duration::from_secs(5), shared, seed: 1 };
    match measure(&plan, |step| eprintln!("{step}")) {
        Ok(goodput) => Some(goodput),
        Err(error) => {
            let why = error.to_string();
            let is_permission = ["simulating hosts takes", "/dev/net/tun"].iter().any(|need| why.contains(need));
            assert!(is_permission && !ground::is_ci(), "{why}");
            eprintln!("skipped: {why}");
            None
        }
    }
}

/// Whether obvia is as fast as promised, and fills a line that loses nothing.
fn is_fast(point: &Point) -> bool {
    point.ratio() >= RATIO_MIN && (point.conditions.loss > 0.0 || point.obvia > 60e6)
}

/// Whether the two flows have shares of 40 to 60 %, and fill the line. The shares of two flows of
/// TCP depend on the kernel alone, and are not checked.
fn is_fair(Sharing { flows, rates: [one, other], .. }: &Sharing) -> bool {
    let share = one / (one + other);
    (0.4..=0.6).contains(&share) && one + other > 60e6 || !flows.contains(&Transport::Obvia)
}

#[test]
#[ignore = "takes a quarter of an hour, and up to twice as long"]
fn obvia_is_as_fast_as_tcp_and_flows_share_a_line() {
    let all = [(1, 0.0), (100, 0.0), (1, 0.01), (100, 0.01)].map(|(trip, loss)| conditions(trip, loss));
    let Some(first) = measured(all.to_vec(), true) else { return };
    let slow: Vec<_> = first.points.iter().filter(|point| !is_fast(point)).map(|point| point.conditions).collect();
    let is_unfair = !first.sharings.iter().all(is_fair);
    if slow.is_empty() && !is_unfair {
        return;
    }
    // Other work of the machine disturbs a measurement, so it has a second chance.
    let Some(second) = measured(slow, is_unfair) else { return };
    assert!(second.points.iter().all(is_fast), "{:?}, then {:?}", first.points, second.points);
    assert!(second.sharings.iter().all(is_fair), "{:?}, then {:?}", first.sharings, second.sharings);
}
