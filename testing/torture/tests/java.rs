//! Tests of Java virtual machines: references in refused calls, and connecting to a silent server.

use ground::{LATEST, Process, poll};
use native_programs::java::Classes;
use native_programs::{Workshop, folder};
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use torture::process::Directory;

/// The bindings of servers: of this host alone, and over TCP in both transfer syntaxes.
const WAYS: [&str; 3] = ["", "ncacn_ip_tcp:127.0.0.1", "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]"];

static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));

/// Starts a program of a virtual machine, with the directory that it uses.
#[track_caller]
fn start(classes: &Classes, directory: &Directory, words: &[&str]) -> Process {
    static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| WORKSHOP.java_library());
    let mut command = classes.networked(&LIBRARY, "gifts.Program");
    Process::start(command.env("OBVIA_RUNTIME_DIR", directory.path()).args(words))
}

/// Compiles the program; `None` without a JDK.
fn classes() -> Option<Classes> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("torture-java");
    let here = folder("testing/torture");
    Classes::build(&place, &[here.join("gifts.idl")], Some(&here.join("java")))
}

#[test]
fn an_interruption_ends_connecting_to_a_silent_server() {
    let Some(classes) = classes() else { return };
    let directory = Directory::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let binding = format!("ncacn_ip_tcp:127.0.0.1[{}]", listener.local_addr().unwrap().port());
    let mut client = start(&classes, &directory, &["wait", &binding]);
    listener.set_nonblocking(true).unwrap();
    let (mut accepted, _) = poll("the client connects", || listener.accept().ok());
    accepted.set_read_timeout(Some(LATEST)).unwrap();
    // The client waits for the answer once it has sent the bind.
    accepted.read_exact(&mut [0]).unwrap();
    client.say("");
    assert_eq!(client.finish(), ["ok"]);
}

#[test]
fn references_in_refused_calls_are_taken_back_in_java() {
    let Some(classes) = classes() else { return };
    for way in WAYS {
        let directories = [Directory::new(), Directory::new()];
        let words = ["serve", "gifts", way];
        let words = &words[..if way.is_empty() { 2 } else { 3 }];
        let mut server = start(&classes, &directories[0], words);
        let line = server.line();
        let binding = line.strip_prefix("ready").unwrap_or_else(|| panic!("{line}")).trim();
        println!("{way}");
        let mut client = match way {
            "" => start(&classes, &directories[0], &["give", "gifts"]),
            _ => start(&classes, &directories[1], &["give", binding, way]),
        };
        assert_eq!(client.finish(), ["ok"]);
    }
}
