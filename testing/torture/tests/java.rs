//! Tests of virtual machines: references in refused calls, and connecting to a silent server.

use native_programs::java::Classes;
use native_programs::{Workshop, folder};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use torture::process::Directory;

/// The bindings of servers: of this host alone, and over TCP in both transfer syntaxes.
const WAYS: [&str; 3] = ["", "ncacn_ip_tcp:127.0.0.1", "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]"];

static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));

/// A server, killed on drop.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a program of a virtual machine, with the directory that it uses.
fn program(classes: &Classes, directory: &Directory, words: &[&str]) -> Command {
    static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| WORKSHOP.java_library());
    let mut command = classes.networked(&LIBRARY, "gifts.Program");
    command.env("OBVIA_RUNTIME_DIR", directory.path()).args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Compiles the program; `None` without a JDK.
fn classes() -> Option<Classes> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("torture-java");
    let here = folder("testing/torture");
    Classes::build(&place, &[here.join("gifts.idl")], Some(&here.join("java")))
}

#[track_caller]
fn assert_ok(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout == b"ok\n", "{}\n{said}", output.status);
}

#[test]
fn an_interruption_ends_connecting_to_a_silent_server() {
    let Some(classes) = classes() else { return };
    let directory = Directory::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let binding = format!("ncacn_ip_tcp:127.0.0.1[{}]", listener.local_addr().unwrap().port());
    let mut client = program(&classes, &directory, &["wait", &binding]).stderr(Stdio::piped()).spawn().unwrap();
    let (mut accepted, _) = listener.accept().unwrap();
    // The client waits for the answer once it has sent the bind.
    accepted.read_exact(&mut [0]).unwrap();
    writeln!(client.stdin.as_mut().unwrap()).unwrap();
    assert_ok(&client.wait_with_output().unwrap());
}

#[test]
fn references_in_refused_calls_are_taken_back_in_java() {
    let Some(classes) = classes() else { return };
    for way in WAYS {
        let directories = [Directory::new(), Directory::new()];
        let words = ["serve", "gifts", way];
        let words = &words[..if way.is_empty() { 2 } else { 3 }];
        let mut server = Server(program(&classes, &directories[0], words).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let binding = line.trim_end().strip_prefix("ready").unwrap_or_else(|| panic!("{line}")).trim();
        let mut client = match way {
            "" => program(&classes, &directories[0], &["give", "gifts"]),
            _ => program(&classes, &directories[1], &["give", binding, way]),
        };
        println!("{way}");
        assert_ok(&client.output().unwrap());
    }
}
