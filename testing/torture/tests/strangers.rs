//! Tests of strangers on a network that try to use up a server's descriptors and threads.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use torture::process::{Directory, LATEST, Process, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The number of descriptors of a server, by default.
const DESCRIPTORS: u32 = 1024;
const STRANGERS: usize = 2000;
/// The number of descriptors of a server that has room for a few clients.
const FEW_DESCRIPTORS: u32 = 60;

/// Lets this process have the connections of all strangers.
fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = STRANGERS as u64 + 1000;
    let current = limit.current.map(|current| current.max(wanted));
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
}

fn count(server: &Process, what: &str) -> usize {
    fs::read_dir(format!("/proc/{}/{what}", server.pid())).unwrap().count()
}

/// Makes a client connect to a server and call an object of its own.
#[track_caller]
fn serves(client: &mut Process, place: &str) {
    client.good(&format!("connect {place}"));
    client.good("make 1");
    assert_eq!(client.number("add 1"), 1);
}

#[test]
fn silent_and_slow_strangers_keep_no_client_out() {
    raise_limit();
    let directories = [Directory::new(), Directory::new()];
    let mut server = directories[0].start_with_descriptors(PROGRAM, DESCRIPTORS);
    server.good("export there");
    let binding = server.good("listen ncacn_ip_tcp:127.0.0.1");
    let port = binding.split(['[', ']']).nth(1).unwrap();
    let place = binding.replace(port, &format!("{port},name=there"));
    let mut first = directories[1].start(PROGRAM, &[]);
    serves(&mut first, &place);
    let calm = count(&server, "task");
    let mut strangers = Vec::new();
    for at in 0..STRANGERS {
        let mut stranger = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
        // The first bytes of a bind. The server may have ended the connection already.
        let slow = [5, 0, 11, 3, 0x10];
        let _ = stranger.write_all(&slow[..at % slow.len()]);
        strangers.push(stranger);
        if at % 500 == 499 {
            serves(&mut directories[0].start(PROGRAM, &[]), "there");
            serves(&mut directories[1].start(PROGRAM, &[]), &place);
            first.good("add 0");
        }
    }
    let taken = count(&server, "fd");
    assert!(taken < DESCRIPTORS as usize * 9 / 10, "{taken} descriptors");
    // Without a bind, a connection ends in seconds, although its client keeps it.
    within(LATEST, || match count(&server, "task") {
        left if left < calm + 10 => Ok(()),
        left => Err(format!("there are {left} threads, and there were {calm}")),
    });
    first.good("add 0");
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
