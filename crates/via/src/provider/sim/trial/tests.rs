//! Some hundreds of trials, and the proof that trials can fail.

use super::{Mutation, Summary, replay, trial};

#[test]
fn hundreds_of_trials_keep_every_promise() {
    let mut total = Summary::default();
    for seed in 1_000_000..1_000_300 {
        total.add(&trial(seed, None).unwrap_or_else(|failure| panic!("{failure}")));
    }
    // They try what they are for.
    assert!(total.connections > 300 && total.done > 5000 && total.received > 2000, "{total}");
    let [here, by_peer, silent, not_ready, too_long, protection, violation] = total.ended;
    assert!([here, by_peer, silent, not_ready, too_long, protection].iter().all(|count| *count > 10), "{total}");
    assert_eq!(violation, 0);
    let datagrams = total.datagrams;
    assert!(datagrams.lost > 100 && datagrams.corrupted > 100 && datagrams.reordered > 100, "{total}");
}

#[test]
fn every_mutation_is_noticed() {
    for mutation in Mutation::ALL {
        let failures: Vec<_> = (0..60).filter_map(|seed| trial(seed, Some(mutation)).err()).collect();
        assert!(failures.len() >= 3, "{mutation:?} goes unnoticed: only {} of 60 trials failed", failures.len());
        for failure in &failures {
            assert!(!failure.what.contains("second run"), "{}", failure.what);
        }
    }
}

/// What the judge says of a mutation, shortened to what all such findings have in it.
fn is_said(mutation: Mutation, what: &str) -> bool {
    (0..100).filter_map(|seed| trial(seed, Some(mutation)).err()).any(|failure| failure.what.contains(what))
}

#[test]
fn findings_name_the_promise_that_was_broken() {
    assert!(is_said(Mutation::Payload, "lost, doubled, out of order or damaged"));
    assert!(is_said(Mutation::Payload, "has read something else"));
    assert!(is_said(Mutation::Immediate, "lost, doubled, out of order or damaged"));
    assert!(is_said(Mutation::Haste, "before it was received: reliable reception"));
    assert!(is_said(Mutation::Haste, "before it was written: reliable reception"));
    assert!(is_said(Mutation::Sloth, "not over at"));
    assert!(is_said(Mutation::Lie, "before it was received: reliable reception"));
    assert!(is_said(Mutation::Whim, "the connection ended with Silent"));
}

#[test]
fn a_seed_is_one_run_to_the_last_bit() {
    for seed in 0..20 {
        let (one, other) = (replay(seed), replay(seed));
        assert!(one == other, "seed {seed} differs");
        assert!(one.1.contains("round 0 begins"));
    }
    assert_ne!(replay(1).1, replay(2).1);
}
