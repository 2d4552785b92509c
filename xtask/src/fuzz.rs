//! `fuzz`: feeds nonsense to what reads other people's bytes. The targets are the programs of `testing/fuzz`.
//!
//! What a run learns stays in `target/fuzz/corpus`; `testing/fuzz/seeds/TARGET` holds inputs to begin with.

use crate::program::{Program, at_once, target};
use crate::repo::root;
use crate::{Outcome, Problem, tools};
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

/// Fuzzes the targets named, or all, for so many seconds each.
pub(crate) fn run(seconds: u32, names: &[String]) -> Outcome {
    let chosen = chosen(names)?;
    build(names)?;
    // Each is one thread: as many run at once as there are processors.
    let next = Mutex::new(chosen.iter());
    // On its own, so that the lock is not held while the target runs.
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(name) = take() {
            fuzz(name, seconds)?;
        }
        Ok(())
    };
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    at_once((0..workers).map(|_| work))
}

/// Builds the targets named, or all.
fn build(names: &[String]) -> Outcome {
    tools::cargo_fuzz()?;
    let build = cargo("build");
    if names.is_empty() {
        return build.run();
    }
    names.iter().try_for_each(|name| build.with(&[name]).run())
}

fn cargo(command: &str) -> Program {
    let built = target().join("fuzz").display().to_string();
    tools::nightly_cargo(&["fuzz", command, "--fuzz-dir", FOLDER, "--target-dir", &built])
}

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
    let corpus = target().join("fuzz/corpus").join(name);
    std::fs::create_dir_all(&corpus).map_err(|error| Problem::Failed(format!("{}: {error}", corpus.display())))?;
    let mut program = cargo("run").with(&[name]).argument(corpus.display().to_string());
    let seeds = root().join(FOLDER).join("seeds").join(name);
    if seeds.is_dir() {
        program = program.argument(seeds.display().to_string());
    }
    let options = [format!("-max_total_time={seconds}"), format!("-timeout={INPUT_SECONDS_MAX}")];
    let program = program.with(&["--", "-verbosity=0", "-print_final_stats=1", &options[0], &options[1]]);
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
