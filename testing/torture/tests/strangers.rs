//! Tests of strangers on a network that try to use up a server's descriptors and threads.

use crate::floods::End;
use obvia_rpc::co::pdu::{ACCEPTED, Bind, BindAck, Context, FragmentSizes, Header, PduType, Request, flags};
use obvia_rpc::mgmt;
use obvia_rpc::uuid::NDR;
use obvia_via::provider::udp;
use obvia_via::window::{self, Options, Window};
use obvia_via::{Deadline, Nic};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torture::process::{Directory, LATEST, Process, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
const LIMIT: Deadline = Deadline::Within(LATEST);
/// The time limit for each call of a connected client beside the strangers.
const SLOWEST: Duration = Duration::from_secs(20);
/// The time between two calls of such a client, and between two bytes of a dripping stranger.
const CALL_INTERVAL: Duration = Duration::from_millis(5);
const DRIP_INTERVAL: Duration = Duration::from_millis(250);
/// The number of descriptors of a server, the usual limit of a process.
const DESCRIPTORS: u32 = 1024;
/// The number of strangers that connect to it.
const STRANGERS: usize = 2000;
/// The number of descriptors of a server that has room for a few clients. One host gets seven
/// places for connections over UDP. Since the number is odd, one client lacks a place for its
/// second connection.
const FEW_DESCRIPTORS: u32 = 60;

/// Lets this process have the connections of this many strangers.
fn raise_limit(strangers: usize) {
    let limit = getrlimit(Resource::Nofile);
    let wanted = strangers as u64 + 1000;
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

/// Makes a client call until the flag is set. Returns the number of its calls, and the time of the
/// slowest one.
fn call_until(is_over: &AtomicBool, mut client: Process) -> (u32, Duration) {
    let (mut calls, mut slowest) = (0, Duration::ZERO);
    while !is_over.load(Ordering::Relaxed) {
        let began = Instant::now();
        client.good("add 0");
        (calls, slowest) = (calls + 1, slowest.max(began.elapsed()));
        thread::sleep(CALL_INTERVAL);
    }
    (calls, slowest)
}

/// Strangers of one kind.
trait Strangers {
    /// Connects the next stranger to this port of the server. Strangers never complete a call.
    fn connect(&mut self, port: u16);
    /// Does what the connected strangers do while time passes.
    fn go_on(&mut self);
}

/// Connects strangers to a server with few descriptors, and checks that it serves local and remote
/// clients meanwhile: two that call all the time, and new ones.
fn strangers_keep_no_client_out(listening: &str, orders: &[&str], mut strangers: impl Strangers) {
    raise_limit(STRANGERS);
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
    let port = binding.split(['[', ',', ']']).nth(1).unwrap().parse().unwrap();
    let place = binding.replace(']', ",name=there]");
    let clients = [("local", "there"), ("remote", &*place)];
    let newcomer = |at: usize| {
        let mut client = start(&directories[at]);
        serves(&mut client, clients[at].1);
        client
    };
    let [local, remote] = [0, 1].map(newcomer);
    let calm = server.threads();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        // A failed assertion ends the calls, too.
        let end = End(&is_over);
        let callers = [local, remote].map(|client| scope.spawn(|| call_until(&is_over, client)));
        for number in 1..=STRANGERS {
            strangers.connect(port);
            if number % (STRANGERS / 8) == 0 {
                [0, 1].into_iter().for_each(|at| drop(newcomer(at)));
            }
            strangers.go_on();
        }
        // All strangers are one host, which may take three eighths of the descriptors.
        let taken = server.open_files();
        assert!(taken < DESCRIPTORS as usize * 6 / 10, "{taken} descriptors");
        // A connection without a bind ends in seconds, and one with an unfinished call in half a
        // minute, although its client keeps it open.
        within(LATEST, || {
            strangers.go_on();
            match server.threads() {
                left if left < calm + 10 => Ok(()),
                left => Err(format!("there are {left} threads, and there were {calm}")),
            }
        });
        drop(end);
        for ((who, _), caller) in clients.iter().zip(callers) {
            let (calls, slowest) = caller.join().unwrap();
            println!("{listening}: the slowest of {calls} calls of the {who} client took {slowest:?}");
            assert!(slowest < SLOWEST, "{slowest:?}");
        }
    });
}

/// Returns the bind to the management interface, which every server has.
fn bind() -> Vec<u8> {
    let contexts = vec![Context { id: 0, interface: mgmt::INTERFACE, transfers: vec![NDR] }];
    Bind { alters: false, flags: 0, call_id: 1, sizes: FragmentSizes::GREATEST, group: 0, contexts }.to_wire()
}

/// Returns the first of several fragments of a call.
fn first_fragment() -> Vec<u8> {
    let request = Request { alloc_hint: 0, context_id: 0, opnum: 0, object: None, stub: &[0; 8] };
    let mut bytes = Vec::new();
    request.write(&mut bytes, &Header::new(PduType::REQUEST, flags::FIRST, 2));
    bytes
}

/// Strangers over TCP of all kinds in turn: silent and slow ones, ones that send a bind byte by
/// byte, and ones that bind and send a part of a call.
struct OverTcp {
    streams: Vec<TcpStream>,
    // The indices of the streams that send byte by byte, each with the rest of its bind.
    dripping: Vec<(usize, Vec<u8>)>,
    last_drip: Instant,
}

impl OverTcp {
    fn new() -> Self {
        Self { streams: Vec::new(), dripping: Vec::new(), last_drip: Instant::now() }
    }
}

impl Strangers for OverTcp {
    fn connect(&mut self, port: u16) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.set_nodelay(true).unwrap();
        let (number, bind) = (self.streams.len(), bind());
        // The server may have ended the connection already, which is no error.
        match number % 4 {
            0 => {}
            1 => drop(stream.write_all(&bind[..1 + number / 4 % 15])),
            2 => self.dripping.push((number, bind)),
            _ => {
                stream.set_read_timeout(Some(LATEST)).unwrap();
                let mut answer = vec![0; 1024];
                let length = stream.write_all(&bind).and_then(|()| stream.read(&mut answer)).unwrap_or(0);
                let answer = BindAck::from_wire(&answer[..length]);
                // The server has no reason to end the first of these connections.
                assert!(number > 3 || answer.is_ok_and(|answer| answer.outcomes[0].result == ACCEPTED));
                drop(stream.write_all(&first_fragment()));
            }
        }
        self.streams.push(stream);
    }

    fn go_on(&mut self) {
        if self.last_drip.elapsed() < DRIP_INTERVAL {
            return;
        }
        self.last_drip = Instant::now();
        for (number, rest) in &mut self.dripping {
            if !rest.is_empty() {
                let _ = self.streams[*number].write_all(&[rest.remove(0)]);
            }
        }
    }
}

#[test]
fn silent_and_slow_strangers_keep_no_client_out() {
    strangers_keep_no_client_out("ncacn_ip_tcp:127.0.0.1", &[], OverTcp::new());
}

/// Strangers that connect by a virtual interface over UDP and say nothing. Their NIC answers the
/// server's pings.
struct OverVi {
    nic: Nic,
    windows: Vec<Window>,
}

impl OverVi {
    fn new() -> Self {
        Self { nic: udp::open(&udp::Options::default()).unwrap(), windows: Vec::new() }
    }
}

impl Strangers for OverVi {
    fn connect(&mut self, port: u16) {
        // A refused stranger has no connection.
        let connected = window::connect(&self.nic, &format!("127.0.0.1:{port}"), &Options::default(), LIMIT);
        self.windows.extend(connected);
    }

    fn go_on(&mut self) {
        self.windows.retain(|window| !window.is_closed());
    }
}

#[test]
fn silent_strangers_over_virtual_interfaces_keep_no_client_out() {
    strangers_keep_no_client_out("ncacn_vi_udp:127.0.0.1", &[], OverVi::new());
}

#[test]
fn silent_strangers_before_their_proof_keep_no_client_out() {
    let orders = ["accounts anna one-secret", "credentials anna one-secret"];
    strangers_keep_no_client_out("ncacn_vi_udp:127.0.0.1[,security=connect]", &orders, OverVi::new());
}

/// Sets the number of descriptors that a process may have to `most`, and returns the former number.
fn limit_descriptors(process: &Process, most: Option<u64>) -> Option<u64> {
    let pid = Pid::from_raw(process.pid().cast_signed());
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
    // The first clients cause files that belong to no connection.
    let mut clients = [(0, "there"), (1, &*place)].map(|(at, place)| {
        let mut client = directories[at].start(PROGRAM, &[]);
        serves(&mut client, place);
        client
    });
    // A connection gets its last file when its thread sleeps for the first time.
    clients.iter().chain([&server]).for_each(Process::sleeps);
    let used = |fd: &u64| fs::exists(format!("/proc/{}/fd/{fd}", server.pid())).unwrap();
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
        let mut others: Vec<_> = (0..2).map(|_| client()).collect();
        // A connection gets its last file when its thread sleeps for the first time.
        others.iter().chain([&server]).for_each(Process::sleeps);
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
    // Connections by virtual interfaces count as one descriptor more than they have here: the bell
    // of a wait to send. Only a client that acknowledges nothing makes the server wait to send.
    connections_take("ncacn_vi_udp:127.0.0.1", 2);
    #[cfg(feature = "fabric")]
    connections_take("ncacn_vi_fabric:127.0.0.1", 9);
}
