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
const PASSED_OVER: &[&str] = &["access::guesses::", "orpc::", "provider::sim::", "reliable::", "vi::tests::", "wrap::"];

/// The module of the tests of `matrix` in which client and server share a process.
const PAIRS: &str = "pairs::";

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
    // windows-core's traits derive interface pointers from `&self`, and Stacked Borrows forbids
    // that. Therefore the aliasing rules are not checked for this program.
    let pairs = program(&["--package", "matrix", "--test", "matrix"], "-Zmiri-disable-stacked-borrows");
    let libraries = PACKAGES.iter().map(|package| (library(package), skips.clone()));
    run_all(&libraries.chain([(pairs, vec![PAIRS])]).collect::<Vec<_>>())
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
    use super::{PAIRS, PASSED_OVER, QUICK};
    use crate::repo::root;

    /// A misspelt module would silently run no tests.
    #[test]
    fn modules_selected_for_miri_exist() {
        let is_there = |folder: &str, module: &str| {
            let source = root().join(folder);
            let path = module.trim_end_matches("::").trim_end_matches("::tests").replace("::", "/");
            source.join(&path).is_dir() || source.join(format!("{path}.rs")).is_file()
        };
        assert!(QUICK.iter().all(|module| is_there("crates/via/src", module.name)));
        let anywhere = |module: &str| is_there("crates/com/src", module) || is_there("crates/via/src", module);
        assert!(PASSED_OVER.iter().all(|module| anywhere(module)));
        assert!(is_there("testing/matrix/tests", PAIRS));
        let manifest = std::fs::read_to_string(root().join("testing/matrix/Cargo.toml")).unwrap();
        assert!(manifest.contains("[[test]]\nname = \"matrix\"\n"), "the test program has another name");
    }
}
