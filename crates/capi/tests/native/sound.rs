//! Tests type-correct programs in C++: see `programs/sound.cc`.

use crate::program::{build, calls_its_server};
use native_programs::run;
use std::path::PathBuf;
use std::process::Command;

fn program() -> PathBuf {
    build("sound", &["sound.idl"], &["sound.cc"])
}

#[test]
fn well_typed_cpp_programs_access_only_their_memory() {
    assert_eq!(run(&mut Command::new(program())), b"ok\n");
}

#[test]
fn throwing_cpp_methods_leak_nothing() {
    calls_its_server(&program());
}
