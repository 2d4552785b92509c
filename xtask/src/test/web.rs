//! Builds and tests `examples/web`, the web server in Java.

use crate::maven::maven;
use crate::outcome::Outcome;
use crate::program::{Program, target};
use crate::repo::root;
use std::path::Path;

/// The folder of the example.
pub(crate) const FOLDER: &str = "examples/web";

/// Tests the example. Its dependencies must be installed, and the command `obvia` must be built.
pub(super) fn run(home: &Path, options: &[&str]) -> Outcome {
    crate::server::Names::new()?.see(build_with(home, &["verify"]).with(options)).run()
}

/// Builds the example after its dependencies.
pub(crate) fn build(home: &Path) -> Outcome {
    maven(home).with(&["--quiet", "--file", "java/pom.xml", "-DskipTests", "install"]).run()?;
    build_with(home, &["-DskipTests", "package"]).run()
}

fn build_with(home: &Path, goals: &[&str]) -> Program {
    let compiler = format!("-Dobvia.compiler={}", target().join("debug/obvia").display());
    maven(home).with(&["--quiet", "--file", &format!("{FOLDER}/pom.xml"), &compiler]).with(goals)
}

/// Returns the class path of the built example.
pub(crate) fn class_path() -> String {
    let built = root().join(FOLDER).join("target");
    format!("{}:{}", built.join("classes").display(), built.join("dependency/*").display())
}
