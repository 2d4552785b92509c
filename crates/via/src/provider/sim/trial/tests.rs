//! Some trials, and the proof that trials can fail.

use super::{Mutation, Summary, finding, replay, trial};

/// `cargo xtask sim` runs many more trials.
#[test]
fn trials_cover_every_case_and_keep_every_promise() {
    let mut total = Summary::default();
    for seed in 1_000_000..1_000_060 {
        total.add(&trial(seed, None).unwrap_or_else(|failure| panic!("{failure}")));
    }
    assert!(total.connections > 60 && total.done > 1000 && total.received > 400, "{total}");
    let [here, by_peer, silent, not_ready, too_long, protection, violation] = total.ended;
    assert!([here, by_peer, silent, not_ready, too_long, protection].iter().all(|count| *count > 2), "{total}");
    assert_eq!(violation, 0);
    let datagrams = total.datagrams;
    assert!(datagrams.lost > 20 && datagrams.corrupted > 20 && datagrams.reordered > 20, "{total}");
}

#[test]
fn trials_detect_every_mutation() {
    for mutation in Mutation::ALL {
        let found = (0..24).filter_map(|seed| finding(seed, mutation)).count();
        assert!(found >= 3, "{mutation:?} goes unnoticed: only {found} of 24 trials found it");
    }
}

#[test]
fn trial_findings_name_the_broken_promise() {
    let is_said = |mutation, what: &str| {
        let mut findings = (0..100).filter_map(|seed| finding(seed, mutation));
        assert!(findings.any(|finding| finding.contains(what)), "{mutation:?}: nobody says {what:?}");
    };
    is_said(Mutation::Payload, "lost, doubled, out of order or damaged");
    is_said(Mutation::Payload, "read other bytes than expected");
    is_said(Mutation::Immediate, "lost, doubled, out of order or damaged");
    is_said(Mutation::Haste, "before it was received: reliable reception");
    is_said(Mutation::Haste, "before it was written: reliable reception");
    is_said(Mutation::Famine, "not over at");
    is_said(Mutation::Lie, "was done");
    is_said(Mutation::Whim, "the connection ended with Silent");
}

#[test]
fn trial_failures_include_seed_and_trace() {
    let failure = (0..24).find_map(|seed| trial(seed, Some(Mutation::Haste)).err()).unwrap();
    let text = failure.to_string();
    assert!(text.ends_with(&format!("\nseed {}: {}", failure.seed, failure.what)), "{text}");
    assert!(text.contains("round 0 begins") && !failure.what.contains("second run"), "{text}");
}

#[test]
fn trials_are_deterministic_per_seed() {
    for seed in 0..20 {
        let (one, other) = (replay(seed), replay(seed));
        assert!(one == other, "seed {seed} differs");
        assert!(one.1.contains("round 0 begins"));
    }
    assert_ne!(replay(1).1, replay(2).1);
}
