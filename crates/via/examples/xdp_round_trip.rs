//! Measures round trips through AF_XDP sockets, by VIs over AF_XDP, and through UDP sockets, in
//! turns within one run.
//!
//! Both ends spin. The link is a pair of virtual Ethernet interfaces between two network namespaces
//! of this program, which needs root: `cargo run --release -p obvia-via --features xdp --example
//! xdp_round_trip -- [BYTES]`. AF_XDP is measured twice: with the XDP program in the driver, and
//! with the program in the kernel's stack. UDP is measured beside each of these two measurements.
//! Only the ratios can be compared between machines.

#[path = "../tests/providers/xdp/rig.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod rig;

use obvia_via::provider::xdp::{Mode, Options, Xdp, XdpSocket};
use obvia_via::{Access, Deadline, Descriptor, MemoryRegion, Nic, ProtectionTag, Vi, ViAttributes, Waiting};
use rig::{Cable, End, INTERFACE, Meeting};
use std::error::Error;
use std::net::{SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const ROUNDS: usize = 41;
const TRIPS: usize = 1000;
const SOON: Deadline = Deadline::after_secs(20);
const LOST: Duration = Duration::from_millis(200);

/// One end of a compared datagram transport.
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

/// A VI over AF_XDP.
struct ViWire {
    vi: Vi,
    region: MemoryRegion,
    // The send descriptor, unless it is posted.
    idle: Option<Box<Descriptor>>,
    _tag: ProtectionTag,
}

/// The offset of received messages in a VI's region. Sent messages lie before this offset.
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

/// Creates two connected VIs.
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

fn open(end: &End, mode: Mode) -> Xdp {
    let options = Options { mode: Some(mode), ..Options::new(INTERFACE) };
    end.on_thread(|| Xdp::open(&options).expect("an interface"))
}

fn socket(xdp: &Xdp, end: &End, other: &End) -> XdpSocket {
    end.on_thread(|| {
        let mut socket = xdp.socket(4791).expect("a port");
        socket.connect(SocketAddrV4::new(other.address(), 4791));
        socket
    })
}

/// Waits for a datagram by spinning. Returns `None` after `LOST`, when the datagram counts as lost.
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

/// Returns the median round trip, in nanoseconds.
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

type Boxed = Box<dyn Wire + Send>;

/// A compared transport: a name, and two connected ends.
struct Way {
    name: &'static str,
    left: Boxed,
    right: Boxed,
}

/// The compared transports; the XDP interfaces that they use, each with its name; and the cables.
type Ways = (Vec<Way>, Vec<(&'static str, Xdp)>, Vec<Cable>);

/// Opens all compared transports, UDP first, with the resources that must outlive them. Each
/// transport has its own cable, because sockets of one interface would disturb each other: they
/// share the ring for received frames.
fn ways() -> Result<Ways, Box<dyn Error>> {
    let (mut ways, mut opened, mut cables) = (Vec::new(), Vec::new(), Vec::new());
    let boxed_udp = |end: &End, other: &End| -> Boxed { Box::new(udp(end, other, 4792)) };
    let cable = Cable::lay()?;
    let (left, right) = (boxed_udp(&cable.left, &cable.right), boxed_udp(&cable.right, &cable.left));
    ways.push(Way { name: "UDP", left, right });
    cables.push(cable);
    let modes = [
        (Mode::Native, ["UDP beside a native program", "AF_XDP, native", "VI over AF_XDP, native"]),
        (Mode::Generic, ["UDP beside a generic program", "AF_XDP, generic", "VI over AF_XDP, generic"]),
    ];
    for (mode, names) in modes {
        for (at, name) in names.into_iter().enumerate() {
            let cable = Cable::lay()?;
            let (left_xdp, right_xdp) = (open(&cable.left, mode), open(&cable.right, mode));
            let (left, right): (Boxed, Boxed) = match at {
                0 => (boxed_udp(&cable.left, &cable.right), boxed_udp(&cable.right, &cable.left)),
                1 => (
                    Box::new(socket(&left_xdp, &cable.left, &cable.right)),
                    Box::new(socket(&right_xdp, &cable.right, &cable.left)),
                ),
                _ => {
                    let (left, right) = vis(&cable, &left_xdp, &right_xdp);
                    (Box::new(left), Box::new(right))
                }
            };
            ways.push(Way { name, left, right });
            opened.extend([(name, left_xdp), (name, right_xdp)]);
            cables.push(cable);
        }
    }
    Ok((ways, opened, cables))
}

/// Returns the first quartile, the median and the third quartile of the values.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}

fn main() -> Result<(), Box<dyn Error>> {
    let bytes = std::env::args().nth(1).map_or(Ok(64), |text| text.parse())?;
    let (mut ways, opened, _cables) = ways()?;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let names: Vec<_> = ways.iter().map(|way| way.name).collect();
    for way in ways.drain(..) {
        left.push(way.left);
        right.push(way.right);
    }
    let count = names.len();
    let (turn, done) = (Meeting::default(), AtomicUsize::new(0));
    let mut medians = vec![Vec::new(); count];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for index in 0..ROUNDS * count {
                turn.wait();
                answer(&mut *right[index % count], &|| done.load(Ordering::Acquire) > index);
            }
        });
        let mut trips = Vec::with_capacity(TRIPS);
        for index in 0..ROUNDS * count {
            turn.wait();
            medians[index % count].push(ask(&mut *left[index % count], bytes, &mut trips));
            done.store(index + 1, Ordering::Release);
        }
    });
    println!("{bytes} bytes, round trip, both ends spinning; median of {ROUNDS} turns' medians of {TRIPS} trips");
    println!("{:30} {:>8}   ratio to UDP of the same turn: median, quartiles", "", "us");
    for (name, times) in names.iter().zip(&medians) {
        let [_, median, _] = quartiles(times.iter().map(|time| *time as f64 / 1000.0).collect());
        let ratios = times.iter().zip(&medians[0]).map(|(time, udp)| *time as f64 / *udp as f64);
        let [low, ratio, high] = quartiles(ratios.collect());
        println!("{name:30} {median:8.2}   {ratio:5.2}   {low:.2} to {high:.2}");
    }
    for (name, xdp) in &opened {
        println!("{name}: {:?}", xdp.statistics());
    }
    Ok(())
}
