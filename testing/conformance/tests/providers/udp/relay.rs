//! A bad network for UDP: a relay between a listener and its clients. The relay loses, doubles,
//! delays and corrupts datagrams.

use obvia_conformance::Faults;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The state that a fixture's relays share.
#[derive(Debug, Default)]
pub(crate) struct NetworkConditions {
    faults: Mutex<Faults>,
    is_cut: AtomicBool,
    is_over: AtomicBool,
}

impl NetworkConditions {
    pub(crate) fn disturb(&self, faults: Faults) {
        *self.faults.lock().unwrap() = faults;
    }

    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

/// A datagram on its way.
#[derive(Debug)]
struct Delayed {
    due: Instant,
    from_client: bool,
    client: SocketAddr,
    bytes: Vec<u8>,
}

/// Starts a relay to a listener. Returns the relay's address and thread. The thread ends when the
/// fixture sets `is_over` in `conditions`, the state that all relays of the fixture share.
pub(crate) fn start(listener: SocketAddr, conditions: &Arc<NetworkConditions>) -> (SocketAddr, JoinHandle<()>) {
    let front = UdpSocket::bind("127.0.0.1:0").unwrap();
    front.set_nonblocking(true).unwrap();
    let address = front.local_addr().unwrap();
    let conditions = Arc::clone(conditions);
    let mut relay = Relay {
        front,
        listener,
        conditions,
        clients: HashMap::new(),
        delayed: Vec::new(),
        dice: 0x9e37_79b9_7f4a_7c15,
    };
    (address, std::thread::spawn(move || relay.run()))
}

struct Relay {
    front: UdpSocket,
    listener: SocketAddr,
    conditions: Arc<NetworkConditions>,
    // A socket for each client. The listener sees the socket's address in place of the client's.
    clients: HashMap<SocketAddr, UdpSocket>,
    delayed: Vec<Delayed>,
    dice: u64,
}

impl Relay {
    fn run(&mut self) {
        let mut buffer = vec![0; 1 << 16];
        while !self.conditions.is_over.load(Ordering::SeqCst) {
            self.sleep();
            while let Ok((length, client)) = self.front.recv_from(&mut buffer) {
                if !self.clients.contains_key(&client) {
                    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                    socket.connect(self.listener).unwrap();
                    socket.set_nonblocking(true).unwrap();
                    self.clients.insert(client, socket);
                }
                self.pass(true, client, buffer[..length].to_vec());
            }
            let mut answers = Vec::new();
            for (client, socket) in &self.clients {
                while let Ok(length) = socket.recv(&mut buffer) {
                    answers.push((*client, buffer[..length].to_vec()));
                }
            }
            for (client, bytes) in answers {
                self.pass(false, client, bytes);
            }
            let now = Instant::now();
            let (due, later) = std::mem::take(&mut self.delayed).into_iter().partition(|one: &Delayed| one.due <= now);
            self.delayed = later;
            let due: Vec<_> = due;
            due.iter().for_each(|one| self.deliver(one.from_client, one.client, &one.bytes));
        }
    }

    fn sleep(&self) {
        let wait = if self.delayed.is_empty() { Duration::from_millis(20) } else { Duration::from_millis(1) };
        let timeout = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
        let sockets = std::iter::once(&self.front).chain(self.clients.values());
        let mut polled: Vec<_> = sockets.map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
        let _ = poll(&mut polled, Some(&timeout));
    }

    /// Decides on an event with a probability of `thousandths` in a thousand.
    fn happens(&mut self, thousandths: u32) -> bool {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        (self.dice >> 32) % 1000 < u64::from(thousandths)
    }

    fn pass(&mut self, from_client: bool, client: SocketAddr, mut bytes: Vec<u8>) {
        let faults = *self.conditions.faults.lock().unwrap();
        if self.conditions.is_cut.load(Ordering::SeqCst) || self.happens(faults.lost) {
            return;
        }
        if self.happens(faults.corrupted) && !bytes.is_empty() {
            let at = self.dice as usize % bytes.len();
            bytes[at] ^= 1 << (self.dice >> 40 & 7);
        }
        let doubled = self.happens(faults.doubled);
        if doubled || self.happens(faults.delayed) {
            let due = Instant::now() + Duration::from_micros(self.dice % 5000);
            self.delayed.push(Delayed { due, from_client, client, bytes: bytes.clone() });
            if !doubled {
                return;
            }
        }
        self.deliver(from_client, client, &bytes);
    }

    fn deliver(&self, from_client: bool, client: SocketAddr, bytes: &[u8]) {
        // A full buffer or a closed socket counts as a loss.
        let _ = match self.clients.get(&client) {
            Some(socket) if from_client => socket.send(bytes),
            _ => self.front.send_to(bytes, client),
        };
    }
}
