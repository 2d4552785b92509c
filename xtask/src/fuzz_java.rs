//! `fuzz-java`: feeds nonsense to what the runtime in Java reads of other people's bytes, for so many seconds each reader.
//!
//! The part `java` feeds each a fixed number of inputs, the same each time.

use crate::maven::maven;
use crate::{Outcome, Problem, tools};

/// Seconds that each reader gets unless told otherwise.
const SECONDS: u32 = 60;

pub(crate) fn main(arguments: &[String]) -> Outcome {
    match arguments {
        [] => thorough(),
        [seconds] => run(seconds.parse().map_err(|_| Problem::failed("how many seconds?"))?),
        _ => Err(Problem::failed("usage: cargo xtask fuzz-java [SECONDS]")),
    }
}

/// Each reader for a minute, from a seed that is said where one fails.
pub(crate) fn thorough() -> Outcome {
    run(SECONDS)
}

fn run(seconds: u32) -> Outcome {
    let options = ["--quiet", "--file", "java/pom.xml", "--projects", "obvia-api,obvia-runtime"];
    let test = ["-Dtest=FuzzTest", "-Dsurefire.failIfNoSpecifiedTests=false"];
    maven(&tools::jdk()?)
        .with(&options)
        .with(&test)
        // It takes as long as it is told to.
        .with(&["-Dsurefire.timeout=0"])
        .argument(format!("-Dobvia.fuzz.seconds={seconds}"))
        .with(&["test"])
        .run()
}
