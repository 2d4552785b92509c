//! Two thousand silent and slow strangers at a server: clients connect and call meanwhile. A
//! thorough run includes these tests.

use super::{LIMIT, PROGRAM, bind, serves};
use crate::floods::End;
use obvia_rpc::co::pdu::{ACCEPTED, BindAck, Header, PduType, Request, flags};
use obvia_via::Nic;
use obvia_via::provider::udp;
use obvia_via::window::{self, Options, Window};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torture::process::{Directory, LATEST, Process, within};

/// The time limit for each call of a client while the strangers are connected.
const SLOWEST: Duration = Duration::from_secs(20);
/// The time between two calls of a client that calls all the time.
const CALL_INTERVAL: Duration = Duration::from_millis(5);
/// The time between two bytes of a stranger that sends byte by byte.
const DRIP_INTERVAL: Duration = Duration::from_millis(250);
/// The number of descriptors of a server, the usual limit of a process.
const DESCRIPTORS: u32 = 1024;
/// The number of strangers that connect to the server.
const STRANGERS: usize = 2000;

/// Raises the limit of this process's descriptors, so that it can have the connections of this many
/// strangers.
fn raise_limit(strangers: usize) {
    let limit = getrlimit(Resource::Nofile);
    let wanted = strangers as u64 + 1000;
    let current = limit.current.map(|current| current.max(wanted));
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
}

/// Makes a client call until the flag is set. Returns the number of its calls, and the time of the
/// slowest call.
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
    /// Performs the next actions of the connected strangers. The caller repeats this call.
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
        // All strangers count as one host, and a host may take three eighths of the descriptors.
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

/// Returns the first of several fragments of a call.
fn first_fragment() -> Vec<u8> {
    let request = Request { alloc_hint: 0, context_id: 0, opnum: 0, object: None, stub: &[0; 8] };
    let mut bytes = Vec::new();
    request.write(&mut bytes, &Header::new(PduType::REQUEST, flags::FIRST, 2));
    bytes
}

/// Strangers over TCP, of each kind in turn: silent ones, ones that send only the beginning of a
/// bind, ones that send a bind byte by byte, and ones that bind and then send a part of a call.
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
