//! Tests that the releases of one client wake no other client's connection.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::time::Instant;
use torture::process::{Directory, LATEST, Process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
const IDLE: usize = 50;
const ROUNDS: u64 = 200;
/// The number of objects that a round releases.
const OBJECTS: i64 = 5;

/// Returns how often each thread that serves a connection has slept, by the thread's number.
fn sleeps(server: &Process) -> BTreeMap<OsString, u64> {
    let threads = fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap();
    let sleeps = threads.filter_map(|thread| {
        let thread = thread.ok()?;
        let status = fs::read_to_string(thread.path().join("status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        field("Name:").filter(|name| *name == "obvia-serve")?;
        Some((thread.file_name(), field("voluntary_ctxt_switches:")?.parse().ok()?))
    });
    sleeps.collect()
}

#[test]
fn releases_of_one_client_wake_no_idle_connections() {
    let directory = Directory::new();
    let mut server = directory.start(PROGRAM, &[]);
    server.good("export there");
    let mut idle: Vec<_> = (0..IDLE).map(|_| directory.start(PROGRAM, &[])).collect();
    for client in &mut idle {
        client.good("connect there");
        client.good("make 1");
        assert_eq!(client.number("add 1"), 1);
    }
    let mut client = directory.start(PROGRAM, &[]);
    client.good("connect there");
    let live = server.number("live");
    let (before, began) = (sleeps(&server), Instant::now());
    assert!(before.len() > IDLE, "{} threads", before.len());
    for _ in 0..ROUNDS {
        client.good(&format!("make {OBJECTS}"));
        client.good("nothing");
        client.good("drop");
        server.becomes(LATEST, "live", live);
    }
    let (after, naps) = (sleeps(&server), began.elapsed().as_millis() as u64 / 250);
    // An idle thread wakes only at the end of each nap. That of the client wakes in each round.
    let mut grown: Vec<u64> = before.iter().filter_map(|(thread, count)| Some(after.get(thread)? - count)).collect();
    grown.sort_unstable();
    assert!(grown[IDLE - 1] <= naps + ROUNDS / 10, "{naps} naps, and sleeps: {grown:?}");
}
