//! Tests of calls over TCP and over Unix sockets, in every transfer syntax: cancels, killed servers
//! and clients, and leftovers.

use torture::process::{Directory, LATEST, Process, same, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
const WAYS: [&str; 3] = ["adaptive", "block", "poll"];
/// The bindings of the servers.
const BINDINGS: [&str; 4] = [
    "ncacn_ip_tcp:127.0.0.1",
    "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]",
    "ncacn_ip_tcp:127.0.0.1[,transfer=ndr64]",
    "ncalrpc:[there]",
];
const DISCONNECTED: &str = "RPC_E_DISCONNECTED";
const CANCELED: &str = "RPC_E_CALL_CANCELED";

/// A server and a client that share only a stream transport.
struct Pair {
    server: Process,
    client: Process,
    binding: String,
    directories: [Directory; 2],
}

impl Pair {
    fn connect(listening: &str, way: &str) -> Self {
        let directories = [Directory::new(), Directory::new()];
        let mut server = directories[0].start(PROGRAM, &[way]);
        server.good("export there");
        let binding = server.good(&format!("listen {listening}")).replace(']', ",name=there]");
        let client = Self::start_client(&directories, &binding, way);
        Self { server, client, binding, directories }
    }

    /// Starts a connected client. An ncalrpc client needs the runtime directory of the server.
    fn start_client(directories: &[Directory; 2], binding: &str, way: &str) -> Process {
        let directory = &directories[usize::from(!binding.starts_with("ncalrpc"))];
        let mut client = directory.start(PROGRAM, &[way]);
        client.good(&format!("connect {binding}"));
        client
    }
}

/// Runs a test over each stream transport, with each waiting policy.
fn over_each(test: impl Fn(Pair)) {
    for listening in BINDINGS {
        for way in WAYS {
            println!("{listening}, {way}");
            test(Pair::connect(listening, way));
        }
    }
}

#[test]
fn objects_are_passed_in_both_directions() {
    over_each(|Pair { mut server, mut client, .. }| {
        client.passes_objects();
        // The message has many fragments in both directions.
        client.good("echo 100000");
        client.good("adds 4 20");
        client.good("leave");
        server.becomes(LATEST, "live", 0);
    });
}

#[test]
fn a_cancelled_call_ends_at_once_on_both_sides() {
    over_each(|Pair { mut server, mut client, .. }| {
        client.good("make 1");
        client.good("cancellable");
        server.becomes(LATEST, "sleeping", 1);
        client.say("cancel");
        // The answer to the order may come before, between or after the other lines.
        let mut lines: Vec<String> = (0..4).map(|_| client.line_within(LATEST)).collect();
        lines.retain(|line| line.starts_with("ended"));
        assert!(lines[0].starts_with("ended error") && lines[0].contains(CANCELED), "{lines:?}");
        server.becomes(LATEST, "noticed", 1);
        server.becomes(LATEST, "sleeping", 0);
        client.good("add 1");
    });
}

#[test]
fn a_call_that_times_out_is_cancelled_in_the_server() {
    over_each(|Pair { mut server, mut client, .. }| {
        client.good("make 1");
        client.times_out(&mut server);
        assert_eq!(client.number("add 1"), 1);
    });
}

#[test]
fn a_killed_stream_server_is_detected() {
    over_each(|Pair { mut server, mut client, .. }| {
        client.good("make 1");
        client.say("sleep 600000");
        server.becomes(LATEST, "sleeping", 1);
        server.kill();
        let line = client.line_within(LATEST);
        assert!(line.contains(DISCONNECTED), "{line}");
        let error = client.bad("add 1");
        assert!(error.contains(DISCONNECTED), "{error}");
    });
}

#[test]
fn killed_clients_hold_no_references() {
    over_each(|Pair { mut server, mut client, binding, directories }| {
        // The server keeps a client whose connections were reset, because a network failure can
        // reset them. The death of a client can reset them, too. This order limits the time for
        // which the server keeps such a client.
        server.good("pinging 1000");
        client.good("make 1");
        client.good("leave");
        server.becomes(LATEST, "live", 0);
        client.kill();
        let mut before = 0;
        within(LATEST, || {
            let files = server.open_files();
            same(std::mem::replace(&mut before, files), files)
        });
        for _ in 0..3 {
            let mut client = Pair::start_client(&directories, &binding, "adaptive");
            client.good("make 20");
            client.good("adds 3 10");
            client.kill();
        }
        server.becomes(LATEST, "live", 0);
        within(LATEST, || {
            let files = server.open_files();
            // On one host, the processes also have connections over shared memory. Two files are
            // for the parked connections.
            if files <= before + 2 { Ok(()) } else { Err(format!("{files} files are open, {before} before")) }
        });
    });
}

#[test]
fn idle_connections_give_back_the_memory_of_long_calls() {
    const CLIENTS: u64 = 4;
    /// The length of an argument and of a result, in KiB. When buffers are freed, the C library may
    /// keep the memory of shorter ones.
    const LENGTH: u64 = 40 << 10;
    // The areas of a virtual interface last as long as the connection, in both directions.
    let area = LENGTH * 2;
    let without = BINDINGS[..3].iter().map(|listening| (*listening, 0));
    for (listening, kept) in without.chain([("ncacn_vi_udp:127.0.0.1", area)]) {
        let Pair { server, client, binding, directories } = Pair::connect(listening, "block");
        let further = (1..CLIENTS).map(|_| Pair::start_client(&directories, &binding, "block"));
        let mut clients: Vec<Process> = std::iter::once(client).chain(further).collect();
        for client in &mut clients {
            client.good("make 1");
            client.good("echo 100");
        }
        let before = server.resident_kib();
        clients.iter_mut().for_each(|client| _ = client.good(&format!("echo {}", LENGTH * 256)));
        // The clients get the last response before the server's thread waits again, so the check is
        // repeated.
        within(LATEST, || {
            let more = server.resident_kib().saturating_sub(before);
            if more < CLIENTS * (kept + LENGTH / 2) { Ok(()) } else { Err(format!("{listening}: {more} KiB more")) }
        });
    }
}
