//! `soak`: runs many processes, threads and objects concurrently, and checks every result.

use crate::outcome::{Outcome, Problem};
use crate::workspace;

const SECONDS: u32 = 60;
/// The duration of the thorough run, in seconds.
const SECONDS_THOROUGH: u32 = 1800;

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

/// Runs the soak test for half an hour.
pub(crate) fn thorough() -> Outcome {
    run(SECONDS_THOROUGH)
}

/// Runs the soak test for a number of seconds.
pub(crate) fn run(seconds: u32) -> Outcome {
    let profile = if seconds > SECONDS { "soak-thorough" } else { "soak" };
    workspace::test_all(profile, &[("OBVIA_SOAK_SECONDS", &seconds.to_string())])
}
