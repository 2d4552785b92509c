//! Tests that polling calls make no allocations and no system calls on either side, and so take no
//! lock that can sleep.

use ground::Turn;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use torture::process::{Directory, Process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The number of rounds, of three calls each.
const ROUNDS: &str = "3334";
/// The signal by which the kernel kills a process for a forbidden system call.
const SIGSYS: i32 = 31;

/// Takes the lock that runs one test at a time, across processes, because each polling thread needs
/// a processor.
fn alone() -> Turn {
    Turn::take(Path::new(env!("CARGO_TARGET_TMPDIR")), "poll-path")
}

/// Starts a polling server and client, each on a processor of its own, with all threads started.
fn pair(directory: &Directory) -> (Process, Process) {
    let mut server = directory.start(PROGRAM, &["poll", "0"]);
    server.good("export name");
    let mut client = directory.start(PROGRAM, &["poll", "1"]);
    client.good("connect name");
    client.good("make 1");
    (server, client)
}

/// Returns the numbers of allocations in the client's thread and in the server's thread.
fn measured(fault: &str) -> (i64, i64) {
    let directory = Directory::new();
    let (_server, mut client) = pair(&directory);
    let answer = client.good(format!("measure {ROUNDS} {fault}").trim_end());
    let (here, there) = answer.split_once(' ').unwrap();
    (here.parse().unwrap(), there.parse().unwrap())
}

#[test]
fn polling_calls_allocate_nothing() {
    let _turn = alone();
    assert_eq!(measured(""), (0, 0));
}

#[test]
fn repeated_calls_by_frames_allocate_nothing_in_the_client() {
    let _turn = alone();
    let directory = Directory::new();
    let (_server, mut client) = pair(&directory);
    assert_eq!(client.good(&format!("repeat name {ROUNDS}")), "0");
}

#[test]
fn the_measurement_detects_an_allocation() {
    let _turn = alone();
    assert_eq!(measured("here"), (1, 0));
    let (_, there) = measured("there");
    assert!(there > 0);
}

#[test]
fn polling_calls_make_no_system_calls() {
    let _turn = alone();
    let directory = Directory::new();
    let (mut server, mut client) = pair(&directory);
    client.good(&format!("locked {ROUNDS}"));
    let ended = client.await_end();
    assert!(ended.success(), "{ended}");
    // The restriction was in force: when the serving thread ends, it makes a forbidden system call,
    // and the kernel kills the process.
    let ended = server.await_end();
    assert_eq!(ended.signal(), Some(SIGSYS), "{ended}");
}

#[test]
fn the_measurement_detects_a_system_call() {
    let _turn = alone();
    let directory = Directory::new();
    let (mut server, mut client) = pair(&directory);
    client.say(&format!("locked {ROUNDS} here"));
    assert_eq!(client.await_end().signal(), Some(SIGSYS));
    assert_eq!(server.await_end().signal(), Some(SIGSYS));

    let directory = Directory::new();
    let (mut server, mut client) = pair(&directory);
    client.say(&format!("locked {ROUNDS} there"));
    let ended = server.await_end();
    assert_eq!(ended.signal(), Some(SIGSYS), "{ended}");
    // The client's call fails, and its error path makes system calls, too.
    assert!(!client.await_end().success());
}
