//! `miri`: runs unit tests in an interpreter that detects undefined behaviour.
//!
//! Miri does not support shared memory, sockets with descriptors, or other processes. Tests that
//! need them are marked with `#[cfg_attr(miri, ignore)]`.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, at_once, target};
use crate::repo::{File, Repo, load};
use crate::tidy::is_unsafe;
use crate::tools::{self, Tool};

/// The crates whose unit tests run under Miri, with the folders of their sources.
const PACKAGES: [(&str, &str); 2] = [("obvia-via", "crates/via/src/"), ("obvia", "crates/com/src/")];

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
    run_all(&[(program, QUICK.iter().map(|module| module.name.to_owned()).collect())])
}

/// Runs the unit tests of all modules with unsafe code, the tests of a quick run, and the tests of
/// `matrix` that call within one process.
pub(crate) fn thorough() -> Outcome {
    let repo = load()?;
    let libraries = PACKAGES.map(|(package, source)| {
        let quick = QUICK.iter().filter(|_| package == "obvia-via").map(|module| module.name.to_owned());
        (library(package), modules_with_unsafe(&repo, source).into_iter().chain(quick).collect())
    });
    // windows-core's traits derive interface pointers from `&self`, and Stacked Borrows forbids
    // that. Therefore the aliasing rules are not checked for this program.
    let pairs = program(&["--package", "matrix", "--test", "matrix"], "-Zmiri-disable-stacked-borrows");
    run_all(&libraries.into_iter().chain([(pairs, vec![PAIRS.to_owned()])]).collect::<Vec<_>>())
}

/// Returns the paths of the modules of a crate that contain unsafe code. The tests of other modules
/// take hours in an interpreter, or use parts of the system that Miri does not support.
fn modules_with_unsafe(repo: &Repo, source: &str) -> Vec<String> {
    let module = |file: &File| {
        let path = file.path.strip_prefix(source)?.strip_suffix(".rs")?;
        is_unsafe(file).then(|| format!("{}::", path.trim_end_matches("/tests").replace('/', "::")))
    };
    repo.files.iter().filter_map(module).collect()
}

/// Runs the modules of test programs concurrently, because each program has only one thread.
fn run_all(runs: &[(Program, Vec<String>)]) -> Outcome {
    tools::ensure(&[Tool::Miri])?;
    runs.iter().try_for_each(|(program, _)| program.with(&["--quiet", "--no-run"]).run())?;
    let run = |(program, options): &(Program, Vec<String>)| {
        let words: Vec<&str> = ["--quiet", "--"].into_iter().chain(options.iter().map(String::as_str)).collect();
        program.with(&words).run()
    };
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
    use super::{PACKAGES, PAIRS, QUICK, modules_with_unsafe};
    use crate::repo::{load, root};

    /// A misspelt module would silently run no tests.
    #[test]
    fn modules_selected_for_miri_exist() {
        let is_there = |folder: &str, module: &str| {
            let source = root().join(folder);
            let path = module.trim_end_matches("::").replace("::", "/");
            source.join(&path).is_dir() || source.join(format!("{path}.rs")).is_file()
        };
        assert!(QUICK.iter().all(|module| is_there("crates/via/src", module.name)));
        assert!(is_there("testing/matrix/tests", PAIRS));
        let manifest = std::fs::read_to_string(root().join("testing/matrix/Cargo.toml")).unwrap();
        assert!(manifest.contains("[[test]]\nname = \"matrix\"\n"), "the test program has another name");
        let [via, com] = PACKAGES.map(|(_, source)| modules_with_unsafe(&load().unwrap(), source));
        assert!(via.contains(&"window::mapping::".to_owned()) && com.contains(&"server::dispatch::".to_owned()));
        assert!(!com.contains(&"server::clients::".to_owned()), "the module has no unsafe code");
    }
}
