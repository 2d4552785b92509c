//! Test programs with a name of their own: `tests/NAME.rs` of any crate, run by the part of that name.
//!
//! Their tests are marked `#[ignore]` where they take long or need the machine for themselves, so that `cargo test` alone
//! stays quick.

use crate::program::Program;
use crate::repo::Repo;
use crate::{Outcome, Problem};

/// How many tests run at a time that wait for wires to be silent most of the time, not for processors.
pub(crate) const WAITING: &str = "--test-threads=4";

/// Runs `tests/NAME.rs` wherever it is, in release mode, the tests that `cargo test` ignores included.
pub(crate) fn run(name: &str, variables: &[(&str, String)]) -> Outcome {
    for program in programs(name)? {
        let with = |program: Program, (name, value): &(&str, String)| program.variable(name, value.clone());
        run_tests(&variables.iter().fold(program, with), &["--include-ignored"])?;
    }
    Ok(())
}

fn programs(name: &str) -> Outcome<Vec<Program>> {
    let packages = packages_with(&load()?, name);
    if packages.is_empty() {
        return Err(Problem::missing(format!("no crate has tests/{name}.rs yet")));
    }
    let program = |package: &String| Program::cargo_release(&["test", "--package", package, "--test", name]);
    Ok(packages.iter().map(program).collect())
}

/// Runs `tests/NAME.rs` wherever it is, with features that each of these packages has.
/// Not optimised: what such tests wait for are wires, and what they build nobody else uses.
pub(crate) fn run_with(name: &str, features: &[&str], options: &[&str]) -> Outcome {
    run_tests(&program_with(name, features)?, options)
}

fn program_with(name: &str, features: &[&str]) -> Outcome<Program> {
    let packages = packages_with(&load()?, name);
    let all = |package: &String| features.iter().map(move |feature| format!("{package}/{feature}")).collect::<Vec<_>>();
    let features: Vec<_> = packages.iter().flat_map(all).collect();
    let packages: Vec<_> = packages.iter().flat_map(|package| ["--package", package]).collect();
    let program = Program::cargo_with_features(&["test", "--test", name]).with(&["--features", &features.join(",")]);
    Ok(program.with(&packages))
}

/// Runs the tests of a `cargo test` command, and takes it for a failure when there are none.
pub(crate) fn run_tests(cargo: &Program, options: &[&str]) -> Outcome {
    let listed = cargo.with(&["--quiet", "--", "--list"]).with(options).read()?;
    let count = listed.lines().filter(|line| line.ends_with(": test")).count();
    if count == 0 {
        return Err(Problem::Failed(format!("{}: has no test", cargo.line())));
    }
    cargo.with(&["--quiet", "--"]).with(options).run_tests()
}

/// Builds the tests of a `cargo test` command.
pub(crate) fn build_tests(cargo: &Program) -> Outcome {
    cargo.with(&["--quiet", "--no-run"]).run()
}

pub(crate) fn load() -> Outcome<Repo> {
    Repo::load().map_err(Problem::Failed)
}

/// The packages that have a test program of that name.
fn packages_with(repo: &Repo, name: &str) -> Vec<String> {
    let inside = format!("/tests/{name}.rs");
    let folders = repo.files.iter().filter_map(|file| file.path.strip_suffix(&inside));
    let manifests = folders.filter_map(|folder| repo.file(&format!("{folder}/Cargo.toml")));
    manifests.filter_map(|manifest| package(&manifest.text)).collect()
}

/// The name that a manifest gives its package.
fn package(manifest: &str) -> Option<String> {
    let line = manifest.lines().find(|line| line.starts_with("name = "))?;
    Some(line.split('"').nth(1)?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::packages_with;
    use crate::repo::Repo;

    #[test]
    fn packages_are_found_by_their_test_programs() {
        let repo = Repo::of(&[
            ("crates/com/Cargo.toml", "[package]\nname = \"obvia\"\n"),
            ("crates/com/tests/kill.rs", ""),
            ("crates/via/Cargo.toml", "[package]\nname = \"obvia-via\"\n"),
            ("crates/via/tests/hostile.rs", ""),
        ]);
        assert_eq!(packages_with(&repo, "kill"), ["obvia"]);
        assert_eq!(packages_with(&repo, "soak"), [""; 0]);
    }
}
