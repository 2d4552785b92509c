//! Maven, which builds the Java side.

use crate::program::{Program, target};
use std::path::{Path, PathBuf};

/// The options of short-lived Java virtual machines: a fast compiler, and a garbage collector
/// without threads of its own.
pub(crate) const BRIEF: &str = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

/// Returns Maven with a JDK and with the project's own local repository. The user's repository is
/// neither read nor changed.
pub(crate) fn maven(home: &Path) -> Program {
    let repository = format!("-Dmaven.repo.local={}", repository().display());
    let maven = Program::new("mvn", &["--batch-mode", &repository]).variable("JAVA_HOME", home.display().to_string());
    maven.variable("MAVEN_OPTS", BRIEF)
}

/// Returns the folder of the local repository.
pub(crate) fn repository() -> PathBuf {
    target().join("maven")
}
