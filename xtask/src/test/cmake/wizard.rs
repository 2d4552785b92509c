//! `obvia wizard --language cpp`: what it makes is built, and tested, with an installed obvia.

use super::{GCC, NINJA, Outside, failed};
use crate::test::examples::Names;
use crate::test::wizard::PROJECTS;
use crate::{Outcome, Problem};
use std::fs;

pub(super) fn check(outside: &Outside) -> Outcome {
    let folder = outside.folder.path().join("wizard");
    fs::create_dir(&folder).map_err(|error| failed(&folder, &error))?;
    // The installed command finds what is installed with it.
    let wizard = outside.program("obvia", &["wizard"]);
    let mut lists = "cmake_minimum_required(VERSION 3.16)\nproject(wizard NONE)\nenable_testing()\n".to_owned();
    for project in &PROJECTS {
        project.make(&wizard, &folder, "cpp").read()?;
        lists.push_str(&format!("add_subdirectory({})\n", project.name));
    }
    let path = folder.join("CMakeLists.txt");
    fs::write(&path, lists).map_err(|error| failed(&path, &error))?;
    let built = outside.cmake("wizard", &folder, NINJA, GCC, &[])?;
    let names = Names::new()?;
    let test = outside.program("ctest", &["--test-dir", &built, "--output-on-failure", "--no-tests=error"]);
    let said = names.see(test).read()?;
    // Each has a test, and none was passed over.
    let passed = format!("100% tests passed, 0 tests failed out of {}", PROJECTS.len());
    if said.contains(&passed) {
        Ok(())
    } else {
        Err(Problem::Failed(format!("`{passed}` was to be said, not\n{said}")))
    }
}
