//! The objects and the checks in C++ and C, built once with gcc's sanitizers against libobvia.

use super::places::{at_each, in_native, in_rust};
use super::server::Server;
use ground::Process;
use native_programs::{CHECKED, Workshop, folder};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The interfaces and the sources of the program.
const INTERFACES: [&str; 5] =
    ["shapes.idl", "values.idl", "deep.idl", "functions.idl", "../../interop/idl/rpcecho.idl"];
const SOURCES: [&str; 10] = [
    "program.cc",
    "check_by_value.cc",
    "check_shapes.cc",
    "check_values.cc",
    "check_deep.cc",
    "check_functions.cc",
    "check_endpoints.cc",
    "check_shapes.c",
    "check_functions.c",
    "deep.c",
];

/// The environment variable with the built program's path, for child processes. They must not build
/// the program, because concurrent builds would collide.
pub(crate) const BUILT: &str = "OBVIA_MATRIX_PROGRAM";

/// Builds the program once, and returns its path.
pub(crate) fn program() -> &'static Path {
    static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        if let Some(built) = std::env::var_os(BUILT) {
            return built.into();
        }
        let here = folder("testing/matrix");
        let interfaces = INTERFACES.map(|name| here.join("idl").join(name));
        let sources = SOURCES.map(|name| here.join("native").join(name));
        WORKSHOP.build("matrix-native", CHECKED, &interfaces, &sources)
    });
    &PROGRAM
}

/// Runs the program's checks, on the objects with these names, or on objects of its own.
fn check(names: &[String]) {
    comes_to_a_good_end(Command::new(program()).arg("check").args(names));
}

/// Runs the checks without functions.
pub(crate) fn check_objects(names: [&str; 3]) {
    comes_to_a_good_end(Command::new(program()).arg("objects").args(names));
}

#[track_caller]
pub(crate) fn comes_to_a_good_end(command: &mut Command) {
    assert_eq!(Process::start(command).finish(), ["ok"]);
}

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn cpp_and_c_objects_pass_the_checks_in_one_process() {
    check(&[]);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn endpoints_registered_in_cpp_are_found() {
    let folder = ground::Folder::new("matrix");
    let directory = folder.path();
    let mut mapper = Command::new(env!("CARGO_BIN_EXE_clock"));
    mapper.args(["mapper", "ncacn_ip_tcp:127.0.0.1[0]", "ncalrpc:[epmapper]"]).env("OBVIA_RUNTIME_DIR", directory);
    let mut mapper = Process::start(&mut mapper);
    let bindings = mapper.line();
    let port = bindings.split(['[', ']']).nth(1).unwrap();
    let option = format!("[,mapper={port}]");
    comes_to_a_good_end(Command::new(program()).args(["endpoints", &option]).env("OBVIA_RUNTIME_DIR", directory));
    mapper.finish();
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn cpp_and_c_call_rust() {
    at_each(in_rust(), |server| check(&[server.address("shapes"), server.address("values"), server.binding()]));
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn cpp_and_c_call_cpp_and_c() {
    at_each(in_native(), |server| {
        let [shapes, values, deep, in_c] =
            ["shapes", "values", "deep", "deep-in-c"].map(|object| server.address(object));
        check(&[shapes, values, server.binding(), deep, in_c]);
        let [shapes, values, deep] =
            ["shapes-by-value", "values-by-value", "deep-by-value"].map(|object| server.address(object));
        check(&[shapes, values, server.binding(), deep]);
    });
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn calls_without_memory_fail_and_leak_nothing() {
    let short = [("ASAN_OPTIONS", "allocator_may_return_null=1:max_allocation_size_mb=8")];
    for (servers, clients) in [(&short[..], &[][..]), (&[], &short)] {
        let server = Server::start_native_with(servers);
        let mut client = Command::new(program());
        comes_to_a_good_end(client.envs(clients.iter().copied()).arg("short").arg(server.address("shapes")));
    }
}
