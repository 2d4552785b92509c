//! `sim`: runs thousands of trials of the reliability protocol in a simulated network. A seed
//! determines each trial.
//!
//! A failed trial prints its seed and all events. With `--seed`, the trial is repeated exactly.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::workspace;

const USAGE: &str = "usage: cargo xtask sim [--seeds N | --thorough] [--seed S] [--verbose]";
/// The number of seeds in a test run.
const SEEDS_QUICK: u64 = 1_000;
/// The number of seeds in a thorough run, which takes some minutes.
const SEEDS_THOROUGH: u64 = 100_000;

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if matches!(arguments.as_slice(), ["--thorough"]) {
        return thorough();
    }
    if !is_good(&arguments) {
        return Err(Problem::failed(USAGE));
    }
    program().with(&arguments).run()
}

fn program() -> Program {
    Program::cargo_release(&["run"]).with(&["--quiet", "--package", "obvia-via", "--example", "sim", "--"])
}

/// Runs [`SEEDS_QUICK`] seeds, as a part of a test run.
pub(crate) fn quick() -> Outcome {
    workspace::build()?;
    let program = target().join("debug/examples/sim").display().to_string();
    Program::new(&program, &["--seeds", &SEEDS_QUICK.to_string()]).run()
}

/// Runs many more seeds. The seeds are the same in each run.
pub(crate) fn thorough() -> Outcome {
    program().with(&["--seeds", &SEEDS_THOROUGH.to_string()]).run()
}

fn is_good(arguments: &[&str]) -> bool {
    match arguments {
        [] => true,
        ["--verbose", rest @ ..] => is_good(rest),
        ["--seeds" | "--seed", number, rest @ ..] => number.parse::<u64>().is_ok() && is_good(rest),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_good;

    #[test]
    fn sim_options_are_checked_before_the_build() {
        assert!(is_good(&[]) && is_good(&["--seed", "7", "--verbose"]) && is_good(&["--seeds", "10000"]));
        assert!(!is_good(&["--seed"]) && !is_good(&["--seeds", "many"]) && !is_good(&["7"]));
    }
}
