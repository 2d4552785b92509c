//! The objects and the checks in Java, compiled once with the runtime.
//!
//! Virtual machines take long to start, so one of them calls all servers.

use super::places::{DATAGRAMS, Language, at_each, everywhere, in_java};
use super::server::Server;
use native_programs::java::Classes;
use native_programs::{Workshop, folder};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The bindings at which the program in Java serves clients of other hosts.
pub(crate) const NETWORKS: [&str; 4] =
    ["ncacn_vi_udp:127.0.0.1", "ncacn_ip_tcp:127.0.0.1", "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]", DATAGRAMS];

/// The compiled interfaces, all of whose methods Java supports.
const INTERFACES: [&str; 2] = ["values.idl", "deep.idl"];

/// The compiled program; `None` without a JDK.
static CLASSES: LazyLock<Option<Classes>> = LazyLock::new(|| {
    let here = folder("testing/matrix");
    let interfaces = INTERFACES.map(|name| here.join("idl").join(name));
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("matrix-java");
    Classes::build(&place, &interfaces, Some(&here.join("java")))
});

/// Returns the program's command with the first argument `what`.
pub(crate) fn program(what: &str) -> Option<Command> {
    let mut command = CLASSES.as_ref()?.program("matrix.Program");
    command.arg(what);
    Some(command)
}

/// Returns the program's command with support of networks, and with the first argument `what`.
pub(crate) fn networked(what: &str) -> Option<Command> {
    static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));
    static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| WORKSHOP.java_library());
    let mut command = CLASSES.as_ref()?.networked(&LIBRARY, "matrix.Program");
    command.arg(what);
    Some(command)
}

/// Runs the program's checks, on objects of servers or on objects of its own.
fn check(command: Option<Command>, places: &[[String; 3]]) {
    let Some(mut command) = command else { return };
    super::native::comes_to_a_good_end(command.args(places.as_flattened()));
}

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn java_objects_pass_the_checks_in_one_virtual_machine() {
    let Some(classes) = CLASSES.as_ref() else { return };
    let mut command = classes.program_as_is("matrix.Program");
    command.arg("check");
    check(Some(command), &[]);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn java_calls_every_language() {
    let servers = at_each(everywhere().chain(in_java()), |server| server);
    let objects = |server: &Server| match server.language() {
        Language::Rust => "values,shapes",
        Language::Native => "values,shapes,deep,deep-in-c",
        Language::Java => "values,shapes-of-java,deep",
    };
    let places: Vec<_> = servers.iter().flat_map(|server| server.places(objects(server))).collect();
    check(networked("check"), &places);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn cpp_and_c_call_java() {
    at_each(in_java(), |server| {
        let [shapes, values, deep] = ["shapes", "values", "deep"].map(|object| server.addresses(object));
        for ((shapes, values), deep) in shapes.iter().zip(&values).zip(&deep) {
            super::native::check_objects([shapes, values, deep]);
        }
    });
}
