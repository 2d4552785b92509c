//! `soak`: many processes, threads and objects at once, every result checked.

use crate::{Outcome, Problem, suite};

const SECONDS: u32 = 60;

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let seconds = match arguments.as_slice() {
        [] => Some(SECONDS),
        ["--seconds", seconds] => seconds.parse().ok(),
        _ => None,
    };
    let usage = || Problem::failed("usage: cargo xtask soak [--seconds N]");
    run(seconds.ok_or_else(usage)?)
}

/// Soaks for so many seconds.
pub(crate) fn run(seconds: u32) -> Outcome {
    suite::run("soak", &[("OBVIA_SOAK_SECONDS", seconds.to_string())])
}
