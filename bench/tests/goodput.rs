//! Goodput over lines with a delay and losses: obvia is not far behind the kernel's TCP.

use obvia_bench::goodput::{Conditions, Goodput, Plan, measure};
use std::time::Duration;

/// Returns the results for lines of 100 Mbit/s with the given losses and a round trip of 20 ms. Two
/// flows also share such a line. `None` without the necessary privileges, unless `CI` is set.
fn measured(losses: &[f64]) -> Option<Goodput> {
    let conditions = |loss| Conditions { rate: 100_000_000, round_trip: Duration::from_millis(20), loss };
    let plan = Plan {
        points: losses.iter().map(|loss| conditions(*loss)).collect(),
        time: Duration::from_secs(5),
        shared: Some((conditions(0.0), Duration::from_secs(15))),
        seed: 1,
    };
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

#[test]
#[ignore = "takes three minutes"]
fn obvia_is_not_far_behind_tcp_and_no_flow_starves_another() {
    let Some(goodput) = measured(&[0.0, 0.01]) else { return };
    for point in goodput.points {
        assert!(point.ratio() > 0.5, "{point:?}");
        assert!(point.conditions.loss > 0.0 || point.obvia > 60e6, "{point:?}");
    }
    for sharing in goodput.sharings {
        let [one, other] = sharing.rates;
        let share = one / (one + other);
        // Shares over such a short time vary much, because losses are seconds apart.
        assert!((0.1..=0.9).contains(&share) && one + other > 60e6, "{sharing:?}");
    }
}
