//! What other tools check: formatting and lints.

use crate::program::Program;
use crate::test::wires;
use crate::{Outcome, tools};

/// Formatting, as rustfmt has it, package by package: what lies in `testing/fuzz` is a workspace of its own.
pub(super) fn rustfmt() -> Outcome {
    Program::cargo(&["fmt", "--all", "--check"]).run()?;
    let fuzz = "testing/fuzz/Cargo.toml";
    if !crate::repo::root().join(fuzz).exists() {
        return Ok(());
    }
    Program::cargo(&["fmt", "--manifest-path", fuzz, "--check"]).run()
}

/// Packages whose features bring source that is not looked at otherwise.
const FEATURED: [&str; 5] = ["obvia-via", "obvia", "obvia-conformance", "torture", "pfs"];

/// Lints of rustc and clippy, warnings included, with the features that can be had: without them there is less source, which the tests build.
pub(super) fn clippy() -> Outcome {
    let features = wires::features(tools::has_libfabric());
    let all = FEATURED.iter().flat_map(|package| features.iter().map(move |feature| format!("{package}/{feature}")));
    let clippy = Program::cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--features"]);
    clippy.argument(all.collect::<Vec<_>>().join(",")).with(&["--", "-D", "warnings"]).run()
}
