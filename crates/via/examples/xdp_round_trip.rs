//! Measures a round trip through AF_XDP, bare and by VIs, beside one through ordinary UDP sockets, in turns within one run.
//!
//! Both ends spin. The cable is a pair of virtual Ethernet interfaces between two network namespaces that this program makes
//! for itself, which takes root: `cargo run --release -p obvia-via --features xdp --example xdp_round_trip -- [BYTES]`.
//! UDP is measured twice: on a cable of its own, and on the one whose interfaces run the XDP program. Only the ratios
//! mean anything on another machine.

#[path = "../tests/xdp/rig.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod rig;

use obvia_via::provider::xdp::{Mode, Options, Xdp, XdpSocket};
use obvia_via::{Access, Deadline, Descriptor, MemoryRegion, Nic, ProtectionTag, Vi, ViAttributes, Waiting};
use rig::{Cable, End, INTERFACE, Meeting};
use std::error::Error;
use std::net::{SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;
const TRIPS: usize = 3000;
const SOON: Deadline = Deadline::after_secs(20);
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

/// A VI, whose messages go through AF_XDP.
struct ViWire {
    vi: Vi,
    region: MemoryRegion,
    // A descriptor to send with, where none is posted.
    idle: Option<Box<Descriptor>>,
    _tag: ProtectionTag,
}

/// Where in a VI's region messages come; before are those that go.
const COMING: u64 = 4096;

impl ViWire {
    fn new(xdp: &Xdp) -> Self {
        let nic = Nic::open(Box::new(xdp.provider()));
        let tag = nic.protection_tag();
        let attributes = ViAttributes { waiting: Waiting::Poll, ..ViAttributes::default() };
        let mut vi = nic.vi(attributes, &tag, None, None).expect("a VI");
        let memory = nic.memory(2 * COMING as usize).expect("memory");
        let region = nic.register(memory, &tag, Access::LOCAL).expect("a region");
        for _ in 0..4 {
            let receive = Descriptor::receive().with_segment(&region, COMING, COMING as u32);
            vi.receive.post(receive).expect("posting");
        }
        Self { vi, region, idle: Some(Descriptor::send()), _tag: tag }
    }
}

impl Wire for ViWire {
    fn send(&mut self, datagram: &[u8]) {
        let mut descriptor = self.idle.take().unwrap_or_else(|| self.vi.send.wait(SOON).expect("a completion"));
        self.region.memory().write(0, datagram).expect("within the region");
        descriptor.segments_mut().clear();
        let descriptor = descriptor.with_segment(&self.region, 0, datagram.len() as u32);
        self.vi.send.post(descriptor).expect("posting");
    }

    fn receive(&mut self, into: &mut [u8]) -> Option<usize> {
        let received = self.vi.receive.done()?;
        assert!(received.status().is_done());
        let length = received.length() as usize;
        self.region.memory().read(COMING, &mut into[..length]).expect("within the region");
        self.vi.receive.post(received).expect("posting");
        Some(length)
    }
}

/// Two connected VIs.
fn vis(cable: &Cable, left: &Xdp, right: &Xdp) -> (ViWire, ViWire) {
    let (mut asking, mut listening) = (ViWire::new(left), ViWire::new(right));
    let ready = Meeting::default();
    let address = format!("{}:4793", cable.right.address());
    let (asks, listens) = (&mut asking.vi, &mut listening.vi);
    cable.run(
        || {
            ready.wait();
            asks.request(&address, b"", SOON).expect("connecting");
        },
        || {
            let mut listener = Nic::open(Box::new(right.provider())).listen("4793").expect("listening");
            ready.wait();
            listener.wait(SOON).expect("a request").accept(listens, b"", SOON).expect("accepting");
        },
    );
    (asking, listening)
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
    // On a cable of their own: their NICs' attendants would wake up for every datagram of the bare sockets.
    let open = |end: &End| end.on_thread(|| Xdp::open(&Options::new(INTERFACE)).expect("an interface"));
    let third = Cable::lay()?;
    let (left_nic, right_nic) = (open(&third.left), open(&third.right));
    let (left_vi, right_vi) = vis(&third, &left_nic, &right_nic);
    let names = ["UDP", "UDP beside the XDP program", "AF_XDP", "VI over AF_XDP"];
    let mut left: [Box<dyn Wire + Send>; 4] = [
        Box::new(udp(&plain.left, &plain.right, 4792)),
        Box::new(udp(&cable.left, &cable.right, 4792)),
        Box::new(left_socket),
        Box::new(left_vi),
    ];
    let mut right: [Box<dyn Wire + Send>; 4] = [
        Box::new(udp(&plain.right, &plain.left, 4792)),
        Box::new(udp(&cable.right, &cable.left, 4792)),
        Box::new(right_socket),
        Box::new(right_vi),
    ];
    let (turn, done) = (Meeting::default(), std::sync::atomic::AtomicUsize::new(0));
    let load = || done.load(std::sync::atomic::Ordering::Acquire);
    let mut medians = [const { Vec::new() }; 4];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for index in 0..ROUNDS * right.len() {
                turn.wait();
                answer(&mut *right[index % 4], &|| load() > index);
            }
        });
        let mut trips = Vec::with_capacity(TRIPS);
        for index in 0..ROUNDS * left.len() {
            turn.wait();
            medians[index % 4].push(ask(&mut *left[index % 4], bytes, &mut trips));
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
    for (name, xdp) in [("left", &left_xdp), ("right", &right_xdp), ("left VI", &left_nic), ("right VI", &right_nic)] {
        println!("{name}: {:?}", xdp.statistics());
    }
    Ok(())
}
