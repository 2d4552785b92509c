//! Libraries and programs of the workspace that tests use and cargo does not know of.

use crate::run;
use std::fs::DirEntry;
use std::path::PathBuf;
use std::process::Command;

/// Set where everything has been built that tests may use: cargo has nothing to do then, and is not asked.
const IS_BUILT: &str = "OBVIA_WORKSPACE_IS_BUILT";

/// Builds packages of the workspace as the test that runs was built, and returns the folder of what was built.
///
/// # Panics
///
/// Where they cannot be built.
pub fn build(arguments: &[&str]) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test.ancestors().nth(2).expect("tests lie in deps, in the folder of a profile").to_owned();
    if std::env::var_os(IS_BUILT).is_some() {
        return folder;
    }
    let profile = if folder.ends_with("debug") { "dev" } else { "release" };
    let target = folder.parent().expect("a profile's folder is in cargo's");
    // With the command's package the features of other crates are those of a build of the whole workspace.
    let words = ["build", "--quiet", "--package", "obvia-cli", "--profile", profile, "--target-dir"];
    let mut cargo = Command::new(env!("CARGO"));
    run(cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(words).arg(target).args(features()).args(arguments));
    folder
}

/// The path of a program of a package, which is built.
///
/// # Panics
///
/// Where it cannot be built.
pub fn program(package: &str, name: &str) -> PathBuf {
    build(&["--package", package, "--bin", name]).join(name)
}

/// What rustc is told where it compiles a program that generated code is a part of: where the crate `obvia` is, which is built, and what
/// that needs.
///
/// # Panics
///
/// Where it cannot be built.
pub fn externs() -> Vec<String> {
    let built = build(&["--package", "obvia"]);
    let deps = built.join("deps");
    let written = |entry: &DirEntry| entry.metadata().and_then(|known| known.modified()).ok();
    let is_core = |entry: &DirEntry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| name.starts_with("libwindows_core-") && name.ends_with(".rlib"))
    };
    let all = std::fs::read_dir(&deps).expect("what a build has made is there").flatten();
    let core = all.filter(is_core).max_by_key(written).expect("obvia needs it").path();
    vec![
        format!("--extern=obvia={}", built.join("libobvia.rlib").display()),
        format!("--extern=windows_core={}", core.display()),
        format!("-Ldependency={}", deps.display()),
    ]
}

/// Whether tests, and what [`build`] builds for them, have the feature `fabric`.
pub const HAS_FABRIC: bool = cfg!(feature = "fabric");

/// The features of the command that the test was built with, so that nothing is built twice.
fn features() -> Vec<&'static str> {
    let all = [(cfg!(feature = "xdp"), "obvia-cli/xdp"), (cfg!(feature = "fabric"), "obvia-cli/fabric")];
    all.into_iter().filter(|(is_on, _)| *is_on).flat_map(|(_, feature)| ["--features", feature]).collect()
}
