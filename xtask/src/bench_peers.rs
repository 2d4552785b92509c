//! `bench-peers`: builds the program that measures other systems beside obvia, and runs it.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::workspace::{PEERS, linting};
use std::path::PathBuf;

const PROGRAM: &str = "obvia-bench-peers";

pub(crate) fn main(arguments: &[String]) -> Outcome {
    cargo("build").with(&["--release"]).run()?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    program("release", &arguments).replace()
}

/// Lints and tests the program, and makes it measure each system for a moment. Checks the licences
/// of the crates of this workspace and of the main workspace.
pub(crate) fn thorough() -> Outcome {
    let said = linting(cargo("build")).with(&["--bins", "--tests"]).read_errors()?;
    if !said.trim().is_empty() {
        return Err(Problem::Failed(said));
    }
    // One of the tests needs the compiler of Cap'n Proto, and is ignored in other runs.
    linting(cargo("test")).with(&["--", "--include-ignored"]).run()?;
    program("debug", &["--quick"]).run()?;
    [PEERS, "Cargo.toml"].into_iter().try_for_each(|manifest| {
        let check = ["deny", "--manifest-path", manifest, "--config", "deny.toml", "check"];
        Program::cargo(&check).with(&["--hide-inclusion-graph", "bans", "licenses", "sources"]).run()
    })
}

/// Returns a command of cargo for the program's workspace.
fn cargo(command: &str) -> Program {
    Program::cargo(&[command, "--quiet", "--locked", "--manifest-path", PEERS, "--target-dir"])
        .argument(folder().display().to_string())
}

/// Returns the program, built by a profile.
fn program(profile: &str, arguments: &[&str]) -> Program {
    Program::new(&folder().join(profile).join(PROGRAM).display().to_string(), arguments)
}

fn folder() -> PathBuf {
    target().join("peers")
}
