//! A test of many processes, threads and objects that use one server at the same time, with a check
//! of each result.

use std::io::Write;
use std::time::{Duration, Instant};
use torture::process::{Directory, LATEST, Process, same, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
const CLIENTS: usize = 8;
/// The maximum time until an unused connection is closed: the janitor's round with a margin.
const ROUND: Duration = Duration::from_secs(25);

fn seconds() -> u64 {
    std::env::var("OBVIA_SOAK_SECONDS").map_or(10, |seconds| seconds.parse().unwrap())
}

/// Runs a client that makes objects, takes a callback and passes an object, so that the server
/// starts all of its threads.
fn warm_up(directory: &Directory) {
    let mut client = directory.start(PROGRAM, &[]);
    client.good("connect soak");
    client.good("make 2");
    assert_eq!(client.good("callback 5"), "16");
    assert_eq!(client.good("pass-own"), "true false");
    client.finish();
}

/// Waits for the clients' ends. Returns the number of calls, and the server's memory at a quarter
/// of the time and at the end.
fn follow(clients: &mut [Process], server: &Process, seconds: u64) -> (u64, [u64; 2]) {
    for client in &mut *clients {
        assert_eq!(client.line_within(LATEST * 3), "ready");
    }
    std::thread::sleep(Duration::from_millis(250 * seconds));
    let early = server.resident_kib();
    let limit = LATEST + Duration::from_secs(seconds);
    let calls = clients.iter_mut().map(|client| {
        let line = client.line_within(limit);
        line.strip_prefix("ok ").unwrap_or_else(|| panic!("{line}")).parse::<u64>().unwrap()
    });
    (calls.sum(), [early, server.resident_kib()])
}

#[test]
#[ignore = "takes as long as OBVIA_SOAK_SECONDS says"]
fn calls_of_many_processes_and_threads_get_correct_results() {
    let directory = Directory::new();
    let mut server = directory.start(PROGRAM, &[]);
    server.good("export soak");
    let alone = (server.threads(), server.open_files());
    warm_up(&directory);
    // The pulse and the janitor run from the first client on. Two threads that wait for parked
    // connections run from the first silent client on, with an epoll instance and an event.
    let few = (alone.0 + 4, alone.1 + 3);
    let settled = |server: &Process| {
        let now = (server.threads(), server.open_files());
        if now.0 <= few.0 && now.1 <= few.1 { Ok(()) } else { Err(format!("{now:?}, at first {few:?}")) }
    };
    within(ROUND, || settled(&server));

    let mut clients: Vec<Process> = (0..CLIENTS).map(|_| directory.start(PROGRAM, &[])).collect();
    let seconds = seconds();
    for (seed, client) in clients.iter_mut().enumerate() {
        client.good("connect soak");
        client.say(&format!("soak {seed} {seconds}"));
    }
    let started = Instant::now();
    let (calls, [early, late]) = follow(&mut clients, &server, seconds);
    let took = started.elapsed().as_secs_f64();
    // Output by println! would be hidden for a passed test.
    let mut out = std::io::stdout();
    writeln!(out, "{calls} calls in {took:.1} s: {:.0} calls per second", calls as f64 / took).unwrap();
    writeln!(out, "resident memory of the server: {early} KiB after a quarter, {late} KiB at the end").unwrap();
    assert!(late < early * 2 + (128 << 10), "the server's memory grows: {early} KiB, then {late} KiB");

    server.becomes(LATEST, "live", 0);
    for client in &mut clients {
        client.becomes(LATEST, "live", 0);
    }
    for client in &mut clients {
        client.finish();
    }
    within(ROUND, || settled(&server));
    within(LATEST, || {
        server.good("list");
        directory.files_of(&["soak"], 1)
    });
    assert!(same(server.number("live"), 0).is_ok());
    server.finish();
}
