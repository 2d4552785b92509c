//! Tests `[local]` methods in C++: see `programs/local.cc`.

use crate::program::{WORKSHOP, build};
use native_programs::{CHECKED, folder, run};
use obvia_idl::Compiler;
use std::path::Path;
use std::process::Command;
use torture::process::Directory;

#[test]
fn local_methods_have_places_in_vtables_and_are_refused_across_processes() {
    let program = build("local", &["local.idl"], &["local.cc"]);
    assert_eq!(run(&mut Command::new(&program)), b"ok\n");
    call(&program, &["serve"], &["call"]);
}

#[test]
fn random_calls_leave_out_local_methods() {
    let file = folder("crates/capi/tests/native/programs").join("local.idl");
    let program = WORKSHOP.build_with("random_local", CHECKED, &[(&Compiler::new().test(true), file)], &[]);
    call(&program, &["serve", "test", "1"], &["call", "test", "1", "20"]);
}

/// Starts a server and a client that calls the server.
fn call(program: &Path, server: &[&str], client: &[&str]) {
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, server);
    assert_eq!(server.line(), "ready");
    let mut client = directory.start(program, client);
    assert_eq!(client.line(), "ok");
    client.finish();
    server.finish();
}
