//! Tests of processes that are killed or stopped during calls: their peers do not wait, and the
//! processes leave no files and references behind.

use obvia_via::provider::udp;
use std::time::{Duration, Instant};
use torture::process::{Directory, LATEST, Process, same, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The waiting policies of a test's clients.
const WAYS: [&str; 3] = ["adaptive", "block", "poll"];
/// The time limit for the janitor to close unused connections, a few of its rounds.
const SETTLED: Duration = Duration::from_secs(30);
const DISCONNECTED: &str = "RPC_E_DISCONNECTED";
const TIMEOUT: &str = "RPC_E_TIMEOUT";

/// Starts a server with this exported name.
fn server(directory: &Directory, name: &str) -> Process {
    let mut server = directory.start(PROGRAM, &[]);
    server.good(&format!("export {name}"));
    server
}

/// Starts clients that are connected to the server, one for each waiting policy.
fn clients(directory: &Directory, name: &str) -> Vec<Process> {
    let start = |way: &&str| {
        let mut client = directory.start(PROGRAM, &[way]);
        client.good(&format!("connect {name}"));
        client
    };
    WAYS.iter().map(start).collect()
}

/// Returns the numbers of a server's threads and file descriptors.
fn counts(server: &Process) -> (u64, usize) {
    (server.threads(), server.open_files())
}

/// Adds the threads and files that a server has from its first parked connection on: two threads
/// that wait for such connections, an epoll instance and an event.
fn with_parking((threads, files): (u64, usize)) -> (u64, usize) {
    (threads + 2, files + 2)
}

/// Waits until a server has no more threads and file descriptors than before.
#[track_caller]
fn settles(server: &Process, before: (u64, usize)) {
    within(SETTLED, || {
        let now = counts(server);
        if now.0 <= before.0 && now.1 <= before.1 { Ok(()) } else { Err(format!("{now:?}, before {before:?}")) }
    });
}

/// Makes a server start its background threads, and returns the expected counts.
fn warmed_up(directory: &Directory, server: &mut Process, name: &str) -> (u64, usize) {
    let cold = counts(server);
    let mut client = directory.start(PROGRAM, &[]);
    client.good(&format!("connect {name}"));
    client.good("make 1");
    client.good("callback 1");
    client.good("pass-own");
    client.finish();
    server.becomes(LATEST, "live", 0);
    // Two threads have started: the pulse, which has an epoll instance, and the janitor.
    with_parking((cold.0 + 2, cold.1 + 1))
}

/// Waits until only the files of these names and processes are left. The listing removes files of
/// dead processes.
#[track_caller]
fn only_files_of(directory: &Directory, names: &[&str], processes: usize) {
    within(LATEST, || {
        let listed = directory.start(PROGRAM, &[]).good("list");
        same(listed.as_str(), names.join(" ").as_str())?;
        directory.files_of(names, processes)
    });
}

#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn waiting_calls_end_with_a_killed_server_and_its_name_is_reusable() {
    const THREADS: usize = 4;
    let directory = Directory::new();
    let mut first = server(&directory, "name");
    let mut clients = clients(&directory, "name");
    for client in &mut clients {
        client.good(&format!("wait {THREADS}"));
    }
    let waiting = (clients.len() * THREADS) as i64;
    first.becomes(LATEST, "sleeping", waiting);

    let pid = first.id().to_string();
    assert_eq!(first.shared_memory(), [""; 0]);
    first.kill();
    for client in &mut clients {
        for _ in 0..THREADS {
            let line = client.line_within(LATEST);
            assert!(line.starts_with("ended error") && line.contains(&pid) && line.contains(DISCONNECTED), "{line}");
        }
    }
    assert_eq!(directory.start(PROGRAM, &[]).good("list"), "");

    let mut second = server(&directory, "name");
    for client in &mut clients {
        client.good("connect name");
        client.good("make 1");
        assert_eq!(client.good("add 5"), "5");
        client.finish();
    }
    second.becomes(LATEST, "live", 0);
    only_files_of(&directory, &["name"], 1);
}

/// The kernel of this host reports that the server's port is closed, so no client has to wait until
/// the server has been silent for long enough.
#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn waiting_calls_over_udp_end_soon_after_their_server() {
    // Each waiting call has a connection of its own. One host has places for 128 connections.
    const CLIENTS: usize = 10;
    const THREADS: usize = 10;
    const LIMIT: Duration = Duration::from_secs(10);
    const REASON: &str =
        "ended error the connection with 127.0.0.1 ended: the peer no longer responds (RPC_E_DISCONNECTED)";
    let (here, there) = (Directory::new(), Directory::new());
    let mut first = server(&there, "name");
    let binding = first.good("listen ncacn_vi_udp:127.0.0.1[0]").replace(']', ",name=name]");
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| here.start(PROGRAM, &[])).collect();
    for client in &mut clients {
        client.good(&format!("connect {binding}"));
        client.good(&format!("wait {THREADS}"));
    }
    first.becomes(LATEST, "sleeping", (CLIENTS * THREADS) as i64);

    first.kill();
    let killed = Instant::now();
    let ends = |client: &mut Process| {
        [(); THREADS].map(|()| {
            let line = client.line_within(LATEST);
            assert_eq!(line, REASON);
            killed.elapsed()
        })
    };
    let mut times: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = clients.iter_mut().map(|client| scope.spawn(move || ends(client))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    times.sort();
    let [least, half, most, last] = [0, 50, 90, 100].map(|share| times[(times.len() - 1) * share / 100]);
    println!("{} calls ended: the first after {least:?}, half of them within {half:?},", times.len());
    println!("90 % within {most:?}, and all within {last:?}");
    assert!(last < LIMIT, "{times:?}");
    // If the clients had noticed the end of the server by its silence alone, each call would have
    // taken this time.
    let silence = udp::Options::default().silence;
    assert!(half < silence / 2, "half of the calls took {half:?}, and the silence is {silence:?}");
}

#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn proxies_of_a_killed_server_report_its_end_and_can_be_dropped() {
    let directory = Directory::new();
    let mut first = server(&directory, "name");
    let mut clients = clients(&directory, "name");
    for client in &mut clients {
        client.good("make 3");
        client.good("nothing");
    }
    let pid = first.id().to_string();
    first.kill();
    for client in &mut clients {
        for order in ["pass-own", "nothing", "add 1", "cast", "pass", "pass-own"] {
            let error = client.bad(order);
            assert!(error.contains(DISCONNECTED), "{order}: {error}");
            assert!(order == "cast" || error.contains(&pid), "{order}: {error}");
        }
        let error = client.bad("make 1");
        assert!(error.contains(DISCONNECTED), "{error}");
        // References that the dead process held are released.
        client.becomes(LATEST, "live", 0);
        client.good("leave");
        client.finish();
    }
}

#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn references_of_killed_clients_are_dropped() {
    let directory = Directory::new();
    let mut server = server(&directory, "name");
    let before = warmed_up(&directory, &mut server, "name");
    settles(&server, before);

    let mut clients = clients(&directory, "name");
    for client in &mut clients {
        client.good("make 100");
        client.good("nothing");
    }
    server.becomes(LATEST, "live", 300);
    for (client, left) in clients.iter_mut().zip([200, 100, 0]) {
        assert_eq!(client.shared_memory(), [""; 0]);
        client.kill();
        server.becomes(LATEST, "live", left);
    }
    settles(&server, before);
    only_files_of(&directory, &["name"], 1);
}

#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn clients_killed_during_calls_leave_no_references() {
    const THREADS: usize = 2;
    let directory = Directory::new();
    let mut server = server(&directory, "name");
    let before = warmed_up(&directory, &mut server, "name");
    settles(&server, before);
    let mut other = directory.start(PROGRAM, &[]);
    other.good("connect name");
    other.good("make 1");
    for round in 0..5 {
        let mut clients = clients(&directory, "name");
        for client in &mut clients {
            client.good(&format!("calls {THREADS}"));
        }
        for client in &mut clients {
            for _ in 0..THREADS {
                assert_eq!(client.line(), "calling");
            }
        }
        for client in &mut clients {
            client.kill();
        }
        server.becomes(LATEST, "live", 1);
        assert_eq!(other.good("add 1"), (round + 1).to_string());
    }
    other.finish();
    server.becomes(LATEST, "live", 0);
    settles(&server, before);
    only_files_of(&directory, &["name"], 1);
}

#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn killed_clients_are_cleaned_up_at_a_busy_server() {
    let directory = Directory::new();
    let mut server = server(&directory, "name");
    let mut busy = directory.start(PROGRAM, &[]);
    busy.good("connect name");
    busy.good("calls 2");
    assert_eq!((busy.line(), busy.line()), ("calling".to_owned(), "calling".to_owned()));
    let before = with_parking(counts(&server));
    for _ in 0..3 {
        for client in &mut clients(&directory, "name") {
            client.good("make 1");
            assert_eq!(client.good("callback 1"), "4");
            assert_eq!(client.good("pass-own"), "true false");
            client.kill();
        }
    }
    settles(&server, before);
    busy.kill();
    server.becomes(LATEST, "live", 0);
}

#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn methods_detect_the_end_of_their_killed_caller() {
    let directory = Directory::new();
    let mut server = server(&directory, "name");
    let mut clients = clients(&directory, "name");
    for client in &mut clients {
        client.good("wait 2");
    }
    server.becomes(LATEST, "sleeping", 6);
    for client in &mut clients {
        client.kill();
    }
    server.becomes(LATEST, "sleeping", 0);
    assert_eq!(server.number("noticed"), 6);
    server.becomes(LATEST, "live", 0);
}

#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn a_client_killed_during_a_callback_does_not_block_the_server() {
    const THREADS: usize = 3;
    let directory = Directory::new();
    let mut server = server(&directory, "name");
    let before = warmed_up(&directory, &mut server, "name");
    settles(&server, before);
    let mut clients = clients(&directory, "name");
    for client in &mut clients {
        client.good(&format!("lend {THREADS}"));
        for _ in 0..THREADS {
            assert_eq!(client.line(), "heard");
        }
    }
    // The first client has lent a counter, and makes no calls.
    clients[0].good("keep-own");
    server.becomes(LATEST, "live", (WAYS.len() * THREADS) as i64);
    for client in &mut clients {
        client.kill();
    }
    server.becomes(LATEST, "live", 0);
    let mut other = directory.start(PROGRAM, &[]);
    other.good("connect name");
    let error = other.bad("add-to-kept 1");
    assert!(error.contains(DISCONNECTED), "{error}");
    other.good("keep-none");
    other.finish();
    settles(&server, before);
    only_files_of(&directory, &["name"], 1);
}

#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn names_of_killed_servers_are_free_at_once() {
    let directory = Directory::new();
    let mut keeper = server(&directory, "keeper");
    for round in 0..10 {
        let mut short = server(&directory, "short");
        assert_eq!(keeper.good("list"), "keeper short", "round {round}");
        short.kill();
        if round % 2 == 0 {
            assert_eq!(keeper.good("list"), "keeper", "round {round}");
        }
    }
    only_files_of(&directory, &["keeper"], 1);
    keeper.finish();
    only_files_of(&directory, &[], 0);
}

#[test]
#[ignore = "stops processes, and wants the machine for itself"]
fn calls_to_a_stopped_server_time_out_and_succeed_when_it_resumes() {
    let directory = Directory::new();
    let mut server = server(&directory, "name");
    let before = warmed_up(&directory, &mut server, "name");
    settles(&server, before);
    let mut clients = clients(&directory, "name");
    for client in &mut clients {
        client.good("make 5");
        assert_eq!(client.good("add 1"), "1");
        client.good("timeout 300");
    }
    server.stop();
    for (client, first) in clients.iter_mut().zip(["make 1", "pass-own", "callback 1"]) {
        // The first call reaches the server, which answers only after the call has timed out.
        for order in [first, "nothing", "nothing", "cast", "pass-own", "make 1", "connect name"] {
            let error = client.bad(order);
            assert!(error.contains(TIMEOUT), "{order}: {error}");
        }
    }
    // The release reaches the server when the server continues.
    clients[0].good("drop-last 2");
    std::thread::sleep(Duration::from_secs(3));
    server.go_on();
    // The client's janitor tries to send the release for a second, and then rests for a second.
    server.becomes(LATEST, "live", 13);
    for client in &mut clients {
        client.good("timeout");
        // The server has run the calls that were sent to it while it was stopped. None of these
        // calls adds, so the total is unchanged.
        assert_eq!(client.good("add 1"), "2");
        assert!(client.bad("cast").contains("E_NOINTERFACE"));
        assert_eq!(client.good("pass"), "true true");
        assert_eq!(client.good("callback 4"), "13");
        client.good("make 1");
    }
    for client in &mut clients {
        client.good("drop");
    }
    // The releases, not the clients' ends, drop the references.
    server.becomes(LATEST, "live", 0);
    for client in &mut clients {
        client.becomes(LATEST, "live", 0);
        client.finish();
    }
    settles(&server, before);
}

#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn references_to_a_third_process_are_called_directly() {
    let directory = Directory::new();
    let (mut home, keeper) = (server(&directory, "home"), server(&directory, "keeper"));
    let mut between = directory.start(PROGRAM, &[]);
    between.good("connect home");
    between.good("make 1");
    between.good("connect keeper");
    between.good("keep");
    assert_eq!(between.good("add-to-kept 3"), "3");
    assert_eq!(between.good("add 4"), "7");

    let mut other = directory.start(PROGRAM, &[]);
    other.good("connect keeper");
    between.stop();
    assert_eq!(other.good("add-to-kept 1"), "8");
    between.kill();
    assert_eq!(other.good("add-to-kept 1"), "9");
    other.good("kept");
    assert_eq!(other.good("add 1"), "10");
    keeper.stop();
    assert_eq!(other.good("add 1"), "11");
    keeper.go_on();
    // Two processes hold the object. The process for which it was created no longer exists.
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(home.number("live"), 1);

    home.kill();
    let error = other.bad("add-to-kept 1");
    assert!(error.contains(DISCONNECTED), "{error}");
    let error = other.bad("add 1");
    assert!(error.contains(DISCONNECTED), "{error}");
    // The keeper still runs, but its object is gone.
    let error = other.bad("kept");
    assert!(error.contains("CO_E_OBJNOTCONNECTED"), "{error}");
    other.good("keep-none");
    only_files_of(&directory, &["keeper"], 1);
}

#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn references_handed_to_an_absent_process_are_taken_back() {
    let directory = Directory::new();
    let (mut home, mut keeper) = (server(&directory, "home"), server(&directory, "keeper"));
    // The period is long enough for a machine that stops a process for some seconds.
    home.good("pinging 2000");
    let mut between = directory.start(PROGRAM, &[]);
    between.good("connect home");
    between.good("make 1");
    between.good("connect keeper");
    between.good("keep-none");
    // The counter is passed to the stopped keeper, which cannot claim the reference.
    keeper.stop();
    between.good("timeout 500");
    between.bad("keep");
    keeper.kill();
    between.kill();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(home.number("live"), 1);
    home.becomes(LATEST, "live", 0);
    assert_eq!(home.number("exported"), 0);
}

/// The end of a datagram client is noticed by missing pings, because no connection ends.
#[test]
#[ignore = "kills processes, and wants the machine for itself"]
fn killed_datagram_clients_are_detected_by_missing_pings() {
    let directory = Directory::new();
    let mut server = server(&directory, "name");
    let binding = server.good("listen ncadg_ip_udp:127.0.0.1[,rundown=6]");
    let [mut killed, mut idle] = [(); 2].map(|()| {
        let mut client = directory.start(PROGRAM, &[]);
        client.good(&format!("connect {binding}"));
        client.good("make 10");
        client
    });
    assert_eq!(server.number("live"), 20);
    killed.kill();
    server.becomes(SETTLED, "live", 10);
    // A client without calls keeps its objects by pings.
    std::thread::sleep(Duration::from_secs(8));
    assert_eq!(server.number("live"), 10);
    idle.good("callback 1");
    // Handles of the old server are invalid at a new server with the same binding.
    server.kill();
    let mut next = directory.start(PROGRAM, &[]);
    next.good("export name");
    next.good(&format!("listen {binding}"));
    for order in ["add 1", "callback 1"] {
        let error = idle.bad(order);
        assert!(error.contains(DISCONNECTED), "{order}: {error}");
    }
    idle.good(&format!("connect {binding}"));
    idle.good("make 1");
    next.becomes(LATEST, "live", 1);
}
