//! Builds and tests the Java side with Maven.

use super::examples::Names;
use crate::program::Program;
use crate::{Outcome, tools};

pub(super) fn run() -> Outcome {
    let home = tools::jdk()?;
    let names = Names::new()?;
    let maven = Program::new("mvn", &["--quiet", "--batch-mode", "--file", "java/pom.xml", "verify"]);
    names.see(maven.variable("JAVA_HOME", home.display().to_string())).run_tests()
}
