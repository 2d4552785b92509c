//! Tests of clients over a network that loses connections: a client that returns finds its objects,
//! and a client that does not return is run down.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::set_socket_linger;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use torture::process::{Directory, LATEST, Process, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The polling interval of the relay's threads.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// A relay between two processes. The relay can break all connections off.
struct Middle {
    port: u16,
    control: Arc<Control>,
}

#[derive(Default)]
struct Control {
    breaks: AtomicBool,
    /// A reference-counted value. Each thread that relays a connection holds a reference.
    passing: Arc<()>,
    refuses: AtomicBool,
    /// The delay of all relayed bytes, in milliseconds.
    delay_ms: AtomicU64,
}

/// Relays a connection until a side ends the connection, or the test breaks all connections off.
fn pass_on(near: TcpStream, far: TcpStream, control: &Control) -> std::io::Result<()> {
    let mut room = [0; 1 << 16];
    loop {
        let mut files = [&near, &far].map(|end| PollFd::new(end, PollFlags::IN));
        poll(&mut files, Some(&LOOK))?;
        let came = files.map(|file| !file.revents().is_empty());
        if control.breaks.load(Ordering::SeqCst) {
            for end in [near, far] {
                // An immediate close sends RST instead of FIN, so that the connection is lost.
                set_socket_linger(&end, Some(Duration::ZERO))?;
            }
            return Ok(());
        }
        for (came, mut from, mut to) in [(came[0], &near, &far), (came[1], &far, &near)] {
            if came {
                match from.read(&mut room)? {
                    0 => return Ok(()),
                    count => {
                        std::thread::sleep(Duration::from_millis(control.delay_ms.load(Ordering::SeqCst)));
                        to.write_all(&room[..count])?;
                    }
                }
            }
        }
    }
}

impl Middle {
    /// Starts a relay to a port of this host.
    fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let middle = Self { port: listener.local_addr().unwrap().port(), control: Arc::default() };
        let control = Arc::clone(&middle.control);
        std::thread::spawn(move || {
            while let Ok((near, _)) = listener.accept() {
                if control.refuses.load(Ordering::SeqCst) {
                    continue;
                }
                let far = TcpStream::connect(("127.0.0.1", port)).unwrap();
                let (control, passing) = (Arc::clone(&control), Arc::clone(&control.passing));
                std::thread::spawn(move || {
                    // When one side ends its connection, the relay closes the other side's
                    // connection.
                    let _ = pass_on(near, far, &control);
                    drop(passing);
                });
            }
        });
        middle
    }

    /// Breaks all connections off.
    fn break_off(&self) {
        self.control.breaks.store(true, Ordering::SeqCst);
        within(LATEST, || match Arc::strong_count(&self.control.passing) {
            1 => Ok(()),
            count => Err(format!("{} connections are there", count - 1)),
        });
        self.control.breaks.store(false, Ordering::SeqCst);
    }

    /// Breaks all connections off, and refuses new ones from now on.
    fn refuse(&self) {
        self.control.refuses.store(true, Ordering::SeqCst);
        self.break_off();
    }
}

/// Makes a client call again. The first call may fail on the lost connection. Whether such a
/// call has run is unknown.
fn calls_again(client: &mut Process) {
    within(LATEST, || {
        client.say("add 0");
        let line = client.line();
        if line.starts_with("ok") { Ok(()) } else { Err(line) }
    });
}

/// Starts a server, a relay to the server, and a client. Returns the server, its binding through
/// the relay, the relay, the client, and the runtime directories.
fn server_behind(options: &str) -> (Process, String, Middle, Process, [Directory; 2]) {
    let directories = [Directory::new(), Directory::new()];
    let mut server = directories[0].start(PROGRAM, &[]);
    server.good("export there");
    let binding = server.good(&format!("listen ncacn_ip_tcp:127.0.0.1[{options}]"));
    let port = binding.split(['[', ',', ']']).nth(1).unwrap();
    let middle = Middle::before(port.parse().unwrap());
    let place = binding.replace(port, &format!("{},name=there", middle.port));
    let client = directories[1].start(PROGRAM, &[]);
    (server, place, middle, client, directories)
}

/// Starts a server, and a client with five of its counters.
fn pair(options: &str) -> (Process, Process, Middle, [Directory; 2]) {
    let (server, place, middle, mut client, directories) = server_behind(options);
    client.good(&format!("connect {place}"));
    client.good("make 5");
    assert_eq!(client.number("add 40"), 40);
    (server, client, middle, directories)
}

#[test]
fn reconnecting_clients_find_their_objects() {
    for options in ["", ",transfer=ndr"] {
        let (mut server, mut client, middle, _directories) = pair(options);
        for round in 1..=3 {
            middle.break_off();
            calls_again(&mut client);
            assert_eq!(client.number("add 2"), 40 + 2 * round);
            assert_eq!(server.number("live"), 5);
        }
        // References that the client drops while the connection is lost are released once there is
        // a new connection.
        middle.break_off();
        client.good("drop-last 3");
        server.becomes(LATEST, "live", 2);
        // Queries for interfaces use the link's own connection.
        middle.break_off();
        client.bad("cast");
        client.good("make 1");
        client.good("leave");
        server.becomes(LATEST, "live", 0);
    }
}

#[test]
fn lost_clients_that_do_not_reconnect_lose_their_references() {
    let (mut server, mut client, middle, _directories) = pair("");
    middle.refuse();
    let why = client.bad("add 1");
    assert!(why.contains("RPC_E_DISCONNECTED"), "{why}");
    assert_eq!(server.number("live"), 5);
    server.good("pinging 10");
    server.becomes(LATEST, "live", 0);
}

/// A client connects in several steps, each of which waits for the server.
#[test]
fn the_limit_of_a_connection_holds_for_all_steps_together() {
    let (_server, place, middle, mut client, _directories) = server_behind("");
    middle.control.delay_ms.store(100, Ordering::SeqCst);
    client.good("timeout 500");
    let why = client.bad(&format!("connect {place}"));
    assert!(why.contains("RPC_E_TIMEOUT"), "{why}");
    client.good("timeout 60000");
    client.good(&format!("connect {place}"));
}

#[test]
fn killed_network_clients_hold_no_references() {
    let (mut server, client, _middle, _directories) = pair("");
    drop(client);
    server.becomes(LATEST, "live", 0);
}
