//! `bench-java`: builds the Java client and server that `obvia bench` measures, and writes their
//! start script beside the command.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::root;
use crate::tools;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The modules whose built classes are on the class path.
const MODULES: [&str; 3] = ["obvia-api", "obvia-runtime", "obvia-bench"];

/// The interface of the measured calls, and the interface of the measured lists and arrays.
const IDL: [&str; 2] = ["bench/bench.idl", "bench/lists.idl"];

pub(crate) fn main(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err(Problem::failed("usage: cargo xtask bench-java"));
    }
    build().map(drop)
}

/// Builds all modules. Returns the home of the JDK.
pub(crate) fn build() -> Outcome<PathBuf> {
    let home = tools::jdk()?;
    Program::cargo(&["build", "--quiet", "--release", "--package", "obvia-cli"]).run()?;
    let obvia = target().join("release/obvia").display().to_string();
    let sources = root().join("java/obvia-bench/target/generated-sources/obvia");
    fs::create_dir_all(&sources).map_err(|error| Problem::Failed(format!("{}: {error}", sources.display())))?;
    for idl in IDL {
        Program::new(&obvia, &["idl", "--language", "java", "--java-package", "obvia.bench", idl, "--out"])
            .argument(sources.display().to_string())
            .run()?;
    }
    Program::new("mvn", &["--quiet", "--batch-mode", "--file", "java/pom.xml", "--activate-profiles", "bench"])
        .with(&["--define", "skipTests", "compile"])
        .variable("JAVA_HOME", home.display().to_string())
        .run()?;
    start_script(&home, &target().join("release/obvia-bench-java"))?;
    Ok(home)
}

/// Returns the class path: the built classes, and the libraries with which the benchmarks compare
/// this project.
pub(crate) fn class_path() -> String {
    let java = root().join("java");
    let classes = MODULES.map(|module| java.join(module).join("target/classes").display().to_string());
    format!("{}:{}", classes.join(":"), java.join("obvia-bench/target/dependency/*").display())
}

/// Writes the start script. The script pins the program to its CPU, because Java cannot.
fn start_script(home: &Path, at: &Path) -> Outcome {
    let text = format!(
        "#!/bin/sh\ncpu=0\nbefore=\nfor word; do [ \"$before\" = --cpu ] && cpu=$word; before=$word; done\n\
         exec taskset -c \"$cpu\" '{}/bin/java' -cp '{}' obvia.bench.Calls \"$@\"\n",
        home.display(),
        class_path(),
    );
    let failed = |error: std::io::Error| Problem::Failed(format!("{}: {error}", at.display()));
    fs::write(at, text).map_err(failed)?;
    fs::set_permissions(at, fs::Permissions::from_mode(0o755)).map_err(failed)
}
