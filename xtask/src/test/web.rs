//! Builds and tests `examples/web`, the web server in Java.

use crate::Outcome;
use crate::maven::maven;
use crate::program::{Program, target};
use crate::repo::root;
use std::path::Path;

/// Where it lies.
pub(crate) const FOLDER: &str = "examples/web";

/// Tests it. What it uses has been installed, and the command `obvia` built.
pub(super) fn run(home: &Path, options: &[&str]) -> Outcome {
    super::examples::Names::new()?.see(build_with(home, &["verify"]).with(options)).run()
}

/// Builds it, after what it uses.
pub(crate) fn build(home: &Path) -> Outcome {
    maven(home).with(&["--quiet", "--file", "java/pom.xml", "-DskipTests", "install"]).run()?;
    build_with(home, &["-DskipTests", "package"]).run()
}

fn build_with(home: &Path, goals: &[&str]) -> Program {
    let compiler = format!("-Dobvia.compiler={}", target().join("debug/obvia").display());
    maven(home).with(&["--quiet", "--file", &format!("{FOLDER}/pom.xml"), &compiler]).with(goals)
}

/// The class path of what was built.
pub(crate) fn class_path() -> String {
    let built = root().join(FOLDER).join("target");
    format!("{}:{}", built.join("classes").display(), built.join("dependency/*").display())
}
