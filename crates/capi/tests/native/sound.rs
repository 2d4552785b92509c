//! Tests programs in C++ that respect the types: see `programs/sound.cc`.

use crate::program::build;
use native_programs::run;
use std::path::PathBuf;
use std::process::Command;
use torture::process::Directory;

fn program() -> PathBuf {
    build("sound", &["sound.idl"], &["sound.cc"])
}

#[test]
fn what_keeps_to_the_types_keeps_to_its_memory() {
    assert_eq!(run(&mut Command::new(program())), b"ok\n");
}

#[test]
fn methods_that_throw_leave_nothing_behind() {
    let program = program();
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, &["serve"]);
    assert_eq!(server.line(), "ready");
    let mut client = directory.start(program, &["call"]);
    assert_eq!(client.line(), "ok");
    client.end();
    server.end();
}
