//! `loom`: explores the interleavings of threads and processes on shared memory. The tests have
//! `loom` in their path.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::load;

const PACKAGE: &str = "obvia-via";
const MANIFEST: &str = "crates/via/Cargo.toml";
/// The maximum number of preemptions in a quick run. With the limit, a model takes a moment.
/// Without a limit, it takes minutes.
const PREEMPTIONS_QUICK: &str = "3";

pub(crate) fn main(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err(Problem::failed("usage: cargo xtask loom"));
    }
    thorough()
}

/// Explores interleavings up to a limit of preemptions, as a part of a test run. The build is not
/// optimized, because optimizing would take longer than the models.
pub(crate) fn quick() -> Outcome {
    explore(&Program::cargo(&["test"]).variable("LOOM_MAX_PREEMPTIONS", PREEMPTIONS_QUICK))
}

/// Explores all interleavings.
pub(crate) fn thorough() -> Outcome {
    explore(&Program::cargo_release(&["test"]))
}

fn explore(cargo: &Program) -> Outcome {
    let has_loom = load()?.file(MANIFEST).is_some_and(|manifest| manifest.text.contains("\nloom"));
    if !has_loom {
        return Err(Problem::missing(format!("{MANIFEST} does not name loom yet")));
    }
    let tests = cargo
        .with(&["--package", PACKAGE, "--lib", "loom"])
        .variable("RUSTFLAGS", "--cfg loom")
        .variable("CARGO_TARGET_DIR", target().join("loom").display().to_string());
    let listed = tests.with(&["--quiet", "--", "--list"]).read()?;
    if !listed.lines().any(|line| line.ends_with(": test")) {
        return Err(Problem::Failed(format!("{}: has no test", tests.line())));
    }
    tests.with(&["--quiet"]).run()
}
