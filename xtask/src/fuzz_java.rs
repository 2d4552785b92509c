//! `fuzz-java`: feeds nonsense to what the runtime in Java reads of other people's bytes, for so many seconds each reader.

use crate::test::java::maven;
use crate::{Outcome, Problem, tools};

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let [seconds] = arguments else { return Err(Problem::failed("usage: cargo xtask fuzz-java SECONDS")) };
    let seconds: u32 = seconds.parse().map_err(|_| Problem::failed("how many seconds?"))?;
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
