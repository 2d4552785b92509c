//! The objects and the checks in Java: compiled once, with the runtime.
//!
//! A virtual machine is reached on its host. Each network that it gets a way to belongs to what [`servers`] starts, and to what
//! [`Server::start_java`] listens on.

use crate::server::Server;
use native_programs::folder;
use native_programs::java::Classes;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

/// What is compiled: interfaces of which Java has every method.
const INTERFACES: [&str; 1] = ["values.idl"];

/// The program; nothing where there is no JDK.
static CLASSES: LazyLock<Option<Classes>> = LazyLock::new(|| {
    let here = folder("testing/matrix");
    let interfaces = INTERFACES.map(|name| here.join("idl").join(name));
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("matrix-java");
    Classes::build(&place, &interfaces, Some(&here.join("java")))
});

/// The program with its first word.
pub(crate) fn program(what: &str) -> Option<Command> {
    let mut command = CLASSES.as_ref()?.program("matrix.Program");
    command.arg(what);
    Some(command)
}

/// Where the objects are that Java calls.
fn servers() -> Vec<Server> {
    [Server::start(), Server::start_native()].into_iter().chain(Server::start_java()).collect()
}

/// Has the program check objects: by their names, or its own.
fn check(names: &[String]) {
    let Some(mut command) = program("check") else { return };
    let output = command.args(names).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout == b"ok\n", "{command:?}: {}\n{said}", output.status);
}

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn objects_in_java_do_what_is_expected_in_one_virtual_machine() {
    check(&[]);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn java_calls_every_language() {
    let servers = servers();
    let values: Vec<_> = servers.iter().map(|server| server.address("values")).collect();
    check(&values);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn cpp_and_c_call_java() {
    let Some(server) = Server::start_java() else { return };
    crate::native::check_values(&server.address("values"));
}
