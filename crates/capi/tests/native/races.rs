//! Tests calling and serving threads with the thread sanitizer: see `programs/races.cc`.
//!
//! Generated stubs, `obvia.hpp` and the loop of `obvia_server.h` are instrumented; libobvia is not.
//! The sanitizer does not see libobvia's synchronization (atomics and futexes), but sees the
//! accesses that the C library makes for libobvia (copies, frees). It would therefore report false
//! races, and is told to ignore libobvia. `cargo xtask loom` and `cargo xtask miri` test libobvia's
//! own races.

use crate::program::build_with;
use native_programs::RACES_TOLD;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use torture::process::Directory;

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| build_with(RACES_TOLD, "races", &["races.idl"], &["races.cc"]));

fn command(directory: &Directory) -> Command {
    let mut command = Command::new(&*PROGRAM);
    command.env("OBVIA_RUNTIME_DIR", directory.path());
    command.env("TSAN_OPTIONS", "ignore_noninstrumented_modules=1");
    command
}

/// Runs a server and a client, and returns the output of both.
fn meet(how: &str) -> [Output; 2] {
    let directory = Directory::new();
    let mut server = command(&directory);
    server.args(["serve", how]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = server.spawn().expect("it was just built");
    let mut line = String::new();
    let out = server.stdout.as_mut().expect("it is piped");
    BufReader::new(out).read_line(&mut line).expect("it can be read");
    assert_eq!(line, "ready\n");
    let client = command(&directory).arg("call").output().expect("it was just built");
    // `wait_with_output` closes the server's standard input, which ends the server.
    [server.wait_with_output().expect("it is there"), client]
}

#[track_caller]
fn is_clean(output: &Output, who: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{who}: {}\n{said}", output.status);
}

#[test]
fn calling_and_serving_threads_have_no_data_race() {
    for how in ["runtime", "loop"] {
        let [server, client] = meet(how);
        is_clean(&client, how);
        assert_eq!(client.stdout, b"ok\n");
        is_clean(&server, how);
    }
}

/// Tests that the sanitizer detects races in the program's objects between threads of libobvia.
/// Without this detection, the test above would prove nothing.
#[test]
fn the_thread_sanitizer_reports_a_data_race_of_an_object() {
    let [server, client] = meet("careless");
    is_clean(&client, "its client");
    let said = String::from_utf8_lossy(&server.stderr);
    assert_eq!(server.status.code(), Some(66), "{said}");
    let told: Vec<_> = said.lines().filter(|line| line.starts_with("SUMMARY: ")).collect();
    let is_it = |line: &&str| line.contains("data race") && line.contains("races.cc") && line.ends_with(" in Add");
    assert!(!told.is_empty() && told.iter().all(is_it), "{said}");
}
