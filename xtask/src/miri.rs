//! `miri`: runs unit tests in an interpreter that detects undefined behaviour.
//!
//! Miri does not support shared memory, sockets with descriptors, or other processes. Tests that
//! need them are marked with `#[cfg_attr(miri, ignore)]`.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, at_once, target};
use crate::tools::{self, Tool};

/// The crates that contain `unsafe`.
const PACKAGES: &[&str] = &["obvia-via", "obvia"];

/// The modules of these crates that have no `unsafe`, and whose tests sleep on files or would take
/// hours in an interpreter. The exception is the checksum in `reliable::`, which uses an
/// instruction of the processor, and no memory.
const PASSED_OVER: &[&str] = &["orpc::", "provider::sim::", "reliable::", "vi::tests::", "wrap::"];

/// The modules of `obvia-via` in a quick run: those with memory that a peer may write. Other
/// modules take longer than a quick run may.
const QUICK: &[Module] = &[
    Module { name: "provider::shm::", why: "records and greetings in memory that a peer may write" },
    Module { name: "window::", why: "frames in mapped memory, and references from one mapping into another" },
];

/// A part of a package, by the path of its tests.
struct Module {
    name: &'static str,
    /// The code that makes the module worth a check.
    why: &'static str,
}

pub(crate) fn main(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err(Problem::failed("usage: cargo xtask miri"));
    }
    thorough()
}

/// Runs the modules of [`QUICK`], as a part of a test run.
pub(crate) fn quick() -> Outcome {
    for Module { name, why } in QUICK {
        println!("    {name} {why}");
    }
    // Neither macros nor tests need debug information.
    let program = library("obvia-via").variable("CARGO_PROFILE_DEV_DEBUG", "0");
    run_all(&[(program, QUICK.iter().map(|module| module.name).collect())])
}

/// Runs everything that Miri supports.
pub(crate) fn thorough() -> Outcome {
    let skips: Vec<_> = PASSED_OVER.iter().flat_map(|module| ["--skip", module]).collect();
    // windows-core's traits make interface pointers from `&self`, which violates the experimental
    // aliasing rules. So these rules, and only these, are not checked here.
    let pairs = program(&["--package", "matrix", "--test", "pairs"], "-Zmiri-disable-stacked-borrows");
    let programs = PACKAGES.iter().map(|package| library(package)).chain([pairs]);
    run_all(&programs.map(|program| (program, skips.clone())).collect::<Vec<_>>())
}

/// Runs test programs with their options concurrently, because each has one thread.
fn run_all(runs: &[(Program, Vec<&str>)]) -> Outcome {
    tools::ensure(&[Tool::Miri])?;
    runs.iter().try_for_each(|(program, _)| program.with(&["--quiet", "--no-run"]).run())?;
    let run = |(program, options): &(Program, Vec<&str>)| program.with(&["--quiet", "--"]).with(options).run();
    at_once(runs.iter().map(|one| move || run(one)))
}

/// Returns the unit tests of a package.
fn library(package: &str) -> Program {
    program(&["--package", package, "--lib"], "")
}

fn program(which: &[&str], flags: &str) -> Program {
    tools::nightly_cargo(&["miri", "test"])
        .with(which)
        .variable("CARGO_TARGET_DIR", target().join("miri").display().to_string())
        .variable("MIRIFLAGS", format!("-Zmiri-disable-isolation -Zmiri-strict-provenance {flags}"))
}

#[cfg(test)]
mod tests {
    use super::{PASSED_OVER, QUICK};
    use crate::repo::root;

    /// A misspelt module would silently run no tests.
    #[test]
    fn modules_selected_for_miri_exist() {
        let is_there = |package: &str, module: &str| {
            let source = root().join(if package == "obvia" { "crates/com/src" } else { "crates/via/src" });
            let path = module.trim_end_matches("::").trim_end_matches("::tests").replace("::", "/");
            source.join(&path).is_dir() || source.join(format!("{path}.rs")).is_file()
        };
        assert!(QUICK.iter().all(|module| is_there("obvia-via", module.name)));
        let anywhere = |module: &str| is_there("obvia", module) || is_there("obvia-via", module);
        assert!(PASSED_OVER.iter().all(|module| anywhere(module)));
    }
}
