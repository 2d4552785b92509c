//! `fuzz`: feeds nonsense to what reads other people's bytes. The targets are modules of the program in `testing/fuzz`.
//!
//! What a run learns stays in `target/fuzz/corpus`; `testing/fuzz/seeds/TARGET` holds inputs to begin with.

use crate::program::{Program, at_once, target};
use crate::repo::root;
use crate::tools::{self, Tool};
use crate::{Outcome, Problem};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use std::{fs, io};

const FOLDER: &str = "testing/fuzz";
/// Where each file is a target.
const TARGETS: &str = "src/targets";
/// The variable that names the target to the program.
const VARIABLE: &str = "OBVIA_FUZZ_TARGET";
/// The program's own options where everything is built once and nothing is optimised.
const QUICK_OPTIONS: &str = "testing/fuzz/quick.toml";
/// Seconds that a target gets unless told otherwise. What gets less is not optimised: that takes longer than it gains.
const SECONDS: u32 = 60;

/// How much is made of each target.
#[derive(Clone, Copy)]
struct Effort {
    seconds: u32,
    /// Inputs after which a target is done before its time.
    inputs_max: Option<u32>,
    /// Whether it begins with the seeds alone and keeps nothing, so that each run is like the other.
    is_repeatable: bool,
}

impl Effort {
    const QUICK: Self = Self { seconds: 1, inputs_max: Some(4000), is_repeatable: true };

    fn of_seconds(seconds: u32) -> Self {
        Self { seconds, inputs_max: None, is_repeatable: false }
    }

    fn is_optimised(self) -> bool {
        self.seconds >= SECONDS
    }

    /// An input that takes longer than this is a finding. The time is the wall's, which other programs use, too.
    fn input_seconds_max(self) -> u32 {
        if self.is_optimised() { 10 } else { 60 }
    }

    /// What libFuzzer draws its numbers from; it cannot be 0.
    fn seed(self) -> u32 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if self.is_repeatable { 1 } else { now.subsec_nanos().max(1) }
    }
}

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
    if seconds == SECONDS && names.is_empty() {
        return thorough();
    }
    run(Effort::of_seconds(seconds), &names)
}

/// The part of a test run: each target's seeds, and what is made of them in a moment.
pub(crate) fn quick() -> Outcome {
    run(Effort::QUICK, &[])
}

/// Each target for a minute, optimised, from what earlier runs have learned on.
pub(crate) fn thorough() -> Outcome {
    run(Effort::of_seconds(SECONDS), &[])
}

/// Prints the targets, and what each does.
fn list() -> Outcome {
    for name in targets()? {
        let file = root().join(FOLDER).join(TARGETS).join(format!("{name}.rs"));
        let text = fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?;
        println!("{name:<16} {}", text.lines().next().unwrap_or_default().trim_start_matches("//! "));
    }
    Ok(())
}

/// Fuzzes the targets named, or all.
fn run(effort: Effort, names: &[String]) -> Outcome {
    let chosen = chosen(targets()?, names)?;
    let program = build(effort)?;
    // Each is one thread: as many run at once as there are processors.
    let next = Mutex::new(chosen.iter());
    // On its own, so that the lock is not held while the target runs.
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(name) = take() {
            fuzz(&program, name, effort).map_err(|error| Problem::Failed(format!("{name}: {error}")))?;
        }
        Ok(())
    };
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    at_once((0..workers).map(|_| work))
}

/// Builds the program as cargo-fuzz does, which would have to be built itself, and says where it is.
fn build(effort: Effort) -> Outcome<PathBuf> {
    tools::ensure(&[Tool::Nightly])?;
    let (manifest, folder) = (format!("{FOLDER}/Cargo.toml"), target().join("fuzz"));
    let options = ["build", "--quiet", "--manifest-path", &manifest, "--target-dir", &folder.display().to_string()];
    let mut cargo = tools::nightly_cargo(&options);
    if let Some(library) = libfuzzer() {
        cargo = cargo.variable("CUSTOM_LIBFUZZER_PATH", library);
    }
    if !effort.is_optimised() {
        // Build scripts have the sanitizer in them, and leave memory to the end of their processes.
        cargo.with(&["--config", QUICK_OPTIONS]).variable("ASAN_OPTIONS", "detect_leaks=0").run()?;
        return Ok(folder.join("debug/fuzz"));
    }
    // With the machine's own target named, build scripts and macros are built without these flags.
    cargo.with(&["--release", "--target", &machine()]).variable("RUSTFLAGS", FLAGS.join(" ")).run()?;
    Ok(folder.join(machine()).join("release/fuzz"))
}

/// libFuzzer as it comes with clang. Without it the crate compiles its own, which takes half a minute.
fn libfuzzer() -> Option<String> {
    let name = format!("libclang_rt.fuzzer-{}.a", std::env::consts::ARCH);
    let path = Program::new("clang", &[]).argument(format!("-print-file-name={name}")).read().ok()?;
    // One that is not there has no folder.
    Some(path.trim().to_owned()).filter(|path| Path::new(path).is_absolute() && Path::new(path).exists())
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

/// The targets: the modules' names.
fn targets() -> Outcome<Vec<String>> {
    let folder = root().join(FOLDER).join(TARGETS);
    let entries = fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| unreadable(&folder, &error))?;
    let names = entries.iter().map(fs::DirEntry::file_name);
    let mut targets: Vec<_> = names.filter_map(|name| Some(name.to_str()?.strip_suffix(".rs")?.to_owned())).collect();
    targets.sort();
    Ok(targets)
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    Problem::Failed(format!("{}: {error}", path.display()))
}

/// The targets named, if there are such, or all.
fn chosen(targets: Vec<String>, names: &[String]) -> Outcome<Vec<String>> {
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        let known = targets.join(", ");
        return Err(Problem::Failed(format!("there is no target {unknown:?}; there are {known}")));
    }
    let chosen = if names.is_empty() { targets } else { names.to_vec() };
    if chosen.is_empty() {
        return Err(Problem::missing(format!("{FOLDER}/{TARGETS} has no target")));
    }
    Ok(chosen)
}

/// Makes folders for what is learned and what is found.
fn folders(name: &str, effort: Effort) -> Outcome<[PathBuf; 2]> {
    let corpus = target().join("fuzz").join(if effort.is_repeatable { "quick" } else { "corpus" }).join(name);
    let found = root().join(FOLDER).join("artifacts").join(name);
    if effort.is_repeatable && corpus.exists() {
        fs::remove_dir_all(&corpus).map_err(|error| unreadable(&corpus, &error))?;
    }
    for folder in [&corpus, &found] {
        fs::create_dir_all(folder).map_err(|error| unreadable(folder, &error))?;
    }
    Ok([corpus, found])
}

fn fuzz(program: &Path, name: &str, effort: Effort) -> Outcome {
    let [corpus, found] = folders(name, effort)?;
    // The sanitizer would take variables for the same that the linker has given one address.
    let mut program = Program::new(&program.display().to_string(), &[])
        .variable(VARIABLE, name)
        .variable("ASAN_OPTIONS", "detect_odr_violation=0")
        .argument(corpus.display().to_string());
    let seeds = root().join(FOLDER).join("seeds").join(name);
    if seeds.is_dir() {
        program = program.argument(seeds.display().to_string());
    }
    if let Some(inputs) = effort.inputs_max {
        program = program.argument(format!("-runs={inputs}"));
    }
    let program = program
        .with(&["-verbosity=0", "-print_final_stats=1"])
        .argument(format!("-seed={}", effort.seed()))
        .argument(format!("-max_total_time={}", effort.seconds))
        .argument(format!("-timeout={}", effort.input_seconds_max()))
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

/// A number that libFuzzer ends with.
fn statistic(said: &str, name: &str) -> Option<u64> {
    let line = said.lines().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name));
    line?.trim_start_matches(':').trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{chosen, statistic, targets};
    use crate::Problem;

    #[test]
    fn targets_are_the_files() {
        let targets = targets().unwrap();
        assert!(targets.is_sorted() && targets.iter().any(|name| name == "flat_check"), "{targets:?}");
    }

    #[test]
    fn targets_that_are_not_there_are_refused_before_anything_is_built() {
        let all = || ["a", "b"].map(str::to_owned).to_vec();
        assert_eq!(chosen(all(), &[]), Ok(all()));
        assert_eq!(chosen(all(), &all()[1..]), Ok(all()[1..].to_vec()));
        let unknown = "there is no target \"c\"; there are a, b".to_owned();
        assert_eq!(chosen(all(), &["c".to_owned()]), Err(Problem::Failed(unknown)));
    }

    #[test]
    fn inputs_are_counted() {
        let said = "Done 2 runs\nstat::number_of_executed_units: 4108\nstat::average_exec_per_sec:     373\n";
        assert_eq!(statistic(said, "number_of_executed_units"), Some(4108));
        assert_eq!(statistic(said, "slowest_unit_time_sec"), None);
    }
}
