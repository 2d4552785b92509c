//! Tests of servers that receive datagrams from made-up addresses.

use obvia_via::Reliability;
use obvia_via::layout::SLOT_COUNT;
use obvia_via::reliable::{Requesting, Settings};
use obvia_via::spi::Offer;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torture::process::{Directory, LATEST, Process, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The number of descriptors of a server, by default.
const DESCRIPTORS: u32 = 1024;
/// The number of datagrams after which a flood may end.
const DATAGRAMS: u32 = 100_000;
/// The number of datagrams that a flood sends from each of its addresses.
const OF_ADDRESS: u32 = 2;
/// The number of threads that send a flood.
const PARTS: u32 = 2;

/// The most by which a server's memory may grow in a flood of any size, in KiB.
const KIB_MAX: u64 = 4 << 10;

/// The resources of a server.
#[derive(Debug)]
struct Resources {
    threads: u64,
    files: usize,
    /// The resident memory, in KiB.
    kib: u64,
}

impl Resources {
    fn of(server: &Process) -> Self {
        Self { threads: server.threads(), files: server.open_files(), kib: server.resident_kib() }
    }

    /// Compares the resources before and after a flood.
    fn has_grown_within(&self, budget: &Self, now: &Self) -> Result<(), String> {
        let is_within = now.threads <= self.threads + budget.threads
            && now.files <= self.files + budget.files
            && now.kib <= self.kib + budget.kib;
        if is_within { Ok(()) } else { Err(format!("{now:?}, and {self:?} before the flood")) }
    }
}

/// The pace of a flood.
struct Pace {
    /// The number of datagrams that a thread sends before it looks at the server's receive queue.
    burst: u32,
    /// Whether the flood overflows the queue. Otherwise the flood waits while the queue is longer
    /// than [`QUEUE_MAX`].
    overflows: bool,
}

/// The length of a queue that has room for the packets of clients, in bytes.
const QUEUE_MAX: u64 = 256 << 10;

/// The pace of a flood that leaves the packets of clients room in the queue.
const OF_SERVER: Pace = Pace { burst: 16, overflows: false };
/// The pace of a flood that is faster than the server receives. The queue overflows, and packets of
/// clients get lost.
const OVERFLOWING: Pace = Pace { burst: 64, overflows: true };

/// The receive queue of a UDP socket.
#[derive(Debug, Default)]
struct ReceiveQueue {
    /// The length, in bytes.
    length: u64,
    /// The number of datagrams that found no room.
    dropped: u64,
}

impl ReceiveQueue {
    /// Returns the greatest length, and the greatest number of dropped datagrams, among the sockets
    /// on a port.
    fn of(port: u16) -> Self {
        let (sockets, port) = (fs::read_to_string("/proc/net/udp").unwrap(), format!(":{port:04X}"));
        let queue = |line: &str| {
            let fields: Vec<_> = line.split_whitespace().collect();
            fields.get(1).filter(|local| local.ends_with(&port))?;
            let length = u64::from_str_radix(fields.get(4)?.split_once(':')?.1, 16).ok()?;
            Some(Self { length, dropped: fields.get(12)?.parse().ok()? })
        };
        sockets.lines().filter_map(queue).fold(Self::default(), |one, other| Self {
            length: one.length.max(other.length),
            dropped: one.dropped.max(other.dropped),
        })
    }
}

/// The flag that tells other threads to end. The flag is set when this value is dropped.
pub(crate) struct End<'a>(pub(crate) &'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends datagrams from loopback addresses until the flag is set. The answers are not received.
fn flood(
    server: SocketAddr,
    part: u32,
    datagram: &(impl Fn(u32) -> Vec<u8> + Sync),
    pace: &Pace,
    (is_over, count): (&AtomicBool, &AtomicU32),
) {
    let addresses = DATAGRAMS / OF_ADDRESS / PARTS;
    for round in (0..).take_while(|_| !is_over.load(Ordering::Relaxed)) {
        let [.., first, second, third] = u32::to_be_bytes(0x4d_0000 + part * addresses + round % addresses);
        let Ok(socket) = UdpSocket::bind((Ipv4Addr::new(127, first, second, third), 0)) else { continue };
        for number in 0..OF_ADDRESS {
            let number = (part << 24) + round * OF_ADDRESS + number;
            let _ = socket.send_to(&datagram(number), server);
            count.fetch_add(1, Ordering::Relaxed);
        }
        if !(round * OF_ADDRESS).is_multiple_of(pace.burst) {
            continue;
        }
        if pace.overflows {
            // If more than three fifths of the datagrams are lost, the thread sleeps, so that the
            // loss does not depend on the machine's speed.
            let (dropped, sent) = (ReceiveQueue::of(server.port()).dropped, u64::from(count.load(Ordering::Relaxed)));
            if dropped * 5 > sent * 3 {
                thread::sleep(Duration::from_millis(5));
            }
            continue;
        }
        while ReceiveQueue::of(server.port()).length > QUEUE_MAX && !is_over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Makes a client connect and call while the flood goes on, and returns the time that it took.
#[track_caller]
fn serves_soon(client: &mut Process, place: &str) -> Duration {
    let began = Instant::now();
    for order in [&format!("connect {place}"), "make 1", "add 3"] {
        client.good(order);
    }
    began.elapsed()
}

/// Floods a server with datagrams of `kinds` kinds. The server must serve clients meanwhile.
/// Afterwards the server must have no more files than before, and at most `threads` further
/// threads. Its memory must have grown by less than the size of all arrived datagrams of one kind.
fn withstands<D: Fn(u32) -> Vec<u8> + Sync>(
    listening: &str,
    datagram: impl FnOnce(SocketAddr) -> D,
    pace: &Pace,
    kinds: u64,
    threads: u64,
) {
    let directories = [Directory::new(), Directory::new()];
    let mut server = directories[0].start_with_descriptors(PROGRAM, DESCRIPTORS);
    server.good("export there");
    let place = server.good(&format!("listen {listening}")).replace(']', ",name=there]");
    let port = place.split(['[', ',']).nth(1).unwrap().parse().unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let clients = || [(0, "there"), (1, &*place)].map(|(at, place)| (directories[at].start(PROGRAM, &[]), place));
    // The first clients make the server allocate memory that it keeps. These clients stay
    // connected.
    let mut first = clients();
    for (client, place) in &mut first {
        serves_soon(client, place);
    }
    let datagram = datagram(address);
    // A connection gets its last file when its thread sleeps for the first time. So files are
    // counted when all threads have slept.
    first.iter().map(|(client, _)| client).chain([&server]).for_each(Process::sleeps);
    let before = Resources::of(&server);
    let (is_over, count) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        let (datagram, is_over, count) = (&datagram, &is_over, &count);
        // A failed assertion ends the flood, too.
        let end = End(is_over);
        let mut clients = clients();
        // The clients have started before the flood, and connect during it.
        for (client, _) in &mut clients {
            // A client whose packets get lost may need more than a call's usual time.
            client.good(&format!("timeout {}", LATEST.as_millis()));
        }
        for part in 0..PARTS {
            scope.spawn(move || flood(address, part, datagram, pace, (is_over, count)));
        }
        // The clients connect only after the flood has begun. If the flood is to overflow the
        // queue, they connect after the overflow.
        within(LATEST, || match ReceiveQueue::of(port).dropped {
            0 if pace.overflows => Err("the queue has not overflowed".to_owned()),
            _ => sent(count, DATAGRAMS / 10),
        });
        for (client, place) in &mut clients {
            println!("{listening}: {place} is served after {:?}", serves_soon(client, place));
        }
        within(LATEST, || sent(count, DATAGRAMS));
        let ReceiveQueue { dropped, .. } = ReceiveQueue::of(port);
        println!("{listening}: {dropped} of {} datagrams found no room", count.load(Ordering::Relaxed));
        // The connections of the two clients have threads, descriptors and memory, too.
        let with_clients = Resources { threads: threads + 8, files: 16, kib: KIB_MAX };
        before.has_grown_within(&with_clients, &Resources::of(&server)).unwrap();
        drop(end);
    });
    let arrived = u64::from(count.into_inner()) - ReceiveQueue::of(port).dropped;
    let of_a_kind = (arrived / kinds * datagram(0).len() as u64) >> 10;
    let budget = Resources { threads, files: 0, kib: of_a_kind.min(KIB_MAX) };
    within(LATEST, || before.has_grown_within(&budget, &Resources::of(&server)));
    println!("{listening}: {before:?} before the flood, and {:?} after it", Resources::of(&server));
    first.iter_mut().for_each(|(client, _)| assert_eq!(client.number("add 4"), 7));
}

fn sent(count: &AtomicU32, wanted: u32) -> Result<(), String> {
    match count.load(Ordering::Relaxed) {
        sent if sent >= wanted => Ok(()),
        sent => Err(format!("{sent} datagrams were sent")),
    }
}

/// Returns a request of an unknown activity (C706 12.5.1), with arguments of 1000 bytes. The
/// requests are non-idempotent, idempotent and maybe requests, and first fragments.
fn dg_request(number: u32) -> Vec<u8> {
    let mut bytes = vec![0; 80 + 1000];
    let flags = [0, 0x20, 0x30, 0x04][number as usize % 4];
    bytes[..8].copy_from_slice(&[4, 0, flags, 0, 0x10, 0, 0, 0]);
    // The interface, and the activity.
    bytes[24] = 9;
    bytes[40..44].copy_from_slice(&number.to_le_bytes());
    // The length of the arguments.
    bytes[74..76].copy_from_slice(&1000_u16.to_le_bytes());
    bytes
}

fn withstands_dg_requests(pace: &Pace) {
    // The unknown callers of calls without response share 16 threads, and the client that connects
    // during the flood may have 16 further threads.
    withstands("ncadg_ip_udp:127.0.0.1", |_| dg_request, pace, 4, 2 * 16);
}

#[test]
fn datagram_floods_from_made_up_addresses_keep_no_client_out() {
    withstands_dg_requests(&OF_SERVER);
}

#[test]
fn datagram_floods_that_overflow_the_receive_queue_keep_no_client_out() {
    withstands_dg_requests(&OVERFLOWING);
}

/// Returns a request for a connection by a virtual interface, and the same request with a token.
/// The server has sent the token to an address that no flood uses.
fn vi_requests(server: SocketAddr) -> [Vec<u8>; 2] {
    // The greeting of a window with an area of 4 KiB: a server that accepts it makes a connection.
    let words = [u32::from_le_bytes(*b"OBVW"), 1, SLOT_COUNT, 0, 4096, 0, 0, 0, 0, 0];
    let private = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let offer = Offer { reliability: Reliability::ReliableDelivery, max_transfer: 1 << 20, private };
    let mut request = Requesting::new(&Settings::default(), 1, &server.to_string(), &offer).unwrap();
    let without = request.transmit(0).unwrap().to_vec();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_read_timeout(Some(LATEST)).unwrap();
    socket.send_to(&without, server).unwrap();
    let mut answer = [0; 1500];
    let length = socket.recv(&mut answer).unwrap();
    assert!(request.handle(0, &answer[..length], answer.len()).is_none(), "a request without a token is accepted");
    let with = request.transmit(0).unwrap().to_vec();
    assert_ne!(with, without, "the answer has no token");
    [without, with]
}

fn withstands_vi_requests(pace: &Pace) {
    let datagram = |server| {
        let requests = vi_requests(server);
        move |number: u32| requests[number as usize % 2].clone()
    };
    withstands("ncacn_vi_udp:127.0.0.1", datagram, pace, 2, 0);
}

#[test]
fn floods_of_forged_connection_requests_leave_nothing_and_keep_no_client_out() {
    withstands_vi_requests(&OF_SERVER);
}

#[test]
fn connection_requests_that_overflow_the_receive_queue_keep_no_client_out() {
    withstands_vi_requests(&OVERFLOWING);
}
