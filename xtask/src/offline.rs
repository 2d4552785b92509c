//! Fetches the crates that a test run would otherwise download on the way. The run itself then
//! needs no network.

use crate::program::Program;
use crate::tools::{self, Tool};
use crate::workspace::PEERS;

/// The manifests of the workspaces that parts build.
const MANIFESTS: [&str; 3] = ["Cargo.toml", "bindings/python/Cargo.toml", "testing/fuzz/Cargo.toml"];

/// Fetches crates, and the sources from which Miri builds its standard library. Failures are only
/// reported, because the files may already exist. A part that needs a missing file reports that the
/// file is missing.
pub(crate) fn fetch(tools: &[Tool]) {
    // Only the group `peers` needs this tool, and the many crates of the systems that it measures.
    let peers = tools.contains(&Tool::Capnp).then_some(PEERS);
    for manifest in MANIFESTS.into_iter().chain(peers) {
        report(Program::cargo(&["fetch", "--quiet", "--locked", "--manifest-path", manifest]).run());
    }
    if tools.contains(&Tool::Miri) {
        report(tools::nightly_cargo(&["miri", "setup"]).read().map(drop));
    }
}

fn report(outcome: crate::outcome::Outcome) {
    if let Err(problem) = outcome {
        println!("    {problem}");
    }
}
