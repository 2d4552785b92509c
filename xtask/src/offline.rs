//! Fetches the crates that a test run would else fetch while it goes on, so that a run without a network can follow.

use crate::program::Program;
use crate::tools::{self, Tool};

/// The manifests of the project's workspaces.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "testing/fuzz/Cargo.toml"];

/// Fetches crates, and what Miri builds its standard library of. What can't be had now may be there already: the parts say what they lack.
pub(crate) fn fetch(tools: &[Tool]) {
    for manifest in MANIFESTS {
        report(Program::cargo(&["fetch", "--quiet", "--locked", "--manifest-path", manifest]).run());
    }
    if tools.contains(&Tool::Miri) {
        report(tools::nightly_cargo(&["miri", "setup"]).read().map(drop));
    }
}

fn report(outcome: crate::Outcome) {
    if let Err(problem) = outcome {
        println!("    {problem}");
    }
}
