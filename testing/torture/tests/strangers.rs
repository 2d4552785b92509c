//! Tests of strangers on a network that try to use up a server's descriptors and threads.

mod crowds;

use obvia_rpc::co::pdu::{Bind, Context, FragmentSizes};
use obvia_rpc::mgmt;
use obvia_rpc::uuid::NDR;
use obvia_via::Deadline;
use obvia_via::provider::udp;
use obvia_via::window::{self, Options};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use torture::process::{Directory, LATEST, Process, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
const LIMIT: Deadline = Deadline::Within(LATEST);
/// The number of descriptors of a server that has room for a few clients. One host gets seven
/// places for connections over UDP. Since seven is odd, one client lacks a place for its second
/// connection.
const FEW_DESCRIPTORS: u32 = 60;

/// Makes a client connect to a server and call an object of its own.
#[track_caller]
fn serves(client: &mut Process, place: &str) {
    client.good(&format!("connect {place}"));
    client.good("make 1");
    assert_eq!(client.number("add 1"), 1);
}

/// Returns the bind to the management interface, which every server has.
fn bind() -> Vec<u8> {
    let contexts = vec![Context { id: 0, interface: mgmt::INTERFACE, transfers: vec![NDR] }];
    Bind { alters: false, flags: 0, call_id: 1, sizes: FragmentSizes::GREATEST, group: 0, contexts }.to_wire()
}

/// Sets the number of descriptors that a process may have to `most`, and returns the former number.
fn limit_descriptors(process: &Process, most: Option<u64>) -> Option<u64> {
    let pid = Pid::from_raw(process.id().cast_signed());
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    prlimit(pid, Resource::Nofile, Rlimit { current: most, maximum }).unwrap().current
}

#[test]
fn a_server_out_of_descriptors_sleeps_and_accepts_the_waiting_clients_later() {
    let directories = [Directory::new(), Directory::new()];
    let mut server = directories[0].start(PROGRAM, &[]);
    server.good("export there");
    let binding = server.good("listen ncacn_ip_tcp:127.0.0.1");
    let port: u16 = binding.split(['[', ',', ']']).nth(1).unwrap().parse().unwrap();
    let place = binding.replace(']', ",name=there]");
    // The first clients make the server open files that belong to no connection.
    let mut clients = [(0, "there"), (1, &*place)].map(|(at, place)| {
        let mut client = directories[at].start(PROGRAM, &[]);
        serves(&mut client, place);
        client
    });
    // A connection gets its last file when its thread sleeps for the first time.
    clients.iter().chain([&server]).for_each(Process::sleeps);
    let used = |fd: &u64| fs::exists(format!("/proc/{}/fd/{fd}", server.id())).unwrap();
    // The limit is below the first free descriptor. So no descriptor is free, even if the server
    // closes some.
    let former = limit_descriptors(&server, (0..).find(|fd| !used(fd)).map(|free| free / 2));

    // Both listeners have a peer that they cannot accept.
    let before = server.processor_time();
    let began = Instant::now();
    let local = UnixStream::connect(directories[0].path().join("there.sock")).unwrap();
    let mut remote = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    remote.write_all(&bind()).unwrap();
    remote.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let error = remote.read(&mut [0]).expect_err("the connection was accepted");
    assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
    let (used, passed) = (server.processor_time() - before, began.elapsed());
    println!("the server has used {used:?} in {passed:?}");
    assert!(used < passed / 10, "the server has used {used:?} in {passed:?}");
    clients.iter_mut().for_each(|client| drop(client.good("add 0")));

    limit_descriptors(&server, former);
    remote.set_read_timeout(Some(LATEST)).unwrap();
    assert_ne!(remote.read(&mut [0]).unwrap(), 0, "the connection has ended");
    drop(local);
    serves(&mut directories[0].start(PROGRAM, &[]), "there");
}

#[test]
fn clients_of_a_server_without_descriptors_learn_which_limit_it_has_reached() {
    let directory = Directory::new();
    let mut server = directory.start_with_descriptors(PROGRAM, FEW_DESCRIPTORS);
    server.good("export there");
    let mut clients = Vec::new();
    let error = loop {
        let mut client = directory.start(PROGRAM, &[]);
        client.say("connect there");
        let line = client.line();
        if let Some(error) = line.strip_prefix("error ") {
            break error.to_owned();
        }
        clients.push(client);
        assert!(clients.len() < FEW_DESCRIPTORS as usize, "more clients than descriptors");
    };
    let expected = format!("the server process {} has no room for the connection: Too many open files", server.id());
    assert!(error.contains(&expected) && error.contains("`ulimit -n`"), "{error}");
    // Connected clients go on, and new clients find room after some clients have left.
    clients[0].good("make 1");
    assert_eq!(clients[0].number("add 1"), 1);
    clients.truncate(1);
    within(LATEST, || {
        let mut client = directory.start(PROGRAM, &[]);
        client.say("connect there");
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
        client.say("make 1");
        let made = client.line();
        clients.push(client);
        if let Err(error) = window::connect(&nic, &address, &Options::default(), LIMIT) {
            break [error.to_string(), made];
        }
        assert!(clients.len() < FEW_DESCRIPTORS as usize / 2, "more clients than descriptors");
    };
    let expected = "the server serves as many clients of this host as it can: see `ulimit -n`";
    assert!(errors.iter().all(|error| error.contains(expected)), "{errors:?}");
    // Clients that have called keep their places, and a client of this host needs no place.
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
        // No buffer has room for the whole response.
        client.good("echo 4000000");
        client
    };
    // The first client makes the server open files that belong to no connection.
    let _first = client();
    within(LATEST, || {
        let calm = server.threads();
        let mut others: Vec<_> = (0..2).map(|_| client()).collect();
        // A connection gets its last file when its thread sleeps for the first time.
        others.iter().chain([&server]).for_each(Process::sleeps);
        // A client has a connection for its calls and one for calls of the runtime's own.
        let expected = others.len() * 2 * descriptors;
        let before = server.open_files();
        others.iter_mut().for_each(|other| drop(other.finish()));
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
    // The server counts one descriptor more for a connection by a virtual interface than the
    // connection has in this test. That descriptor is a bell, which the server needs only while it
    // waits to send. It waits to send only to a client that acknowledges no packets.
    connections_take("ncacn_vi_udp:127.0.0.1", 2);
    #[cfg(feature = "fabric")]
    connections_take("ncacn_vi_fabric:127.0.0.1", 9);
}
