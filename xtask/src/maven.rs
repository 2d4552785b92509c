//! Maven, which builds the Java side.

use crate::program::{Program, target};
use std::path::{Path, PathBuf};

/// Options of virtual machines that end soon: a compiler that doesn't work longer than the code that it makes, and a collector without threads.
pub(crate) const BRIEF: &str = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

/// Maven with a JDK and a local repository of the project's own: the user's repository stays as it is, and is not read.
pub(crate) fn maven(home: &Path) -> Program {
    let repository = format!("-Dmaven.repo.local={}", repository().display());
    let maven = Program::new("mvn", &["--batch-mode", &repository]).variable("JAVA_HOME", home.display().to_string());
    maven.variable("MAVEN_OPTS", BRIEF)
}

/// The local repository.
pub(crate) fn repository() -> PathBuf {
    target().join("maven")
}
