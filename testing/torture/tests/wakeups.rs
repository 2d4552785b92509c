//! Tests that clients which do nothing wake no thread, whatever other clients do, and that clients
//! make no more connections than they need.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use torture::process::{Directory, LATEST, Process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
const IDLE: usize = 50;
const ROUNDS: u64 = 200;
/// The number of objects that a round releases.
const OBJECTS: i64 = 5;
/// The number of wake-ups that a test allows for those that a busy machine causes: one for each
/// client.
const STRAY: u64 = IDLE as u64;

/// The name of the janitor's thread, and the start of the names of all threads of the runtime.
const JANITOR: &str = "obvia-janitor";
const OWN: &str = "obvia-";

/// A call that lasts longer than the interval between the janitor's searches for unused links.
const LONG_CALL: &str = "sleep 10500";
/// A call that lasts longer than what a thread does after a client's last call.
const SHORT_CALL: &str = "sleep 500";

/// Returns how often each thread has slept whose name begins like this, by the thread's number.
fn sleeps(process: &Process, name: &str) -> BTreeMap<OsString, u64> {
    let threads = fs::read_dir(format!("/proc/{}/task", process.pid())).unwrap();
    let sleeps = threads.filter_map(|thread| {
        let thread = thread.ok()?;
        let status = fs::read_to_string(thread.path().join("status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        field("Name:").filter(|found| found.starts_with(name))?;
        Some((thread.file_name(), field("voluntary_ctxt_switches:")?.parse().ok()?))
    });
    sleeps.collect()
}

/// Starts a server.
fn server(directory: &Directory) -> Process {
    let mut server = directory.start(PROGRAM, &[]);
    server.good("export there");
    server
}

/// Starts clients that have each made a call.
fn clients(directory: &Directory, count: usize) -> Vec<Process> {
    let mut clients: Vec<_> = (0..count).map(|_| directory.start(PROGRAM, &[])).collect();
    for client in &mut clients {
        client.good("connect there");
        client.good("make 1");
        assert_eq!(client.number("add 1"), 1);
    }
    clients
}

/// Returns by how much the number of sleeps of each thread of the runtime has grown since `before`,
/// in ascending order.
fn growth(server: &Process, before: &BTreeMap<OsString, u64>) -> Vec<u64> {
    let earlier = |thread| before.get(thread).copied().unwrap_or_default();
    let after = sleeps(server, OWN);
    let mut grown: Vec<u64> = after.iter().map(|(thread, count)| count - earlier(thread)).collect();
    grown.sort_unstable();
    grown
}

#[test]
fn releases_of_one_client_wake_no_idle_connections() {
    let directory = Directory::new();
    let mut server = server(&directory);
    let _idle = clients(&directory, IDLE);
    let mut client = directory.start(PROGRAM, &[]);
    client.good("connect there");
    let live = server.number("live");
    let before = sleeps(&server, OWN);
    for _ in 0..ROUNDS {
        client.good(&format!("make {OBJECTS}"));
        client.good("nothing");
        client.good("drop");
        server.becomes(LATEST, "live", live);
    }
    // The threads that serve the client wake some times in each round.
    let grown = growth(&server, &before);
    assert!(grown.iter().sum::<u64>() < ROUNDS * IDLE as u64 / 2, "sleeps: {grown:?}");
}

#[test]
fn idle_clients_wake_and_take_no_thread() {
    let directory = Directory::new();
    let server = server(&directory);
    let idle = clients(&directory, IDLE);
    let client = &mut clients(&directory, 1)[0];
    let of_clients = || idle.iter().flat_map(|client| sleeps(client, OWN).into_values()).sum::<u64>();
    ground::until("the idle clients have settled", || {
        let before = of_clients();
        client.good(SHORT_CALL);
        of_clients() == before
    });
    let (before, before_clients) = (sleeps(&server, OWN), of_clients());
    assert!(before.len() < IDLE / 2, "{} threads for {IDLE} clients", before.len());
    client.good(LONG_CALL);
    let grown = growth(&server, &before);
    // The greatest growth is that of the thread in the call.
    let woken: u64 = grown[..grown.len() - 1].iter().sum();
    assert!(woken <= STRAY, "the server's threads: {grown:?}");
    let woken = of_clients() - before_clients;
    assert!(woken <= STRAY, "the clients' threads: {woken}");
}

#[test]
fn arrivals_of_clients_are_no_departures() {
    let directory = Directory::new();
    let server = server(&directory);
    let _first = clients(&directory, 1);
    // The janitor collects what departed clients leave behind.
    let of_janitor = || sleeps(&server, JANITOR).into_values().sum::<u64>();
    let before = of_janitor();
    let _arrived = clients(&directory, IDLE);
    let woken = of_janitor() - before;
    assert!(woken <= STRAY, "the janitor woke {woken} times");
}

#[test]
fn the_first_call_of_a_client_makes_no_connection() {
    let directory = Directory::new();
    let server = server(&directory);
    let _first = clients(&directory, 1);
    // The first parked connection takes further descriptors.
    ground::until("a connection is parked", || !sleeps(&server, "obvia-pool").is_empty());
    let mut client = directory.start(PROGRAM, &[]);
    client.good("connect there");
    let before = server.open_files();
    client.good("make 1");
    assert_eq!(client.number("add 1"), 1);
    assert_eq!(server.open_files(), before);
}
