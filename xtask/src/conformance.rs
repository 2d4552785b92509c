//! `conformance`: puts every provider that needs nothing from outside to the fifty statements; in full, with ten gigabytes through each.

use crate::program::Program;
use crate::{Outcome, Problem, suite};

/// The statements, optimised as what is published.
fn statements() -> Program {
    Program::cargo_release(&["test", "--package", "obvia-conformance"])
}

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [] => run(),
        ["--full"] => full(None),
        ["--full", bytes] if bytes.parse::<u64>().is_ok() => full(Some(bytes)),
        _ => Err(Problem::failed("usage: cargo xtask conformance [--full [BYTES]]")),
    }
}

/// All but what takes minutes.
pub(crate) fn run() -> Outcome {
    suite::run_tests(&statements(), &[suite::WAITING])
}

/// What takes minutes: one after the other, as each says how fast it was.
fn full(bytes: Option<&str>) -> Outcome {
    let program = bytes.map_or_else(statements, |bytes| statements().variable("OBVIA_CONFORMANCE_BYTES", bytes));
    suite::run_tests(&program, &["--ignored", "--nocapture", "--test-threads=1"])
}
