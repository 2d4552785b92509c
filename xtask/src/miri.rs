//! `miri`: runs unit tests in an interpreter that notices undefined behaviour.
//!
//! Miri knows no shared memory, no sockets with descriptors and no other process. Tests that need those say so with
//! `#[cfg_attr(miri, ignore)]`.

use crate::program::target;
use crate::{Outcome, Problem, tools};

/// The crates that have `unsafe` in them.
const PACKAGES: &[&str] = &["obvia-via", "obvia"];

/// Modules of theirs without `unsafe`, whose tests sleep on files or would take hours in an interpreter.
const PASSED_OVER: &[&str] = &["provider::sim::", "reliable::", "vi::tests::", "wrap::"];

pub(crate) fn main(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err(Problem::failed("usage: cargo xtask miri"));
    }
    tools::miri()?;
    for package in PACKAGES {
        let skips = PASSED_OVER.iter().flat_map(|module| ["--skip", module]);
        let which: Vec<&str> = ["--package", package, "--lib", "--"].into_iter().chain(skips).collect();
        test(&which, "")?;
    }
    // Objects that windows-core's `implement` makes break the experimental rules of borrowing; all else is watched.
    test(&["--package", "matrix", "--test", "pairs"], "-Zmiri-disable-stacked-borrows")
}

fn test(which: &[&str], flags: &str) -> Outcome {
    tools::nightly_cargo(&["miri", "test", "--quiet"])
        .with(which)
        .variable("CARGO_TARGET_DIR", target().join("miri").display().to_string())
        .variable("MIRIFLAGS", format!("-Zmiri-disable-isolation -Zmiri-strict-provenance {flags}"))
        .run_tests()
}
