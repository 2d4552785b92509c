//! `miri`: runs unit tests in an interpreter that notices undefined behaviour.
//!
//! Miri knows no shared memory, no sockets with descriptors and no other process. Tests that need those say so with
//! `#[cfg_attr(miri, ignore)]`.

use crate::program::{Program, at_once, target};
use crate::suite::build_tests;
use crate::{Outcome, Problem, tools};

/// The crates that have `unsafe` in them.
const PACKAGES: &[&str] = &["obvia-via", "obvia"];

/// Modules of theirs without `unsafe`, whose tests sleep on files or would take hours in an interpreter.
const PASSED_OVER: &[&str] = &["orpc::", "provider::sim::", "reliable::", "vi::tests::", "wrap::"];

pub(crate) fn main(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err(Problem::failed("usage: cargo xtask miri"));
    }
    thorough()
}

pub(crate) fn quick() -> Outcome {
    thorough()
}

pub(crate) fn thorough() -> Outcome {
    build()?;
    let skips: Vec<_> = PASSED_OVER.iter().flat_map(|module| ["--skip", module]).collect();
    let runs: Vec<_> = programs().iter().map(|program| program.with(&["--quiet", "--"]).with(&skips)).collect();
    at_once(runs.iter().map(|run| || run.run_tests()))
}

/// Builds the tests.
fn build() -> Outcome {
    tools::miri()?;
    programs().iter().try_for_each(build_tests)
}

/// The programs of tests.
fn programs() -> Vec<Program> {
    let package = |name: &&str| program(&["--package", name, "--lib"], "");
    // Objects that windows-core's `implement` makes break the experimental rules of borrowing; all else is watched.
    let pairs = program(&["--package", "matrix", "--test", "pairs"], "-Zmiri-disable-stacked-borrows");
    PACKAGES.iter().map(package).chain([pairs]).collect()
}

fn program(which: &[&str], flags: &str) -> Program {
    tools::nightly_cargo(&["miri", "test"])
        .with(which)
        .variable("CARGO_TARGET_DIR", target().join("miri").display().to_string())
        .variable("MIRIFLAGS", format!("-Zmiri-disable-isolation -Zmiri-strict-provenance {flags}"))
}
