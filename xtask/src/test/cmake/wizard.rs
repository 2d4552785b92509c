//! Tests `obvia wizard --language cpp`, and `obvia new` in C and C++. The projects are built and
//! tested with an installed obvia, and one of them also with a checkout.

use super::{GCC, MAKE, NINJA, Outside};
use crate::outcome::{Outcome, Problem};
use crate::repo::root;
use crate::server::Names;
use crate::test::wizard::{PROJECTS, Project};
use std::fs;

/// A project of `obvia new`, one of `obvia wizard` with many kinds of types, and one with graphs,
/// which Rust's projects lack. A thorough run builds the other projects, too, which takes minutes.
const IN_CPP: [&str; 3] = ["new-one", "shapes", "graphs"];

/// The project in C.
const IN_C: &str = "in-c";

pub(super) fn check(outside: &Outside) -> Outcome {
    let folder = outside.folder.path().join("wizard");
    fs::create_dir(&folder).map_err(|error| Problem::at(&folder, &error))?;
    // The installed command finds the installed files.
    let obvia = outside.program("obvia", &[]);
    let mut lists = "cmake_minimum_required(VERSION 3.16)\nproject(wizard NONE)\nenable_testing()\n".to_owned();
    let is_built = |project: &&Project| outside.is_thorough || IN_CPP.contains(&project.name);
    let projects: Vec<&Project> = PROJECTS.iter().filter(is_built).collect();
    for project in &projects {
        project.make(&obvia, &folder, "cpp", &[]).read()?;
        lists.push_str(&format!("add_subdirectory({})\n", project.name));
    }
    let in_c = folder.join(IN_C).display().to_string();
    obvia.with(&["new", IN_C, "--language", "c", "--output", &in_c]).read()?;
    lists.push_str(&format!("add_subdirectory({IN_C})\n"));
    let path = folder.join("CMakeLists.txt");
    fs::write(&path, lists).map_err(|error| Problem::at(&path, &error))?;
    test(outside, &outside.cmake("wizard", &folder, NINJA, GCC, &[])?, projects.len() + 1)?;

    let folder = outside.folder.path().join("wizard-part");
    let [first, ..] = &PROJECTS;
    let checkout = root().display().to_string();
    first.make(&obvia, &folder, "cpp", &["--obvia", &checkout]).read()?;
    let built = outside.cmake("wizard-part", &folder.join(first.name), MAKE, GCC, &outside.options)?;
    test(outside, &built, 1)
}

/// Runs the tests of the built projects, and checks their number.
fn test(outside: &Outside, built: &str, count: usize) -> Outcome {
    let names = Names::new()?;
    let test = outside.program("ctest", &["--test-dir", built, "--output-on-failure", "--no-tests=error"]);
    let said = names.see(test).read()?;
    let passed = format!("100% tests passed, 0 tests failed out of {count}");
    if said.contains(&passed) {
        Ok(())
    } else {
        Err(Problem::Failed(format!("`{passed}` was to be said, not\n{said}")))
    }
}
