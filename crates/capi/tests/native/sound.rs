//! Tests type-correct programs in C++: see `programs/sound.cc`.

use crate::program::build;
use native_programs::run;
use std::path::PathBuf;
use std::process::Command;
use torture::process::Directory;

fn program() -> PathBuf {
    build("sound", &["sound.idl"], &["sound.cc"])
}

#[test]
fn well_typed_cpp_programs_access_only_their_memory() {
    assert_eq!(run(&mut Command::new(program())), b"ok\n");
}

#[test]
fn throwing_cpp_methods_leak_nothing() {
    let program = program();
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, &["serve"]);
    assert_eq!(server.line(), "ready");
    let mut client = directory.start(program, &["call"]);
    assert_eq!(client.line(), "ok");
    client.finish();
    server.finish();
}
