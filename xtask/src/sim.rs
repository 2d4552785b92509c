//! `sim`: thousands of trials of the reliability machinery in a simulated network, each decided by its seed.
//!
//! A trial that fails prints its seed and everything that happened; `--seed` runs it again to the last bit.

use crate::program::Program;
use crate::{Outcome, Problem};

const USAGE: &str = "usage: cargo xtask sim [--seeds N] [--seed S] [--verbose]";
/// Seeds that a test run tries.
const SEEDS_SHORT: &str = "1000";

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if !is_good(&arguments) {
        return Err(Problem::failed(USAGE));
    }
    cargo("run").with(&["--"]).with(&arguments).run()
}

fn cargo(command: &str) -> Program {
    Program::cargo_release(&[command, "--quiet", "--package", "obvia-via", "--example", "sim"])
}

/// The part of a test run.
pub(crate) fn quick() -> Outcome {
    main(&["--seeds".to_owned(), SEEDS_SHORT.to_owned()])
}

fn is_good(arguments: &[&str]) -> bool {
    match arguments {
        [] => true,
        ["--verbose", rest @ ..] => is_good(rest),
        ["--seeds" | "--seed", number, rest @ ..] => number.parse::<u64>().is_ok() && is_good(rest),
        _ => false,
    }
}

pub(crate) fn thorough() -> Outcome {
    main(&["--seeds".to_owned(), "100000".to_owned()])
}

#[cfg(test)]
mod tests {
    use super::is_good;

    #[test]
    fn options_are_checked_before_anything_is_built() {
        assert!(is_good(&[]) && is_good(&["--seed", "7", "--verbose"]) && is_good(&["--seeds", "10000"]));
        assert!(!is_good(&["--seed"]) && !is_good(&["--seeds", "many"]) && !is_good(&["7"]));
    }
}
