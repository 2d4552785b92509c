//! An attacker between two ends of a virtual interface over UDP: records all datagrams, and adds
//! changed copies.
//!
//! The packets follow docs/vi-wire.md.

use std::collections::{HashMap, VecDeque};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// The length in bytes of the counter and authentication tag that follow a protected packet.
const SEAL: usize = 24;
/// The offsets of the receiver's connection ID.
const ID: std::ops::Range<usize> = 8..16;
const HEADER: usize = 36;
const DATA: u8 = 0x20;
const CLOSE: u8 = 0x14;
/// The time between two checks whether a thread is to end, while the thread waits for datagrams.
const LOOK: Duration = Duration::from_millis(20);
/// The number of datagrams that are kept for repetition.
const KEPT: usize = 64;

/// Computes CRC-32C, bit by bit: RFC 3720.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| (sum >> 1) ^ if sum & 1 == 1 { 0x82f6_3b78 } else { 0 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}

/// Sets a packet's checksum to the right value.
fn summed(mut datagram: Vec<u8>, packet: usize) -> Vec<u8> {
    if let Some(rest) = datagram.get(4..packet) {
        let sum = checksum(rest).to_le_bytes();
        datagram[..4].copy_from_slice(&sum);
    }
    datagram
}

/// The state of one direction: the recorded datagrams, and the receiver's connection ID.
#[derive(Default)]
struct Direction {
    kept: VecDeque<Vec<u8>>,
    // The receiver's connection ID, from an unprotected packet.
    id: Option<[u8; 8]>,
    turn: usize,
}

impl Direction {
    fn record(&mut self, datagram: &[u8]) {
        // The first data packets are unprotected.
        if self.id.is_none() && datagram.get(5) == Some(&DATA) {
            self.id = datagram[ID].try_into().ok();
        }
        self.kept.push_back(datagram.to_vec());
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }

    /// Returns the forgeries of a datagram. The attacker sends them in addition to the datagram.
    fn forgeries(&mut self, datagram: &[u8]) -> Vec<Vec<u8>> {
        self.turn += 1;
        let packet = datagram.len().saturating_sub(SEAL);
        let changed = |at: usize, by: u8| {
            let mut other = datagram.to_vec();
            let place = at % other.len().max(1);
            other[place] ^= by.max(1);
            other
        };
        let mut all = vec![
            changed(self.turn * 7, 1 << (self.turn % 8)),
            // The next two copies have a right checksum: the first if the datagram is a protected
            // packet, the second if it is an unprotected one.
            summed(changed(self.turn * 13 + 36, 0x80), packet),
            summed(changed(self.turn * 5 + 16, 1), datagram.len()),
            datagram[..packet].to_vec(),
            changed(packet, 1),
            datagram.to_vec(),
            self.kept[self.turn % self.kept.len()].clone(),
        ];
        if let Some(id) = self.id {
            let mut close = vec![0; HEADER + 1];
            (close[4], close[5]) = (1, CLOSE);
            close[ID].copy_from_slice(&id);
            all.push(summed(close.clone(), HEADER + 1));
            close.resize(HEADER + 1 + SEAL, 0);
            all.push(summed(close, HEADER + 1));
        }
        all
    }
}

struct Shared {
    front: UdpSocket,
    server: SocketAddr,
    is_attacking: AtomicBool,
    is_over: AtomicBool,
    forged: AtomicUsize,
    received: Mutex<Vec<Vec<u8>>>,
}

impl Shared {
    fn pass(&self, direction: &mut Direction, datagram: &[u8], say: impl Fn(&[u8])) {
        direction.record(datagram);
        if self.is_attacking.load(Ordering::Relaxed) {
            for forgery in direction.forgeries(datagram) {
                say(&forgery);
                self.forged.fetch_add(1, Ordering::Relaxed);
            }
        }
        say(datagram);
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// The attacker's relay.
pub(crate) struct Relay {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    pub(crate) fn new(server: SocketAddr) -> Self {
        let front = UdpSocket::bind("127.0.0.1:0").unwrap();
        front.set_read_timeout(Some(LOOK)).unwrap();
        let shared = Arc::new(Shared {
            front,
            server,
            is_attacking: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            forged: AtomicUsize::new(0),
            received: Mutex::default(),
        });
        let of_thread = Arc::clone(&shared);
        Self { shared, thread: Some(std::thread::spawn(move || run(&of_thread))) }
    }

    pub(crate) fn port(&self) -> u16 {
        self.shared.front.local_addr().unwrap().port()
    }

    pub(crate) fn begin_attack(&self) {
        self.shared.is_attacking.store(true, Ordering::Relaxed);
    }

    /// Returns the number of forged datagrams.
    pub(crate) fn forged(&self) -> usize {
        self.shared.forged.load(Ordering::Relaxed)
    }

    /// Returns all datagrams of clients.
    pub(crate) fn received(&self) -> Vec<Vec<u8>> {
        self.shared.received.lock().unwrap().clone()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        // A test that already fails keeps its own message, so its relay does not panic.
        assert!(std::thread::panicking() || !matches!(ended, Some(Err(_))), "the relay has failed");
    }
}

fn run(shared: &Arc<Shared>) {
    let mut clients: HashMap<SocketAddr, (Arc<UdpSocket>, Direction, JoinHandle<()>)> = HashMap::new();
    let mut datagram = vec![0; 1 << 16];
    while !shared.is_over() {
        let Ok((length, from)) = shared.front.recv_from(&mut datagram) else { continue };
        let datagram = &datagram[..length];
        shared.received.lock().unwrap().push(datagram.to_vec());
        let (back, direction, _) = clients.entry(from).or_insert_with(|| {
            let back = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
            back.connect(shared.server).unwrap();
            back.set_read_timeout(Some(LOOK)).unwrap();
            let (own, shared) = (Arc::clone(&back), Arc::clone(shared));
            (back, Direction::default(), std::thread::spawn(move || answer(&shared, &own, from)))
        });
        // A datagram that cannot be sent is lost, as on any network.
        shared.pass(direction, datagram, |said| drop(back.send(said)));
    }
    clients.into_values().for_each(|(.., thread)| thread.join().unwrap());
}

/// Passes the server's datagrams to a client.
fn answer(shared: &Shared, back: &UdpSocket, client: SocketAddr) {
    let (mut direction, mut datagram) = (Direction::default(), vec![0; 1 << 16]);
    while !shared.is_over() {
        let Ok(length) = back.recv(&mut datagram) else { continue };
        shared.pass(&mut direction, &datagram[..length], |said| drop(shared.front.send_to(said, client)));
    }
}
