//! Formatting by rustfmt, and the lock file of `testing/fuzz`, which no test build reads.

use crate::outcome::Outcome;
use crate::program::Program;

/// Checks the formatting of both workspaces; `testing/fuzz` is one of its own.
pub(super) fn rustfmt() -> Outcome {
    Program::cargo(&["fmt", "--all", "--check"]).run()?;
    let fuzz = "testing/fuzz/Cargo.toml";
    if !crate::repo::root().join(fuzz).exists() {
        return Ok(());
    }
    Program::cargo(&["fmt", "--manifest-path", fuzz, "--check"]).run()?;
    // Only long runs build this workspace, so its lock file is checked here.
    Program::cargo(&["metadata", "--locked", "--format-version", "1", "--manifest-path", fuzz]).read().map(drop)
}
