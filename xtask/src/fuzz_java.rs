//! `fuzz-java`: fuzzes the readers of untrusted bytes in the Java runtime, each for a number of
//! seconds.
//!
//! The part `java` of `cargo xtask test` feeds each reader a fixed number of inputs, which are the
//! same in each run.

use crate::maven::maven;
use crate::outcome::{Outcome, Problem};
use crate::tools;

/// The default time for each reader, in seconds.
const SECONDS: u32 = 60;

pub(crate) fn main(arguments: &[String]) -> Outcome {
    match arguments {
        [] => thorough(),
        [seconds] => run(seconds.parse().map_err(|_| Problem::failed("how many seconds?"))?),
        _ => Err(Problem::failed("usage: cargo xtask fuzz-java [SECONDS]")),
    }
}

/// Fuzzes each reader for a minute, from a seed that is part of a failure's report.
pub(crate) fn thorough() -> Outcome {
    run(SECONDS)
}

fn run(seconds: u32) -> Outcome {
    let options = ["--quiet", "--file", "java/pom.xml", "--projects", "obvia-api,obvia-runtime"];
    let test = ["-Dtest=FuzzTest", "-Dsurefire.failIfNoSpecifiedTests=false"];
    maven(&tools::jdk()?)
        .with(&options)
        .with(&test)
        // The run has a given duration, so it needs no timeout.
        .with(&["-Dsurefire.timeout=0"])
        .argument(format!("-Dobvia.fuzz.seconds={seconds}"))
        .with(&["test"])
        .run()
}
