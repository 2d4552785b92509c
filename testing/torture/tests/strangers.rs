//! Tests of strangers on a network that try to use up a server's descriptors and threads.

use obvia_via::Deadline;
use obvia_via::provider::udp;
use obvia_via::window::{self, Options, Window};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};
use torture::process::{Directory, LATEST, Process, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The number of descriptors of a server, by default.
const DESCRIPTORS: u32 = 1024;
const STRANGERS: usize = 2000;
const LIMIT: Deadline = Deadline::Within(LATEST);
/// The number of descriptors of a server that has room for a few clients. One host gets seven
/// places for connections over UDP. Since the number is odd, one client lacks a place for its
/// second connection.
const FEW_DESCRIPTORS: u32 = 60;

/// Lets this process have the connections of all strangers.
fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = STRANGERS as u64 + 1000;
    let current = limit.current.map(|current| current.max(wanted));
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
}

/// Makes a client connect to a server and call an object of its own.
#[track_caller]
fn serves(client: &mut Process, place: &str) {
    client.good(&format!("connect {place}"));
    client.good("make 1");
    assert_eq!(client.number("add 1"), 1);
}

/// Connects strangers to a server with few descriptors, and checks that it serves local and remote
/// clients meanwhile. `stranger` connects the stranger with this number, who makes no call.
fn strangers_keep_no_client_out<S>(
    listening: &str,
    orders: &[&str],
    mut stranger: impl FnMut(u16, usize) -> S,
    has_ended: impl Fn(&S) -> bool,
) {
    raise_limit();
    let directories = [Directory::new(), Directory::new()];
    let start = |directory: &Directory| {
        let mut client = directory.start(PROGRAM, &[]);
        orders.iter().for_each(|order| drop(client.good(order)));
        client
    };
    let mut server = directories[0].start_with_descriptors(PROGRAM, DESCRIPTORS);
    orders.iter().for_each(|order| drop(server.good(order)));
    server.good("export there");
    let binding = server.good(&format!("listen {listening}"));
    let port = binding.split(['[', ',', ']']).nth(1).unwrap();
    let place = binding.replace(']', ",name=there]");
    let mut first = start(&directories[1]);
    serves(&mut first, &place);
    let calm = server.threads();
    let mut strangers = Vec::new();
    for at in 0..STRANGERS {
        strangers.push(stranger(port.parse().unwrap(), at));
        if at % 500 == 499 {
            serves(&mut start(&directories[0]), "there");
            serves(&mut start(&directories[1]), &place);
            first.good("add 0");
            strangers.retain(|stranger| !has_ended(stranger));
        }
    }
    let taken = server.open_files();
    assert!(taken < DESCRIPTORS as usize * 9 / 10, "{taken} descriptors");
    // A connection without a bind ends in seconds, although its client keeps it open.
    within(LATEST, || match server.threads() {
        left if left < calm + 10 => Ok(()),
        left => Err(format!("there are {left} threads, and there were {calm}")),
    });
    first.good("add 0");
}

#[test]
fn silent_and_slow_strangers_keep_no_client_out() {
    let stranger = |port, at| {
        let mut stranger = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        // The first bytes of a bind. The server may have ended the connection already.
        let slow = [5, 0, 11, 3, 0x10];
        let _ = stranger.write_all(&slow[..at % slow.len()]);
        stranger
    };
    strangers_keep_no_client_out("ncacn_ip_tcp:127.0.0.1", &[], stranger, |_| false);
}

/// Returns a function that connects a stranger by a virtual interface over UDP. The stranger says
/// nothing, and its NIC answers the server's pings. A refused stranger has no connection.
fn silent_window() -> impl FnMut(u16, usize) -> Option<Window> {
    let nic = udp::open(&udp::Options::default()).unwrap();
    move |port, _| window::connect(&nic, &format!("127.0.0.1:{port}"), &Options::default(), LIMIT).ok()
}

fn has_ended(stranger: &Option<Window>) -> bool {
    stranger.as_ref().is_none_or(Window::is_closed)
}

#[test]
fn silent_strangers_over_virtual_interfaces_keep_no_client_out() {
    strangers_keep_no_client_out("ncacn_vi_udp:127.0.0.1", &[], silent_window(), has_ended);
}

#[test]
fn silent_strangers_before_their_proof_keep_no_client_out() {
    let orders = ["accounts anna one-secret", "credentials anna one-secret"];
    let listening = "ncacn_vi_udp:127.0.0.1[,security=connect]";
    strangers_keep_no_client_out(listening, &orders, silent_window(), has_ended);
}

#[test]
fn clients_of_a_server_without_descriptors_learn_which_limit_it_has_reached() {
    let directory = Directory::new();
    let mut server = directory.start_with_descriptors(PROGRAM, FEW_DESCRIPTORS);
    server.good("export there");
    let mut clients = Vec::new();
    let error = loop {
        let mut client = directory.start(PROGRAM, &[]);
        client.order("connect there");
        let line = client.line();
        if let Some(error) = line.strip_prefix("error ") {
            break error.to_owned();
        }
        clients.push(client);
        assert!(clients.len() < FEW_DESCRIPTORS as usize, "more clients than descriptors");
    };
    let expected = format!("the server process {} has no room for the connection: Too many open files", server.pid());
    assert!(error.contains(&expected) && error.contains("`ulimit -n`"), "{error}");
    // Connected clients go on, and others find room once some have left.
    clients[0].good("make 1");
    assert_eq!(clients[0].number("add 1"), 1);
    clients.truncate(1);
    within(LATEST, || {
        let mut client = directory.start(PROGRAM, &[]);
        client.order("connect there");
        let line = client.line();
        if line.starts_with("ok") { Ok(()) } else { Err(line) }
    });
}

#[test]
fn connections_beyond_the_places_of_their_host_are_refused_with_the_reason() {
    let directories = [Directory::new(), Directory::new()];
    let mut server = directories[0].start_with_descriptors(PROGRAM, FEW_DESCRIPTORS);
    server.good("export there");
    let binding = server.good("listen ncacn_vi_udp:127.0.0.1");
    let address = format!("127.0.0.1:{}", binding.split(['[', ']']).nth(1).unwrap());
    let place = binding.replace(']', ",name=there]");
    let nic = udp::open(&udp::Options::default()).unwrap();
    let mut clients = Vec::new();
    let errors = loop {
        let mut client = directories[1].start(PROGRAM, &[]);
        client.good(&format!("connect {place}"));
        // The last client lacks a place for its second connection.
        client.order("make 1");
        let made = client.line();
        clients.push(client);
        if let Err(error) = window::connect(&nic, &address, &Options::default(), LIMIT) {
            break [error.to_string(), made];
        }
        assert!(clients.len() < FEW_DESCRIPTORS as usize / 2, "more clients than descriptors");
    };
    let expected = "the server serves as many clients of this host as it can: see `ulimit -n`";
    assert!(errors.iter().all(|error| error.contains(expected)), "{errors:?}");
    // Clients that have called keep their places, and a client of this host needs none.
    assert_eq!(clients[0].number("add 1"), 1);
    serves(&mut directories[0].start(PROGRAM, &[]), "there");
}

/// Checks that each connection of a server takes this number of descriptors.
#[track_caller]
fn connections_take(listening: &str, descriptors: usize) {
    let directories = [Directory::new(), Directory::new()];
    let mut server = directories[0].start(PROGRAM, &[]);
    server.good("export there");
    let place = server.good(&format!("listen {listening}")).replace(']', ",name=there]");
    let client = || {
        let mut client = directories[1].start(PROGRAM, &[]);
        serves(&mut client, &place);
        // No buffer takes the whole response.
        client.good("echo 4000000");
        client
    };
    // The first client causes files that belong to no connection.
    let _first = client();
    within(LATEST, || {
        let calm = server.threads();
        let mut others: Vec<_> = (0..4).map(|_| client()).collect();
        // A connection gets its last file when its thread sleeps for the first time.
        others.iter_mut().for_each(|client| drop(client.good("echo 4000000")));
        // A client has a connection for its calls and one for calls of the runtime's own.
        let expected = others.len() * 2 * descriptors;
        let before = server.open_files();
        others.iter_mut().for_each(Process::end);
        // The threads of the connections end after the connections.
        within(LATEST, || match server.threads() {
            left if left <= calm => Ok(()),
            left => Err(format!("there are {left} threads, and there were {calm}")),
        });
        match before.saturating_sub(server.open_files()) {
            taken if taken == expected => Ok(()),
            taken => Err(format!("the connections had {taken} files, and should have {expected}")),
        }
    });
}

#[test]
fn connections_take_no_more_descriptors_than_they_are_counted_as() {
    connections_take("ncacn_ip_tcp:127.0.0.1", 2);
    // Connections by virtual interfaces are counted with one more: the bell of a wait to send,
    // which only a client that acknowledges nothing causes.
    connections_take("ncacn_vi_udp:127.0.0.1", 2);
    #[cfg(feature = "fabric")]
    connections_take("ncacn_vi_fabric:127.0.0.1", 9);
}
