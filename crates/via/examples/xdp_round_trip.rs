//! Measures a round trip through AF_XDP beside one through ordinary UDP sockets, in turns within one run.
//!
//! Both ends spin. The cable is a pair of virtual Ethernet interfaces between two network namespaces that this program makes
//! for itself, which takes root: `cargo run --release -p obvia-via --features xdp --example xdp_round_trip -- [BYTES]`.
//! UDP is measured twice: on a cable of its own, and on the one whose interfaces run the XDP program. Only the ratios
//! mean anything on another machine.

#[path = "../tests/xdp/rig.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod rig;

use obvia_via::provider::xdp::{Mode, Options, Xdp, XdpSocket};
use rig::{Cable, End, INTERFACE, Meeting};
use std::error::Error;
use std::net::{SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;
const TRIPS: usize = 3000;
const LOST: Duration = Duration::from_millis(200);

/// Sends and receives datagrams: one of the things that are compared.
trait Wire {
    fn send(&mut self, datagram: &[u8]);
    fn receive(&mut self, into: &mut [u8]) -> Option<usize>;
}

impl Wire for UdpSocket {
    fn send(&mut self, datagram: &[u8]) {
        Self::send(self, datagram).expect("sending");
    }

    fn receive(&mut self, into: &mut [u8]) -> Option<usize> {
        self.recv(into).ok()
    }
}

impl Wire for XdpSocket {
    fn send(&mut self, datagram: &[u8]) {
        while !Self::send(self, datagram).expect("sending") {}
    }

    fn receive(&mut self, into: &mut [u8]) -> Option<usize> {
        Self::receive(self, into).expect("receiving").map(|(length, _)| length)
    }
}

fn udp(end: &End, other: &End, port: u16) -> UdpSocket {
    end.on_thread(|| {
        let socket = UdpSocket::bind((end.address(), port)).expect("a socket");
        socket.connect((other.address(), port)).expect("a peer");
        socket.set_nonblocking(true).expect("a socket that does not block");
        socket
    })
}

fn xdp(end: &End, other: &End, port: u16) -> (Xdp, XdpSocket) {
    end.on_thread(|| {
        let xdp = Xdp::open(&Options::new(INTERFACE)).expect("an interface");
        let mut socket = xdp.socket(port).expect("a port");
        socket.connect(SocketAddrV4::new(other.address(), port));
        (xdp, socket)
    })
}

/// Waits for a datagram by spinning. `None` when it must have been lost.
fn spin(wire: &mut dyn Wire, buffer: &mut [u8]) -> Option<usize> {
    let end = Instant::now() + LOST;
    loop {
        for _ in 0..1000 {
            if let Some(length) = wire.receive(buffer) {
                return Some(length);
            }
            std::hint::spin_loop();
        }
        if Instant::now() > end {
            return None;
        }
    }
}

/// The median round trip, in nanoseconds.
fn ask(wire: &mut dyn Wire, bytes: usize, trips: &mut Vec<u64>) -> u64 {
    let (message, mut buffer) = (vec![7; bytes], [0; 4096]);
    trips.clear();
    while trips.len() < TRIPS {
        let start = Instant::now();
        wire.send(&message);
        if let Some(length) = spin(wire, &mut buffer) {
            assert_eq!(length, bytes);
            trips.push(start.elapsed().as_nanos() as u64);
        }
    }
    trips.sort_unstable();
    trips[TRIPS / 2]
}

fn answer(wire: &mut dyn Wire, stop: &dyn Fn() -> bool) {
    let mut buffer = [0; 4096];
    while !stop() {
        for _ in 0..1000 {
            if let Some(length) = wire.receive(&mut buffer) {
                wire.send(&buffer[..length]);
            }
            std::hint::spin_loop();
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let bytes = std::env::args().nth(1).map_or(Ok(64), |text| text.parse())?;
    let (plain, cable) = (Cable::lay()?, Cable::lay()?);
    let (left_xdp, left_socket) = xdp(&cable.left, &cable.right, 4791);
    let (right_xdp, right_socket) = xdp(&cable.right, &cable.left, 4791);
    let mode = if left_xdp.mode() == Mode::Native { "native" } else { "generic" };
    let copies = if left_xdp.is_zero_copy() { "without copies" } else { "copying" };
    let names = ["UDP", "UDP beside the XDP program", "AF_XDP"];
    let mut left: [Box<dyn Wire + Send>; 3] = [
        Box::new(udp(&plain.left, &plain.right, 4792)),
        Box::new(udp(&cable.left, &cable.right, 4792)),
        Box::new(left_socket),
    ];
    let mut right: [Box<dyn Wire + Send>; 3] = [
        Box::new(udp(&plain.right, &plain.left, 4792)),
        Box::new(udp(&cable.right, &cable.left, 4792)),
        Box::new(right_socket),
    ];
    let (turn, done) = (Meeting::default(), std::sync::atomic::AtomicUsize::new(0));
    let load = || done.load(std::sync::atomic::Ordering::Acquire);
    let mut medians = [const { Vec::new() }; 3];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for index in 0..ROUNDS * right.len() {
                turn.wait();
                answer(&mut *right[index % 3], &|| load() > index);
            }
        });
        let mut trips = Vec::with_capacity(TRIPS);
        for index in 0..ROUNDS * left.len() {
            turn.wait();
            medians[index % 3].push(ask(&mut *left[index % 3], bytes, &mut trips));
            done.store(index + 1, std::sync::atomic::Ordering::Release);
        }
    });
    println!(
        "{bytes} bytes, round trip, both ends spinning; median of {ROUNDS} turns' medians of {TRIPS}; {mode}, {copies}"
    );
    let ratio = |of: &[u64], to: &[u64]| {
        let mut ratios: Vec<_> = of.iter().zip(to).map(|(of, to)| *of as f64 / *to as f64).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    };
    for (name, times) in names.iter().zip(&medians) {
        let mut sorted = times.clone();
        sorted.sort_unstable();
        let (median, ratio) = (sorted[ROUNDS / 2] as f64 / 1000.0, ratio(times, &medians[0]));
        println!("{name:28} {median:8.2} us   {ratio:5.2} x UDP");
    }
    println!("left {:?}\nright {:?}", left_xdp.statistics(), right_xdp.statistics());
    Ok(())
}
