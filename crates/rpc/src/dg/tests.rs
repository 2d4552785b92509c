//! Tests of activities and servers over an unreliable network that is simulated from a seed.

mod network;
mod single;
mod unidentified;

use network::{Conditions, Random, Simulation};

/// The number of simulated networks, limited so that the tests end soon.
const SEEDS: u64 = if cfg!(miri) { 1 } else { 150 };

#[test]
fn datagram_calls_are_answered_over_a_bad_network() {
    for seed in 0..SEEDS {
        let mut random = Random(seed);
        let conditions = Conditions {
            loss: random.below(21),
            doubling: random.below(21),
            delay: 1 + random.below(100),
            restarts: false,
            work: [0, 10, 1_000, 12_000][random.below(4) as usize],
        };
        let mut simulation = Simulation::new(seed, 4, 12, conditions);
        simulation.run();
        assert_eq!(simulation.failed, [], "seed {seed}: {conditions:?}");
        simulation.forget();
    }
}

#[test]
fn no_datagram_call_is_performed_twice_across_server_restarts() {
    let (mut answered, mut failed) = (0, 0);
    for seed in 0..SEEDS {
        let mut random = Random(seed ^ 0xabcd);
        let conditions = Conditions {
            loss: random.below(31),
            doubling: random.below(41),
            delay: 1 + random.below(300),
            restarts: true,
            work: [0, 10, 1_000][random.below(3) as usize],
        };
        let mut simulation = Simulation::new(seed, 4, 12, conditions);
        simulation.run();
        simulation.forget();
        answered += simulation.answered;
        failed += simulation.failed.len();
    }
    // Checks that the test has exercised enough calls and failures.
    assert!(
        answered > 10 * SEEDS as u32 && failed > SEEDS as usize || cfg!(miri),
        "{answered} answered, {failed} failed"
    );
}
