//! Tests that idle clients wake no thread, whatever other clients do, and that clients make no more
//! connections than they need.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::time::{Duration, Instant};
use torture::process::{Directory, LATEST, Process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
const IDLE: usize = 50;
const ROUNDS: u64 = 200;
/// The number of objects that a round releases.
const OBJECTS: i64 = 5;
/// The number of wake-ups that a test permits in addition, because a busy machine may cause some:
/// one for each client.
const STRAY: u64 = IDLE as u64;

/// The name of the janitor's thread, and the start of the names of all threads of the runtime.
const JANITOR: &str = "obvia-janitor";
const OWN: &str = "obvia-";

/// A call that lasts longer than the interval between the janitor's searches for unused links.
const LONG_CALL: &str = "sleep 10500";
/// A call that lasts longer than the time for which a thread still works after a client's last
/// call.
const SHORT_CALL: &str = "sleep 500";

/// Returns the number of sleeps of each living thread whose name begins with `name`, by the
/// thread's number.
fn sleeps_of(process: &Process, name: &str) -> BTreeMap<OsString, u64> {
    let threads = fs::read_dir(format!("/proc/{}/task", process.id())).unwrap();
    let sleeps = threads.filter_map(|thread| {
        let thread = thread.ok()?;
        let status = fs::read_to_string(thread.path().join("status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        field("Name:").filter(|found| found.starts_with(name))?;
        Some((thread.file_name(), field("voluntary_ctxt_switches:")?.parse().ok()?))
    });
    sleeps.collect()
}

/// Returns how often the threads of a process have slept, ended threads included. The thread that
/// takes orders does not count.
fn sleeps(process: &mut Process) -> u64 {
    process.number("sleeps").try_into().unwrap()
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

#[test]
fn releases_of_one_client_wake_no_idle_connections() {
    let directory = Directory::new();
    let mut server = server(&directory);
    let _idle = clients(&directory, IDLE);
    let mut client = directory.start(PROGRAM, &[]);
    client.good("connect there");
    let live = server.number("live");
    let before = sleeps(&mut server);
    for _ in 0..ROUNDS {
        client.good(&format!("make {OBJECTS}"));
        client.good("nothing");
        client.good("drop");
        server.becomes(LATEST, "live", live);
    }
    // The threads that serve the client wake several times in each round.
    let grown = sleeps(&mut server) - before;
    assert!(grown < ROUNDS * IDLE as u64 / 2, "sleeps: {grown}");
}

#[test]
fn idle_clients_wake_and_take_no_thread() {
    let directory = Directory::new();
    let mut server = server(&directory);
    let idle = clients(&directory, IDLE);
    let client = &mut clients(&directory, 1)[0];
    let of_clients = || idle.iter().flat_map(|client| sleeps_of(client, OWN).into_values()).sum::<u64>();
    ground::until("the idle clients have settled", || {
        let before = of_clients();
        client.good(SHORT_CALL);
        of_clients() == before
    });
    let (before, before_clients) = (sleeps(&mut server), of_clients());
    let threads = sleeps_of(&server, OWN);
    assert!(threads.len() < IDLE / 2, "{} threads for {IDLE} clients", threads.len());
    client.good(LONG_CALL);
    let grown = |(thread, count)| count - threads.get(&thread).copied().unwrap_or_default();
    // The thread that performs the call sleeps more often than all others.
    let of_call = sleeps_of(&server, OWN).into_iter().map(grown).max().unwrap_or_default();
    let woken = sleeps(&mut server) - before - of_call;
    assert!(woken <= STRAY, "the server's threads: {woken}");
    let woken = of_clients() - before_clients;
    assert!(woken <= STRAY, "the clients' threads: {woken}");
}

#[test]
fn a_client_of_a_polling_server_takes_no_thread_before_its_first_call() {
    let directory = Directory::new();
    let mut server = directory.start(PROGRAM, &["poll"]);
    server.good("export there");
    let mut client = directory.start(PROGRAM, &[]);
    client.good("connect there");
    ground::until("no thread serves the client", || server.threads_called("obvia-serve") == 0);
    client.good("make 1");
    assert_eq!(client.number("add 1"), 1);
}

#[test]
fn processes_that_sleep_on_one_word_only_wake_each_other() {
    for (is_server, is_client) in [(true, true), (true, false), (false, true)] {
        let directory = Directory::new();
        let [mut server, mut client] = [is_server, is_client].map(|is_limited| {
            let mut process = directory.start(PROGRAM, &[]);
            if is_limited {
                process.good("refuse-waitv");
            }
            process
        });
        server.good("export there");
        client.good("connect there");
        client.good("make 1");
        for sum in 1..4 {
            assert_eq!(client.number("add 1"), sum);
            // Afterwards the server's connection is parked, and is resumed by the next call.
            ground::until("the connection is parked", || sleeps_of(&server, "obvia-pool").len() == 2);
        }
        client.good(SHORT_CALL);
        client.good("drop");
        server.becomes(LATEST, "live", 0);
    }
}

#[test]
fn arrivals_of_clients_are_no_departures() {
    let directory = Directory::new();
    let server = server(&directory);
    let _first = clients(&directory, 1);
    // The janitor collects what departed clients leave behind.
    let of_janitor = || sleeps_of(&server, JANITOR).into_values().sum::<u64>();
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
    // The first parked connection makes the server open further descriptors.
    ground::until("a connection is parked", || !sleeps_of(&server, "obvia-pool").is_empty());
    let mut client = directory.start(PROGRAM, &[]);
    client.good("connect there");
    let before = server.open_files();
    client.good("make 1");
    assert_eq!(client.number("add 1"), 1);
    assert_eq!(server.open_files(), before);
}

/// A server that listens on a protocol sequence, and clients of it that have each made a call.
struct Scene {
    server: Process,
    clients: Vec<Process>,
    _directories: [Directory; 2],
}

impl Scene {
    fn new(protocol: &str, count: usize) -> Self {
        // The clients use another directory than the server, so that they reach the server over the
        // network alone.
        let directories = [Directory::new(), Directory::new()];
        let mut server = directories[0].start(PROGRAM, &[]);
        server.good("export there");
        let binding = server.good(&format!("listen {protocol}:127.0.0.1[0]")).replace(']', ",name=there]");
        let mut clients: Vec<_> = (0..count).map(|_| directories[1].start(PROGRAM, &[])).collect();
        for client in &mut clients {
            client.good(&format!("connect {binding}"));
            client.good("make 1");
            assert_eq!(client.number("add 1"), 1);
        }
        Self { server, clients, _directories: directories }
    }
}

/// The time for which idle clients over a network are observed.
const OBSERVED: Duration = Duration::from_secs(4);

/// Returns the number of wake-ups of the server for each client during a time without calls. This
/// is the lowest of three counts, because the first count may include wake-ups for the clients'
/// last calls.
fn sleeps_while_idle(scene: &mut Scene) -> f64 {
    let measured = (0..3).map(|_| {
        let before = sleeps(&mut scene.server);
        std::thread::sleep(OBSERVED);
        sleeps(&mut scene.server) - before
    });
    measured.min().unwrap_or_default() as f64 / scene.clients.len() as f64
}

#[test]
fn idle_clients_over_tcp_wake_no_thread() {
    let woken = sleeps_while_idle(&mut Scene::new("ncacn_ip_tcp", IDLE));
    // A connection that woke four times a second would have woken 16 times.
    assert!(woken < 1.0, "{woken} wake-ups for each client");
}

#[test]
fn idle_clients_over_udp_wake_threads_for_signs_of_life_alone() {
    /// The maximum number of wake-ups of a connection in a second: each side sends at most two
    /// signs of life in a second, and a thread wakes for its own sign, for the peer's, and for the
    /// peer's answer.
    const WAKE_UPS: f64 = 6.0;
    let woken = sleeps_while_idle(&mut Scene::new("ncacn_vi_udp", IDLE));
    assert!(woken < WAKE_UPS * OBSERVED.as_secs_f64(), "{woken} wake-ups for each client");
}

/// Returns the processor time that the server uses while one client makes calls.
fn time_of_calls(scene: &mut Scene) -> Duration {
    let before = scene.server.processor_time();
    let made = scene.clients[0].number("adds-at 500 3000");
    assert!(made > 100, "{made} calls");
    (scene.server.processor_time() - before) / u32::try_from(made).unwrap()
}

#[test]
#[ignore = "measures, and wants the machine for itself"]
fn calls_of_one_client_cost_the_same_beside_idle_clients() {
    for protocol in ["ncacn_vi_udp", "ncacn_ip_tcp"] {
        let alone = time_of_calls(&mut Scene::new(protocol, 1));
        let mut scene = Scene::new(protocol, 4 * IDLE);
        std::thread::sleep(OBSERVED);
        let beside = time_of_calls(&mut scene);
        println!("{protocol}: {alone:?} for a call alone, {beside:?} beside idle clients");
        assert!(beside < 3 * alone, "{protocol}: {alone:?} alone, {beside:?} beside idle clients");
    }
}

#[test]
#[ignore = "measures, with 500 processes, and wants the machine for itself"]
fn measure_idle_clients() {
    let number = std::env::var("CLIENTS").map_or(500, |number| number.parse().unwrap());
    for protocol in ["ncacn_vi_udp", "ncacn_ip_tcp"] {
        let Scene { mut server, mut clients, _directories } = Scene::new(protocol, number);
        std::thread::sleep(Duration::from_secs(10));
        for work in ["nothing", "1,000 calls a second"] {
            let (began, before, slept) = (Instant::now(), server.processor_time(), sleeps(&mut server));
            let made = match work {
                "nothing" => {
                    std::thread::sleep(Duration::from_secs(10));
                    0
                }
                _ => clients[0].number("adds-at 1000 10000"),
            };
            let (took, slept) = (began.elapsed(), sleeps(&mut server) - slept);
            let used = server.processor_time() - before;
            println!("{protocol}, {number} clients, {work}: {used:?} of {took:?}, {slept} sleeps, {made} calls");
        }
    }
}
