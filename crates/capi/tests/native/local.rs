//! Tests `[local]` methods in C++: see `programs/local.cc`.

use crate::program::build;
use native_programs::run;
use std::process::Command;
use torture::process::Directory;

#[test]
fn local_methods_have_places_in_vtables_and_are_refused_across_processes() {
    let program = build("local", &["local.idl"], &["local.cc"]);
    assert_eq!(run(&mut Command::new(&program)), b"ok\n");
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, &["serve"]);
    assert_eq!(server.line(), "ready");
    let mut client = directory.start(program, &["call"]);
    assert_eq!(client.line(), "ok");
    client.finish();
    server.finish();
}
