//! Formatting, by rustfmt, and the lock file of `testing/fuzz`, which no test build reads.

use crate::Outcome;
use crate::program::Program;

/// Formatting, as rustfmt has it, package by package: what lies in `testing/fuzz` is a workspace of its own.
pub(super) fn rustfmt() -> Outcome {
    Program::cargo(&["fmt", "--all", "--check"]).run()?;
    let fuzz = "testing/fuzz/Cargo.toml";
    if !crate::repo::root().join(fuzz).exists() {
        return Ok(());
    }
    Program::cargo(&["fmt", "--manifest-path", fuzz, "--check"]).run()?;
    // A long run alone builds it: that its lock file is right is seen here.
    Program::cargo(&["metadata", "--locked", "--format-version", "1", "--manifest-path", fuzz]).read().map(drop)
}
