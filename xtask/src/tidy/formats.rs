//! What other tools check: formatting and lints.

use crate::program::Program;
use crate::{Outcome, workspace};

/// Formatting, as rustfmt has it, package by package: what lies in `testing/fuzz` is a workspace of its own.
pub(super) fn rustfmt() -> Outcome {
    Program::cargo(&["fmt", "--all", "--check"]).run()?;
    let fuzz = "testing/fuzz/Cargo.toml";
    if !crate::repo::root().join(fuzz).exists() {
        return Ok(());
    }
    Program::cargo(&["fmt", "--manifest-path", fuzz, "--check"]).run()
}

/// Lints of rustc and clippy, warnings included, with the features that can be had: without them there is less source, which the tests build.
pub(super) fn clippy() -> Outcome {
    let words = ["clippy", "--quiet", "--workspace", "--all-targets", &workspace::features(), "--", "-D", "warnings"];
    Program::cargo(&words).run()
}
