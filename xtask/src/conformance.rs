//! `conformance`: tests every provider against the fifty statements. The full run sends gigabytes
//! through each provider.

use crate::outcome::{Outcome, Problem};
use crate::workspace::{self, Ignored};

/// The nextest profile of these tests.
const PROFILE: &str = "conformance";
/// The tests of the thorough run that the default run leaves out, or runs with smaller numbers.
const THOROUGH: &str = "package(obvia-conformance) & (test(s45_) | test(s48_) | test(/^flawed::/))";
/// The number of bytes that the thorough run sends through each connection.
const BYTES_THOROUGH: &str = "2000000000";
/// The number of connections that the thorough run makes and ends with each provider.
const CONNECTIONS_THOROUGH: &str = "1000";
/// The number of virtual interfaces that share a completion queue in the thorough run.
const VIS_THOROUGH: &str = "256";

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [] => quick(),
        ["--full"] => full(None),
        ["--full", bytes] if bytes.parse::<u64>().is_ok() => full(Some(bytes)),
        _ => Err(Problem::failed("usage: cargo xtask conformance [--full [BYTES]]")),
    }
}

/// Runs all tests except those that take minutes.
pub(crate) fn quick() -> Outcome {
    workspace::test(PROFILE)?;
    workspace::needs_libfabric()
}

/// Runs the tests that take minutes, the tests with many connections, and the tests of providers
/// with flaws.
pub(crate) fn thorough() -> Outcome {
    full(Some(BYTES_THOROUGH))?;
    let run = workspace::nextest(PROFILE, Ignored::Skip)?.with(&["--ignore-default-filter", "--filterset", THOROUGH]);
    let run = run.variable("OBVIA_CONFORMANCE_CONNECTIONS", CONNECTIONS_THOROUGH);
    run.variable("OBVIA_CONFORMANCE_VIS", VIS_THOROUGH).run()
}

/// Runs the tests that take minutes, one after the other, because each reports its throughput.
fn full(bytes: Option<&str>) -> Outcome {
    let run = workspace::nextest(PROFILE, Ignored::Only)?.with(&["--no-capture"]);
    bytes.into_iter().fold(run, |run, bytes| run.variable("OBVIA_CONFORMANCE_BYTES", bytes)).run()
}
