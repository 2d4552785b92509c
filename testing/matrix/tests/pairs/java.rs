//! The objects and the checks in Java: compiled once, with the runtime.
//!
//! Virtual machines take their time to start: one calls all servers, and those that are called serve all tests that run at a time.

use crate::server::{DATAGRAMS, Server, in_native, in_rust};
use native_programs::java::Classes;
use native_programs::{Workshop, folder};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, Weak};

/// What the program listens on that is called from elsewhere.
pub(crate) const NETWORKS: [&str; 4] =
    ["ncacn_vi_udp:127.0.0.1", "ncacn_ip_tcp:127.0.0.1", "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]", DATAGRAMS];

/// What is compiled: interfaces of which Java has every method.
const INTERFACES: [&str; 2] = ["values.idl", "deep.idl"];

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

/// The same with networks.
pub(crate) fn networked(what: &str) -> Option<Command> {
    static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));
    static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| WORKSHOP.java_library());
    let mut command = CLASSES.as_ref()?.networked(&LIBRARY, "matrix.Program");
    command.arg(what);
    Some(command)
}

/// The server on this host and the one elsewhere, which others may be using; none where there is no JDK.
pub(crate) fn servers() -> Vec<Arc<Server>> {
    static HERE: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    static ELSEWHERE: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let starts: [(_, fn() -> _); 2] = [(&HERE, Server::start_java), (&ELSEWHERE, Server::start_java_elsewhere)];
    starts.into_iter().filter_map(|(running, start)| shared(running, start)).collect()
}

/// A server that is running, or a new one.
fn shared(running: &Mutex<Weak<Server>>, start: fn() -> Option<Server>) -> Option<Arc<Server>> {
    let mut running = running.lock().unwrap();
    if let Some(server) = running.upgrade() {
        return Some(server);
    }
    let server = Arc::new(start()?);
    *running = Arc::downgrade(&server);
    Some(server)
}

/// Has the program check the objects of servers, or its own.
fn check(command: Option<Command>, places: &[[String; 3]]) {
    let Some(mut command) = command else { return };
    let output = command.args(places.as_flattened()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout == b"ok\n", "{command:?}: {}\n{said}", output.status);
}

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn objects_in_java_do_what_is_expected_in_one_virtual_machine() {
    let Some(classes) = CLASSES.as_ref() else { return };
    let mut command = classes.program_as_is("matrix.Program");
    command.arg("check");
    check(Some(command), &[]);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn java_calls_every_language() {
    let (rust, native, own): (Vec<_>, Vec<_>, _) = (in_rust().collect(), in_native().collect(), servers());
    let mut places: Vec<_> = rust.iter().flat_map(|server| server.places("values,shapes")).collect();
    places.extend(native.iter().flat_map(|server| server.places("values,shapes,deep,deep-in-c")));
    places.extend(own.iter().flat_map(|server| server.places("values,shapes-of-java,deep")));
    check(networked("check"), &places);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn cpp_and_c_call_java() {
    for server in servers() {
        let [shapes, values, deep] = ["shapes", "values", "deep"].map(|object| server.addresses(object));
        for ((shapes, values), deep) in shapes.iter().zip(&values).zip(&deep) {
            crate::native::check_objects([shapes, values, deep]);
        }
    }
}
