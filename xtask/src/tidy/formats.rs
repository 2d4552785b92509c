//! What other tools check: formatting and lints.

use crate::Outcome;
use crate::repo::root;
use std::process::Command;

/// Formatting, as rustfmt has it.
pub(super) fn rustfmt() -> Outcome {
    run(&["fmt", "--all", "--check"], "cargo fmt puts it right")
}

/// Lints of rustc and clippy, warnings included.
pub(super) fn clippy() -> Outcome {
    let arguments = [
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    run(&arguments, "see what it printed")
}

fn run(arguments: &[&str], advice: &str) -> Outcome {
    let status = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root())
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("cargo {} failed: {advice}", arguments.join(" ")))
}
