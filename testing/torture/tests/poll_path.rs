//! While both sides poll, calls allocate nothing and ask the kernel for nothing, on either side; so they take no lock that
//! sleeps.

use ground::Turn;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use torture::process::{Directory, Process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// Rounds of three calls.
const ROUNDS: &str = "3334";
/// What the kernel kills a process with that makes a system call it may not make.
const SIGSYS: i32 = 31;

/// One test at a time, also where each has a process of its own: who polls wants a processor for itself.
fn alone() -> Turn {
    Turn::take(Path::new(env!("CARGO_TARGET_TMPDIR")), "poll-path")
}

/// A server and a client that poll, each on a processor of its own, and whose threads for each other are there.
fn pair(directory: &Directory) -> (Process, Process) {
    let mut server = directory.start(PROGRAM, &["poll", "0"]);
    server.good("export name");
    let mut client = directory.start(PROGRAM, &["poll", "1"]);
    client.good("connect name");
    client.good("make 1");
    (server, client)
}

/// Allocations of the client's and of the server's thread.
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
fn an_allocation_would_be_seen() {
    let _turn = alone();
    assert_eq!(measured("here"), (1, 0));
    let (_, there) = measured("there");
    assert!(there > 0);
}

#[test]
fn polling_calls_ask_the_kernel_for_nothing() {
    let _turn = alone();
    let directory = Directory::new();
    let (mut server, mut client) = pair(&directory);
    client.good(&format!("locked {ROUNDS}"));
    let ended = client.ended();
    assert!(ended.success(), "{ended}");
    // The thread that served the calls ends with them, and may not: until then the lock held.
    let ended = server.ended();
    assert_eq!(ended.signal(), Some(SIGSYS), "{ended}");
}

#[test]
fn a_system_call_would_be_seen() {
    let _turn = alone();
    let directory = Directory::new();
    let (mut server, mut client) = pair(&directory);
    client.order(&format!("locked {ROUNDS} here"));
    assert_eq!(client.ended().signal(), Some(SIGSYS));
    assert_eq!(server.ended().signal(), Some(SIGSYS));

    let directory = Directory::new();
    let (mut server, mut client) = pair(&directory);
    client.order(&format!("locked {ROUNDS} there"));
    let ended = server.ended();
    assert_eq!(ended.signal(), Some(SIGSYS), "{ended}");
    // The client's call fails, and its way out of that is not free of system calls either.
    assert!(!client.ended().success());
}
