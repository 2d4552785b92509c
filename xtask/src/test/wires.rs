//! What takes features: virtual interfaces over AF_XDP and libfabric, and calls over them.

use crate::program::Program;
use crate::suite::WAITING;
use crate::{Outcome, suite, tools};

/// The optional features of every package that has them: what needs nothing but Rust, and, where that is there, libfabric.
pub(crate) fn features(is_fabric: bool) -> &'static [&'static str] {
    if is_fabric { &["xdp", "fabric"] } else { &["xdp"] }
}

/// Runs something with what is there, and says what was not.
fn with_features(run: impl FnOnce(&[&str]) -> Outcome) -> Outcome {
    let libfabric = tools::libfabric();
    run(features(libfabric.is_ok()))?;
    libfabric
}

/// The statements about virtual interfaces over AF_XDP and libfabric.
pub(super) fn conformance() -> Outcome {
    with_features(|features| suite::run_tests(&statements(features), &[WAITING]))
}

fn statements(features: &[&str]) -> Program {
    let package = ["test", "--package", "obvia-conformance"];
    let program = Program::cargo_release(&package).with(&["--features", &features.join(",")]);
    features.iter().fold(program, |program, feature| program.with(&["--test", feature]))
}

/// How each protocol sequence is had, and calls between hosts over all of them.
pub(super) fn net() -> Outcome {
    // A wire under libfabric is spoilt by the kernel. Without it the test says what it passes over.
    let nft = tools::nft();
    with_features(|features| {
        // With the command's package, as that is built for the other tests: see `Program::cargo_build`.
        let unit = Program::cargo_with_features(&["test", "--package", "obvia", "--package", "obvia-cli", "--lib"]);
        suite::run_tests(&unit.with(&["--features", &features.join(",")]), &[])?;
        suite::run_with("net", features, &["--include-ignored", WAITING])
    })?;
    nft
}
