//! Tests the conditions under which libraries in C++ may be unloaded: see `programs/unloading.cc`.

use crate::program::build;
use native_programs::run;
use std::process::Command;

#[test]
fn cpp_libraries_stay_loaded_while_they_are_used_or_locked() {
    assert_eq!(run(&mut Command::new(build("unloading", &["sound.idl"], &["unloading.cc"]))), b"ok\n");
}
