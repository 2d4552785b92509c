//! Tests `obvia wizard --language cpp`: builds and tests its projects with an installed obvia, and
//! one of them with a checkout.

use super::{GCC, MAKE, NINJA, Outside, failed};
use crate::outcome::{Outcome, Problem};
use crate::repo::root;
use crate::test::examples::Names;
use crate::test::wizard::{PROJECTS, Project};
use std::fs;

/// The projects that cover the special features of C++: an example, the same over virtual
/// interfaces, objects, structures, graphs, strings, and functions. A thorough run builds the
/// others, too, which takes minutes.
const IN_CPP: [&str; 7] = ["new-two", "over-vi", "calc", "shapes", "values", "graphs", "echo"];

pub(super) fn check(outside: &Outside) -> Outcome {
    let folder = outside.folder.path().join("wizard");
    fs::create_dir(&folder).map_err(|error| failed(&folder, &error))?;
    // The installed command finds the installed files.
    let wizard = outside.program("obvia", &["wizard"]);
    let mut lists = "cmake_minimum_required(VERSION 3.16)\nproject(wizard NONE)\nenable_testing()\n".to_owned();
    let is_built = |project: &&Project| outside.is_thorough || IN_CPP.contains(&project.name);
    let projects: Vec<&Project> = PROJECTS.iter().filter(is_built).collect();
    for project in &projects {
        project.make(&wizard, &folder, "cpp").read()?;
        lists.push_str(&format!("add_subdirectory({})\n", project.name));
    }
    let path = folder.join("CMakeLists.txt");
    fs::write(&path, lists).map_err(|error| failed(&path, &error))?;
    test(outside, &outside.cmake("wizard", &folder, NINJA, GCC, &[])?, projects.len())?;

    let folder = outside.folder.path().join("wizard-part");
    let [first, ..] = &PROJECTS;
    let checkout = root().display().to_string();
    first.make(&wizard.with(&["--obvia", &checkout]), &folder, "cpp").read()?;
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
