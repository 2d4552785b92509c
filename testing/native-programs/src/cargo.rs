//! Builds of workspace packages for tests, in addition to the builds that cargo makes by itself.

use crate::run;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable that is set if everything for tests is already built. The variable
/// contains the arguments of that build, one on each line.
const IS_BUILT: &str = "OBVIA_WORKSPACE_IS_BUILT";

/// Builds packages of the workspace with the profile of the running test, and returns the folder of
/// the results.
///
/// # Panics
///
/// Panics if the build fails.
pub fn build(arguments: &[&str]) -> PathBuf {
    let folder = profile_folder();
    if std::env::var_os(IS_BUILT).is_none() {
        run(cargo(&folder).args(arguments));
    }
    folder
}

/// Returns the folder of the profile with which the running test or program was built.
pub(crate) fn profile_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a program has a path");
    let mut folders = program.ancestors().skip(1);
    folders.find(|folder| !folder.ends_with("deps")).expect("programs lie in the folder of a profile").to_owned()
}

/// Returns the command that builds packages with the profile of the running test.
fn cargo(folder: &Path) -> Command {
    let profile = if folder.ends_with("debug") { "dev" } else { "release" };
    let target = folder.parent().expect("a profile's folder is in cargo's");
    // Because `obvia-cli` is among the packages, the other crates get the features that they have
    // in a build of the whole workspace.
    let words = ["build", "--quiet", "--package", "obvia-cli", "--profile", profile, "--target-dir"];
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(words).arg(target).args(features());
    cargo
}

/// Rust libraries of the workspace and their dependencies, for programs that a test compiles
/// itself.
#[derive(Debug)]
pub struct Libraries {
    folder: PathBuf,
    by_name: BTreeMap<String, String>,
}

impl Libraries {
    /// Adds the libraries of these names to rustc's arguments.
    ///
    /// # Panics
    ///
    /// Panics if a name is unknown.
    pub fn give(&self, rustc: &mut Command, names: &[&str]) {
        for name in names {
            let path = self.by_name.get(*name).unwrap_or_else(|| panic!("no library {name} in {self:?}"));
            rustc.arg("--extern").arg(format!("{name}={path}"));
        }
        rustc.arg("-L").arg(format!("dependency={}", self.folder.join("deps").display()));
    }
}

/// Builds the library of a package, and returns it with its dependencies.
///
/// # Panics
///
/// Panics if the build fails.
pub fn libraries(package: &str) -> Libraries {
    let folder = profile_folder();
    // Several builds of a library may be in the folder, and only cargo knows which one matches the
    // test. If this command selected other packages than the earlier build, cargo would compile
    // them again.
    let mut cargo = std::env::var(IS_BUILT).map_or_else(
        |_| {
            let mut cargo = cargo(&folder);
            cargo.args(["--package", package, "--lib"]);
            cargo
        },
        |arguments| {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.current_dir(crate::folder("")).args(["build", "--quiet"]).args(arguments.lines());
            cargo
        },
    );
    let said = run(cargo.arg("--message-format=json"));
    let said = String::from_utf8(said).expect("cargo writes JSON");
    let mut by_name = BTreeMap::new();
    for message in said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let files = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if let (Some(name), Some(file)) =
            (message["target"]["name"].as_str(), files.into_iter().find(|file| file.ends_with(".rlib")))
        {
            by_name.insert(name.replace('-', "_"), file.to_owned());
        }
    }
    Libraries { folder, by_name }
}

/// Builds a program of a package, and returns its path.
///
/// # Panics
///
/// Panics if the build fails.
pub fn program(package: &str, name: &str) -> PathBuf {
    build(&["--package", package, "--bin", name]).join(name)
}

/// Whether tests, and the results of [`build`], have the feature `fabric`.
pub const HAS_FABRIC: bool = cfg!(feature = "fabric");

/// Returns the features of the test's own build, so that nothing is built twice.
fn features() -> Vec<&'static str> {
    let all = [(cfg!(feature = "xdp"), "obvia-cli/xdp"), (cfg!(feature = "fabric"), "obvia-cli/fabric")];
    all.into_iter().filter(|(is_on, _)| *is_on).flat_map(|(_, feature)| ["--features", feature]).collect()
}
