//! Methods that a permissive compiler treats as `[local]`, because C or Rust cannot pass them: see
//! `programs/permissive.cc` and its peer in Rust.

use crate::program::WORKSHOP;
use native_programs::{CHECKED, cargo, folder, run};
use obvia_idl::{Compiler, Language, compile_into};
use std::path::{Path, PathBuf};
use std::process::Command;
use torture::process::Directory;

fn programs() -> PathBuf {
    folder("crates/capi/tests/native/programs")
}

/// Builds the peer in Rust, and returns its path.
fn peer(compiler: &Compiler) -> PathBuf {
    let place = WORKSHOP.place("permissive_rust");
    std::fs::create_dir_all(&place).expect("the folder for builds can be written to");
    compile_into(compiler, Language::Rust, &programs().join("permissive.idl"), &place).expect("it compiles");
    let program = place.join("peer");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "--crate-name", "peer", "--deny", "unsafe_op_in_unsafe_fn", "-o"]).arg(&program);
    cargo::libraries("obvia").give(&mut rustc, &["obvia"]);
    run(rustc.env("OUT_DIR", &place).arg(programs().join("permissive.rs.in")));
    program
}

/// Starts a server, and clients that call it through shared memory and over TCP.
fn call(server: &Path, client: &Path, how: &str) {
    let directory = Directory::new();
    let start =
        |program: &Path, arguments: &[&str]| directory.start(program.to_str().expect("the path is text"), arguments);
    for is_over_tcp in [false, true] {
        let mut server = start(server, &["serve"]);
        let binding = server.line();
        let mut client = start(client, &[how, if is_over_tcp { &binding } else { "" }]);
        assert_eq!(client.line(), "ok");
        client.finish();
        server.finish();
    }
}

#[test]
fn methods_that_a_language_cannot_pass_stay_in_their_process_and_the_others_are_called() {
    let compiler = Compiler::new().permissive(true);
    let file = programs().join("permissive.idl");
    let sources = [programs().join("permissive.cc")];
    let cpp = WORKSHOP.build_with("permissive", CHECKED, &[(&compiler, file)], &sources);
    assert_eq!(run(&mut Command::new(&cpp)), b"ok\n");
    let rust = peer(&compiler);
    call(&cpp, &cpp, "call");
    call(&rust, &cpp, "call-rust");
    call(&cpp, &rust, "call");
}
