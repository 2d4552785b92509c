//! `fuzz`: feeds nonsense to what reads other people's bytes. The targets are the programs of `testing/fuzz`.
//!
//! What a run learns stays in `target/fuzz/corpus`; `testing/fuzz/seeds/TARGET` holds inputs to begin with.

use crate::program::{Program, at_once, target};
use crate::repo::root;
use crate::tools::{self, Tool};
use crate::{Outcome, Problem};
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

const FOLDER: &str = "testing/fuzz";
const SECONDS: u32 = 60;
/// An input that takes longer than this is a finding.
const INPUT_SECONDS_MAX: u32 = 10;

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let mut seconds = SECONDS;
    let mut names = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => {
                let value = arguments.next().and_then(|value| value.parse().ok());
                seconds = value.ok_or_else(|| Problem::failed("--seconds wants a number"))?;
            }
            name => names.push(name.to_owned()),
        }
    }
    run(seconds, &names)
}

pub(crate) fn quick() -> Outcome {
    run(2, &[])
}

pub(crate) fn thorough() -> Outcome {
    run(60, &[])
}

/// Fuzzes the targets named, or all, for so many seconds each.
pub(crate) fn run(seconds: u32, names: &[String]) -> Outcome {
    let chosen = chosen(names)?;
    build(seconds, &chosen)?;
    // Each is one thread: as many run at once as there are processors.
    let next = Mutex::new(chosen.iter());
    // On its own, so that the lock is not held while the target runs.
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(name) = take() {
            fuzz(name, seconds).map_err(|error| Problem::Failed(format!("{name}: {error}")))?;
        }
        Ok(())
    };
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    at_once((0..workers).map(|_| work))
}

/// Builds targets as cargo-fuzz does, which would have to be built itself. What runs for some seconds takes longer to optimise than that
/// gains.
fn build(seconds: u32, names: &[String]) -> Outcome {
    tools::ensure(&[Tool::Nightly])?;
    let (manifest, built) = (format!("{FOLDER}/Cargo.toml"), target().join("fuzz").display().to_string());
    let options = ["build", "--quiet", "--release", "--manifest-path", &manifest, "--target-dir", &built];
    let targets: Vec<_> = names.iter().flat_map(|name| ["--bin", name]).collect();
    // With the machine's own target named, build scripts and macros are built without these flags.
    let cargo = tools::nightly_cargo(&options).with(&["--target", &machine()]).with(&targets);
    let cargo = cargo.variable("RUSTFLAGS", FLAGS.join(" "));
    let cargo = if seconds < SECONDS { cargo.variable("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0") } else { cargo };
    cargo.run()
}

fn machine() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// What is compiled in: what tells libFuzzer where an input went and what it was compared with, and the address sanitizer. In several units
/// nothing would be inlined from one into another.
const FLAGS: [&str; 11] = [
    "--cfg=fuzzing",
    "-Cdebug-assertions",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-sanitizer-coverage-stack-depth",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Zsanitizer=address",
    "-Ccodegen-units=1",
];

/// The targets named, if there are such, or all.
fn chosen(names: &[String]) -> Outcome<Vec<String>> {
    let manifest = std::fs::read_to_string(root().join(FOLDER).join("Cargo.toml"))
        .map_err(|error| Problem::missing(format!("{FOLDER}/Cargo.toml: {error}")))?;
    let targets = targets(&manifest);
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        let known = targets.join(", ");
        return Err(Problem::Failed(format!("there is no target {unknown:?}; there are {known}")));
    }
    let chosen = if names.is_empty() { targets } else { names.to_vec() };
    if chosen.is_empty() {
        return Err(Problem::missing(format!("{FOLDER}/Cargo.toml names no target")));
    }
    Ok(chosen)
}

fn fuzz(name: &str, seconds: u32) -> Outcome {
    let (corpus, found) = (target().join("fuzz/corpus").join(name), root().join(FOLDER).join("artifacts").join(name));
    for folder in [&corpus, &found] {
        std::fs::create_dir_all(folder).map_err(|error| Problem::Failed(format!("{}: {error}", folder.display())))?;
    }
    let built = target().join("fuzz").join(machine()).join("release").join(name).display().to_string();
    // The sanitizer would take variables for the same that the linker has given one address.
    let mut program = Program::new(&built, &[]).variable("ASAN_OPTIONS", "detect_odr_violation=0");
    program = program.argument(corpus.display().to_string());
    let seeds = root().join(FOLDER).join("seeds").join(name);
    if seeds.is_dir() {
        program = program.argument(seeds.display().to_string());
    }
    let program = program
        .with(&["-verbosity=0", "-print_final_stats=1"])
        .argument(format!("-max_total_time={seconds}"))
        .argument(format!("-timeout={INPUT_SECONDS_MAX}"))
        .argument(format!("-artifact_prefix={}/", found.display()));
    println!("    $ {}", program.line());
    let said = program.read_errors()?;
    let count = statistic(&said, "number_of_executed_units").unwrap_or_default();
    if count == 0 {
        return Err(Problem::Failed(format!("{name} was given no input:\n{said}")));
    }
    println!("    {name}: {count} inputs in {seconds} s, nothing found");
    Ok(())
}

/// A number that libFuzzer ends with.
fn statistic(said: &str, name: &str) -> Option<u64> {
    let line = said.lines().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name));
    line?.trim_start_matches(':').trim().parse().ok()
}

/// The programs that a manifest names.
fn targets(manifest: &str) -> Vec<String> {
    let mut in_bin = false;
    let mut targets = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            in_bin = line == "[[bin]]";
        } else if let Some(name) = line.strip_prefix("name = ").filter(|_| in_bin) {
            targets.push(name.trim_matches('"').to_owned());
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::{statistic, targets};

    #[test]
    fn targets_are_the_programs() {
        let manifest = "[package]\nname = \"fuzz\"\n[[bin]]\nname = \"a\"\npath = \"a.rs\"\n[[bin]]\nname = \"b\"\n";
        assert_eq!(targets(manifest), ["a", "b"]);
    }

    #[test]
    fn inputs_are_counted() {
        let said = "Done 2 runs\nstat::number_of_executed_units: 4108\nstat::average_exec_per_sec:     373\n";
        assert_eq!(statistic(said, "number_of_executed_units"), Some(4108));
        assert_eq!(statistic(said, "slowest_unit_time_sec"), None);
    }
}
