//! `fuzz`: runs libFuzzer on the code that reads untrusted bytes. The targets are files of
//! `testing/fuzz-targets`. The unit tests of these files also feed the targets a few random inputs.
//!
//! A run's corpus stays in `target/fuzz/corpus`. The folder `testing/fuzz-targets/seeds/TARGET`
//! contains the initial inputs.

use crate::outcome::{Outcome, Problem, entries};
use crate::program::{Program, at_once, target};
use crate::repo::root;
use crate::tools::{self, Tool};
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

const FOLDER: &str = "testing/fuzz";
/// The folder of the targets. Each file except `lib.rs` is a target.
const TARGETS: &str = "testing/fuzz-targets/src";
const NOT_A_TARGET: &str = "lib";
const SEEDS: &str = "testing/fuzz-targets/seeds";
/// The environment variable that tells the program the target's name.
const VARIABLE: &str = "OBVIA_FUZZ_TARGET";
/// The default time for each target, in seconds.
const SECONDS: u32 = 60;
/// The time limit for an input in seconds. A slower input counts as a finding.
const INPUT_SECONDS_MAX: u32 = 10;

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let mut seconds = SECONDS;
    let mut names = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--list" => return list(),
            "--seconds" => {
                let value = arguments.next().and_then(|value| value.parse().ok());
                seconds = value.ok_or_else(|| Problem::failed("--seconds wants a number"))?;
            }
            name => names.push(name.to_owned()),
        }
    }
    run(seconds, &names)
}

/// Fuzzes each target for a minute, starting from the corpus of earlier runs.
pub(crate) fn thorough() -> Outcome {
    run(SECONDS, &[])
}

/// Prints the targets with their descriptions.
fn list() -> Outcome {
    for name in targets()? {
        let file = root().join(TARGETS).join(format!("{name}.rs"));
        let text = fs::read_to_string(&file).map_err(|error| Problem::at(&file, &error))?;
        println!("{name:<16} {}", text.lines().next().unwrap_or_default().trim_start_matches("//! "));
    }
    Ok(())
}

/// Fuzzes the named targets, or all targets if none is named.
fn run(seconds: u32, names: &[String]) -> Outcome {
    let chosen = chosen(targets()?, names)?;
    let program = build()?;
    // Each target has one thread, so as many targets run concurrently as there are processors.
    let next = Mutex::new(chosen.iter());
    // The lock is taken in a closure of its own, so that it is not held while the target runs.
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(name) = take() {
            fuzz(&program, name, seconds).map_err(|error| Problem::Failed(format!("{name}: {error}")))?;
        }
        Ok(())
    };
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    at_once((0..workers).map(|_| work))
}

/// Builds the program with the flags of cargo-fuzz, and returns the program's path. cargo-fuzz is
/// not used, because it would have to be built first.
fn build() -> Outcome<PathBuf> {
    tools::ensure(&[Tool::Nightly])?;
    let (manifest, folder) = (format!("{FOLDER}/Cargo.toml"), target().join("fuzz"));
    let options = ["build", "--quiet", "--manifest-path", &manifest, "--target-dir", &folder.display().to_string()];
    let mut cargo = tools::nightly_cargo(&options);
    if let Some(library) = libfuzzer() {
        cargo = cargo.variable("CUSTOM_LIBFUZZER_PATH", library);
    }
    // The explicit `--target` keeps these flags away from build scripts and macros.
    cargo.with(&["--release", "--target", &machine()]).variable("RUSTFLAGS", FLAGS.join(" ")).run()?;
    Ok(folder.join(machine()).join("release/fuzz"))
}

/// Returns the path of clang's libFuzzer, if there is one. Without this file, the crate
/// libfuzzer-sys compiles its own libFuzzer, which takes half a minute.
fn libfuzzer() -> Option<String> {
    let name = format!("libclang_rt.fuzzer-{}.a", std::env::consts::ARCH);
    let path = Program::new("clang", &[]).argument(format!("-print-file-name={name}")).read().ok()?;
    // If the file does not exist, clang prints the file's name without a folder.
    Some(path.trim().to_owned()).filter(|path| Path::new(path).is_absolute() && Path::new(path).exists())
}

fn machine() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// The instrumentation: coverage and comparisons for libFuzzer, and the address sanitizer. A single
/// codegen unit allows inlining across the crate.
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

/// Returns the targets, which are the modules' names.
fn targets() -> Outcome<Vec<String>> {
    let entries = entries(&root().join(TARGETS))?;
    let names = entries.iter().filter_map(|path| path.file_name()?.to_str()?.strip_suffix(".rs"));
    Ok(names.filter(|name| *name != NOT_A_TARGET).map(str::to_owned).collect())
}

/// Returns the named targets, or all targets if none is named. Reports an unknown name.
fn chosen(targets: Vec<String>, names: &[String]) -> Outcome<Vec<String>> {
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        let known = targets.join(", ");
        return Err(Problem::Failed(format!("there is no target {unknown:?}; there are {known}")));
    }
    let chosen = if names.is_empty() { targets } else { names.to_vec() };
    if chosen.is_empty() {
        return Err(Problem::missing(format!("{TARGETS} has no target")));
    }
    Ok(chosen)
}

/// Creates the folders for the corpus and for findings.
fn folders(name: &str) -> Outcome<[PathBuf; 2]> {
    let folders = [target().join("fuzz/corpus").join(name), root().join(FOLDER).join("artifacts").join(name)];
    for folder in &folders {
        fs::create_dir_all(folder).map_err(|error| Problem::at(folder, &error))?;
    }
    Ok(folders)
}

fn fuzz(program: &Path, name: &str, seconds: u32) -> Outcome {
    let [corpus, found] = folders(name)?;
    // The check for violations of the one-definition rule is off, because it would report variables
    // that the linker has merged.
    let mut program = Program::new(&program.display().to_string(), &[])
        .variable(VARIABLE, name)
        .variable("ASAN_OPTIONS", "detect_odr_violation=0")
        .argument(corpus.display().to_string());
    let seeds = root().join(SEEDS).join(name);
    if seeds.is_dir() {
        program = program.argument(seeds.display().to_string());
    }
    let program = program
        .with(&["-verbosity=0", "-print_final_stats=1"])
        .argument(format!("-max_total_time={seconds}"))
        .argument(format!("-timeout={INPUT_SECONDS_MAX}"))
        .argument(format!("-artifact_prefix={}/", found.display()));
    println!("    $ {}", program.line());
    let began = Instant::now();
    let said = program.read_errors()?;
    let count = statistic(&said, "number_of_executed_units").unwrap_or_default();
    if count == 0 {
        return Err(Problem::Failed(format!("{name} was given no input:\n{said}")));
    }
    println!("    {name}: {count} inputs in {:.1} s, nothing found", began.elapsed().as_secs_f64());
    Ok(())
}

/// Returns a number from libFuzzer's final statistics, if they contain it.
fn statistic(said: &str, name: &str) -> Option<u64> {
    let line = said.lines().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name));
    line?.trim_start_matches(':').trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{chosen, statistic, targets};
    use crate::outcome::Problem;

    #[test]
    fn fuzz_targets_are_found_by_file() {
        let targets = targets().unwrap();
        assert!(targets.is_sorted() && targets.iter().any(|name| name == "flat_check"), "{targets:?}");
    }

    #[test]
    fn unknown_fuzz_targets_are_refused_before_the_build() {
        let all = || ["a", "b"].map(str::to_owned).to_vec();
        assert_eq!(chosen(all(), &[]), Ok(all()));
        assert_eq!(chosen(all(), &all()[1..]), Ok(all()[1..].to_vec()));
        let unknown = "there is no target \"c\"; there are a, b".to_owned();
        assert_eq!(chosen(all(), &["c".to_owned()]), Err(Problem::Failed(unknown)));
    }

    #[test]
    fn executed_fuzz_inputs_are_counted() {
        let said = "Done 2 runs\nstat::number_of_executed_units: 4108\nstat::average_exec_per_sec:     373\n";
        assert_eq!(statistic(said, "number_of_executed_units"), Some(4108));
        assert_eq!(statistic(said, "slowest_unit_time_sec"), None);
    }
}
