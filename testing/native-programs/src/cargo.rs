//! Libraries and programs of the workspace that tests use and cargo does not know of.

use crate::run;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set where everything has been built that tests may use: cargo has nothing to do then, and is not asked.
const IS_BUILT: &str = "OBVIA_WORKSPACE_IS_BUILT";

/// Builds packages of the workspace as the test that runs was built, and returns the folder of what was built.
///
/// # Panics
///
/// Where they cannot be built.
pub fn build(arguments: &[&str]) -> PathBuf {
    let folder = profile_folder();
    if std::env::var_os(IS_BUILT).is_none() {
        run(cargo(&folder).args(arguments));
    }
    folder
}

/// The folder of the profile that the test that runs was built with.
fn profile_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.ancestors().nth(2).expect("tests lie in deps, in the folder of a profile").to_owned()
}

/// The command that builds packages as the test that runs was built.
fn cargo(folder: &Path) -> Command {
    let profile = if folder.ends_with("debug") { "dev" } else { "release" };
    let target = folder.parent().expect("a profile's folder is in cargo's");
    // With the command's package the features of other crates are those of a build of the whole workspace.
    let words = ["build", "--quiet", "--package", "obvia-cli", "--profile", profile, "--target-dir"];
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(words).arg(target).args(features());
    cargo
}

/// Rust libraries of the workspace and those that they use, for programs that a test compiles by itself.
#[derive(Debug)]
pub struct Libraries {
    folder: PathBuf,
    by_name: BTreeMap<String, String>,
}

impl Libraries {
    /// Tells rustc where the libraries with these names are.
    ///
    /// # Panics
    ///
    /// If a name is not among them.
    pub fn give(&self, rustc: &mut Command, names: &[&str]) {
        for name in names {
            let path = self.by_name.get(*name).unwrap_or_else(|| panic!("no library {name} in {self:?}"));
            rustc.arg("--extern").arg(format!("{name}={path}"));
        }
        rustc.arg("-L").arg(format!("dependency={}", self.folder.join("deps").display()));
    }
}

/// The library of a package, which is built, and those that it uses.
///
/// # Panics
///
/// Where it cannot be built.
pub fn libraries(package: &str) -> Libraries {
    let folder = profile_folder();
    // Several builds of a library may lie side by side, and cargo alone knows which one the test has.
    let said = run(cargo(&folder).args(["--message-format=json", "--package", package, "--lib"]));
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

/// The path of a program of a package, which is built.
///
/// # Panics
///
/// Where it cannot be built.
pub fn program(package: &str, name: &str) -> PathBuf {
    build(&["--package", package, "--bin", name]).join(name)
}

/// Whether tests, and what [`build`] builds for them, have the feature `fabric`.
pub const HAS_FABRIC: bool = cfg!(feature = "fabric");

/// The features of the command that the test was built with, so that nothing is built twice.
fn features() -> Vec<&'static str> {
    let all = [(cfg!(feature = "xdp"), "obvia-cli/xdp"), (cfg!(feature = "fabric"), "obvia-cli/fabric")];
    all.into_iter().filter(|(is_on, _)| *is_on).flat_map(|(_, feature)| ["--features", feature]).collect()
}
