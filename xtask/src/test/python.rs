//! Builds the Python package, and runs its tests with servers in Rust.

use super::readme;
use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::root;
use crate::workspace;
use std::fs;
use std::path::Path;

/// The folder of the package's project, which is a workspace of its own.
const PROJECT: &str = "bindings/python";

/// A program that succeeds only with versions of Python that the package supports.
const IS_SUPPORTED: &str = "import sys; sys.exit(sys.version_info < (3, 11))";

pub(super) fn run() -> Outcome {
    if !Program::new("python3", &["-c", IS_SUPPORTED]).succeeds() {
        let what = "python3 is missing or older than 3.11".to_owned();
        return Err(Problem::Missing { what, required: true });
    }
    workspace::build()?;
    let failed = |error: std::io::Error| Problem::Failed(format!("preparing the package: {error}"));
    // The package is built from the checkout of the README's program, so that both builds share
    // their dependencies.
    let manifest = readme::checkout().map_err(failed)?.join(PROJECT).join("Cargo.toml").display().to_string();
    readme::cargo(&["build", "--quiet", "--locked", "--manifest-path", &manifest]).run()?;
    let folder = target().join("python");
    install(&readme::built().join("debug/libobvia_python.so"), &folder).map_err(failed)?;
    let tests = format!("{PROJECT}/tests");
    Program::new("python3", &["-m", "unittest", "discover", "--start-directory", &tests])
        .variable("PYTHONPATH", folder.display().to_string())
        .variable("PYTHONDONTWRITEBYTECODE", "1".to_owned())
        .variable("OBVIA_PROGRAMS", target().join("debug").display().to_string())
        .run()
}

/// Puts the package into a folder: its files in Python, and the extension module.
fn install(module: &Path, folder: &Path) -> std::io::Result<()> {
    let package = folder.join("obvia");
    if package.exists() {
        fs::remove_dir_all(&package)?;
    }
    fs::create_dir_all(&package)?;
    for entry in fs::read_dir(root().join(PROJECT).join("obvia"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "py" || ending == "pyi") {
            fs::copy(&path, package.join(path.file_name().unwrap_or_default()))?;
        }
    }
    fs::copy(module, package.join("_obvia.abi3.so")).map(drop)
}
