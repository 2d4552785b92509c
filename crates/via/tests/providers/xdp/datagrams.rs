//! Datagrams, without reliability.

use super::cable;
use super::rig::{Cable, INTERFACE, Meeting};
use obvia_via::Error;
use obvia_via::provider::xdp::{Mode, Options, Xdp, XdpSocket};
use obvia_via::reliable::network::DatagramSocket;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(10);
const PORT: u16 = 4791;

fn open(options: &Options) -> (Xdp, XdpSocket) {
    let xdp = Xdp::open(options).expect("opening the interface");
    let socket = xdp.socket(PORT).expect("taking a port");
    (xdp, socket)
}

fn connected(options: &Options, peer: SocketAddrV4) -> (Xdp, XdpSocket) {
    let (xdp, mut socket) = open(options);
    socket.connect(peer);
    (xdp, socket)
}

fn places(cable: &Cable) -> (SocketAddrV4, SocketAddrV4) {
    (SocketAddrV4::new(cable.left.address(), PORT), SocketAddrV4::new(cable.right.address(), PORT))
}

fn until_some<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        if let Some(found) = look() {
            return found;
        }
        std::thread::yield_now();
    }
    panic!("nothing came");
}

/// Returns the next datagram, by polling.
fn next(socket: &mut XdpSocket, into: &mut [u8]) -> (usize, SocketAddrV4) {
    until_some(|| socket.receive(into).expect("receiving"))
}

/// Returns the next datagram, by sleeping.
fn next_asleep(socket: &mut XdpSocket, into: &mut [u8]) -> Option<(usize, SocketAddrV4)> {
    let (end, file) = (Instant::now() + LIMIT, socket.file());
    while Instant::now() < end {
        if let Some(datagram) = socket.receive(into).expect("receiving") {
            return Some(datagram);
        }
        let timeout = Timespec { tv_sec: 1, tv_nsec: 0 };
        poll(&mut [PollFd::new(&*file, PollFlags::IN)], Some(&timeout)).expect("sleeping");
    }
    None
}

/// Sends a datagram, with as many attempts as it takes.
fn send(socket: &mut XdpSocket, datagram: &[u8]) {
    let end = Instant::now() + LIMIT;
    while !socket.send(datagram).expect("sending") {
        assert!(Instant::now() < end, "no room to send");
        std::thread::yield_now();
    }
}

/// Makes a datagram of `length` bytes that differs for each number.
fn pattern(number: u64, length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (number.wrapping_mul(31) + at.wrapping_mul(7) + (at >> 8)) as u8).collect()
}

fn echo(options: &Options, cable: &Cable, sleeping: bool) {
    let (left, right) = places(cable);
    let ready = Meeting::default();
    let lengths = [0, 1, 17, 18, 19, 100, 1471, 1472];
    cable.run(
        || {
            let (xdp, mut socket) = connected(options, right);
            ready.wait();
            assert_eq!(socket.mtu(), 1472);
            assert!(matches!(socket.send(&[0; 1473]), Err(Error::TooLong { length: 1473, limit: 1472 })));
            let mut buffer = [0; 2048];
            for round in 0..400 {
                let sent = pattern(round, lengths[round as usize % lengths.len()]);
                send(&mut socket, &sent);
                let (length, from) = next(&mut socket, &mut buffer);
                assert_eq!((from, &buffer[..length]), (right, &sent[..]), "round {round}");
            }
            let statistics = xdp.statistics();
            // The first datagrams find the peer's address. From then on no datagram goes through
            // the kernel's stack.
            assert!(statistics.sent >= 390 && statistics.received >= 390, "{statistics:?}");
            assert_eq!((statistics.strange, statistics.ring_full), (0, 0), "{statistics:?}");
        },
        || {
            let (_xdp, mut socket) = connected(options, left);
            ready.wait();
            let mut buffer = [0; 2048];
            for round in 0..400 {
                let datagram =
                    if sleeping { next_asleep(&mut socket, &mut buffer) } else { Some(next(&mut socket, &mut buffer)) };
                let (length, from) = datagram.unwrap_or_else(|| panic!("no datagram in round {round}"));
                assert_eq!(from, left);
                send(&mut socket, &buffer[..length]);
            }
        },
    );
}

#[test]
fn xdp_datagrams_are_exchanged_when_polling() {
    let Some(cable) = cable("xdp_datagrams_are_exchanged_when_polling") else { return };
    echo(&Options::new(INTERFACE), &cable, false);
}

#[test]
fn xdp_datagrams_are_exchanged_when_sleeping() {
    let Some(cable) = cable("xdp_datagrams_are_exchanged_when_sleeping") else { return };
    echo(&Options::new(INTERFACE), &cable, true);
}

#[test]
fn xdp_datagrams_are_exchanged_in_generic_and_native_mode() {
    let Some(cable) = cable("xdp_datagrams_are_exchanged_in_generic_and_native_mode") else { return };
    for (mode, sleeping) in [(Mode::Generic, true), (Mode::Native, true), (Mode::Generic, false), (Mode::Native, false)]
    {
        let options = Options { mode: Some(mode), ..Options::new(INTERFACE) };
        cable.left.on_thread(|| {
            let xdp = Xdp::open(&options).expect("opening in the mode that is asked for");
            assert_eq!((xdp.mode(), xdp.is_zero_copy()), (mode, false));
        });
        echo(&options, &cable, sleeping);
    }
}

#[test]
fn the_xdp_program_is_attached_in_the_fastest_mode_and_detached() {
    let Some(cable) = cable("the_xdp_program_is_attached_in_the_fastest_mode_and_detached") else {
        return;
    };
    cable.left.on_thread(|| {
        let xdp = Xdp::open(&Options::new(INTERFACE)).expect("opening");
        assert_eq!(xdp.mode(), Mode::Generic, "{:?}", xdp.why_not_native());
        assert!(xdp.why_not_native().is_some_and(|why| why.to_string().contains("virtual")));
        assert!(cable.left.has_program());
        let twice = Xdp::open(&Options::new(INTERFACE)).expect_err("one program for an interface").to_string();
        assert!(twice.contains("the interface already has one"), "{twice}");
        let socket = xdp.socket(0).expect("a port");
        drop(xdp);
        assert!(cable.left.has_program(), "a socket keeps it");
        drop(socket);
    });
    assert!(!cable.left.has_program());
}

/// Whether a file is readable within a short time.
fn is_readable(file: &OwnedFd) -> bool {
    let soon = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&soon)).expect("polling a file") == 1
}

#[test]
fn only_sleeping_xdp_receivers_are_woken() {
    let Some(cable) = cable("only_sleeping_xdp_receivers_are_woken") else { return };
    let (left, right) = places(&cable);
    let ready = Meeting::default();
    cable.run(
        || {
            let (_xdp, mut socket) = connected(&Options::new(INTERFACE), right);
            for round in 0..102 {
                ready.wait();
                send(&mut socket, &pattern(round, 100));
                ready.wait();
            }
        },
        || {
            let (_xdp, mut socket) = connected(&Options::new(INTERFACE), left);
            let mut buffer = [0; 2048];
            let file = DatagramSocket::prepare_sleep(&mut socket).expect("a file");
            DatagramSocket::end_sleep(&mut socket);
            let mut turn = |socket: &mut XdpSocket, file: Option<(&OwnedFd, bool)>| {
                ready.wait();
                ready.wait();
                if let Some((file, is_wanted)) = file {
                    assert_eq!(is_readable(file), is_wanted);
                }
                until_some(|| DatagramSocket::receive_from(socket, &mut buffer).expect("receiving"));
            };
            // The first datagrams may go through the kernel, so the test checks later ones.
            for _ in 0..100 {
                turn(&mut socket, None);
            }
            turn(&mut socket, Some((&file, false)));
            let again = DatagramSocket::prepare_sleep(&mut socket).expect("a file");
            turn(&mut socket, Some((&again, true)));
            DatagramSocket::end_sleep(&mut socket);
        },
    );
}

#[test]
fn overlong_datagrams_are_dropped_on_both_receive_paths() {
    let Some(cable) = cable("overlong_datagrams_are_dropped_on_both_receive_paths") else { return };
    let (_, right) = places(&cable);
    let ready = Meeting::default();
    cable.run(
        || {
            let ordinary = UdpSocket::bind((cable.left.address(), 0)).expect("a socket");
            ready.wait();
            // Fragmented datagrams go through the kernel, and whole ones through the ring.
            for length in [3000, 1600, 101, 100] {
                ordinary.send_to(&pattern(7, length), right).expect("sending");
            }
            ready.wait();
        },
        || {
            let (_xdp, mut socket) = open(&Options::new(INTERFACE));
            let mut buffer = [0; 2048];
            ready.wait();
            let mut came: Vec<_> = (0..3).map(|_| next(&mut socket, &mut buffer).0).collect();
            came.sort_unstable();
            assert_eq!(came, [100, 101, 1600]);
            ready.wait();
        },
    );
}

#[test]
fn foreign_frames_go_to_the_kernel() {
    let Some(cable) = cable("foreign_frames_go_to_the_kernel") else { return };
    let options = Options::new(INTERFACE);
    let (_, right) = places(&cable);
    let ready = Meeting::default();
    cable.run(
        || {
            let ordinary = UdpSocket::bind((cable.left.address(), 0)).expect("a socket");
            ready.wait();
            ordinary.send_to(b"ours", right).expect("sending");
            ordinary.send_to(b"another's", (cable.right.address(), 9999)).expect("sending");
            ready.wait();
        },
        || {
            let (xdp, mut socket) = open(&options);
            let other = UdpSocket::bind((cable.right.address(), 9999)).expect("a socket");
            other.set_read_timeout(Some(LIMIT)).expect("a time-out");
            ready.wait();
            let mut buffer = [0; 100];
            let length = other.recv(&mut buffer).expect("the other socket's datagram");
            assert_eq!(&buffer[..length], b"another's");
            let (length, _) = next(&mut socket, &mut buffer);
            assert_eq!(&buffer[..length], b"ours");
            assert_eq!(xdp.statistics().received, 1, "only ours came through the ring: {:?}", xdp.statistics());
            ready.wait();
        },
    );
}

#[test]
fn xdp_sockets_of_an_interface_get_their_datagrams_whichever_polls() {
    let Some(cable) = cable("xdp_sockets_of_an_interface_get_their_datagrams_whichever_polls") else { return };
    let options = Options::new(INTERFACE);
    let (left, _) = places(&cable);
    let ready = Meeting::default();
    cable.run(
        || {
            let (_xdp, mut socket) = open(&options);
            ready.wait();
            // The first datagram shows the peer's address, so that the later datagrams go through
            // the ring.
            let mut buffer = [0; 100];
            let (_, hello) = next(&mut socket, &mut buffer);
            let mut to = hello;
            for number in 0..300_u16 {
                to.set_port(6000 + number % 3);
                while !socket.send_to(&number.to_le_bytes(), to).expect("sending") {}
            }
            ready.wait();
        },
        || {
            let (xdp, mut main) = open(&options);
            let mut sockets: Vec<_> = (0..3).map(|index| xdp.socket(6000 + index).expect("a port")).collect();
            ready.wait();
            while !main.send_to(b"hello", left).expect("sending") {}
            ready.wait();
            // The first socket that receives takes the datagrams of all sockets off the ring. The
            // other sockets get their datagrams from their inboxes.
            let mut buffer = [0; 100];
            for (index, socket) in sockets.iter_mut().enumerate() {
                for number in (index as u16..300).step_by(3) {
                    let (length, from) = next_asleep(socket, &mut buffer).expect("a datagram");
                    assert_eq!((&buffer[..length], from), (&number.to_le_bytes()[..], left));
                }
                assert!(socket.receive(&mut buffer).expect("receiving").is_none());
            }
            assert_eq!(xdp.statistics().crowded_out, 0);
        },
    );
}

#[test]
fn a_flood_for_one_xdp_socket_keeps_no_thread_of_another_in_a_call() {
    const FRAMES: u32 = 64;
    let Some(cable) = cable("a_flood_for_one_xdp_socket_keeps_no_thread_of_another_in_a_call") else { return };
    let options = Options { frames: FRAMES, ..Options::new(INTERFACE) };
    let (_, right) = places(&cable);
    let (ready, is_over) = (Meeting::default(), AtomicBool::new(false));
    cable.run(
        || {
            let flood = UdpSocket::bind((cable.left.address(), 0)).expect("a port");
            ready.wait();
            let end = Instant::now() + LIMIT;
            while !is_over.load(Ordering::Relaxed) && Instant::now() < end {
                // The queue of the interface may be full.
                let _ = flood.send_to(&[7; 20], (*right.ip(), 6000));
            }
        },
        || {
            let (xdp, mut other) = open(&options);
            let _flooded = xdp.socket(6000).expect("a port");
            ready.wait();
            let (mut buffer, mut before, mut most, mut floods) = ([0; 100], 0, 0, 0);
            let end = Instant::now() + LIMIT;
            while before < 10 * u64::from(FRAMES) * u64::from(FRAMES) && Instant::now() < end {
                assert!(other.receive(&mut buffer).expect("receiving").is_none());
                let received = xdp.statistics().received;
                most = most.max(received - before);
                floods += u64::from(received > before);
                before = received;
            }
            is_over.store(true, Ordering::Relaxed);
            assert!(floods > 0 && most <= u64::from(FRAMES), "{most} frames in one of {floods} calls");
        },
    );
}

#[test]
fn full_rings_lose_datagrams_and_recover() {
    let Some(cable) = cable("full_rings_lose_datagrams_and_recover") else { return };
    let options = Options { frames: 64, ..Options::new(INTERFACE) };
    let (left, right) = places(&cable);
    let ready = Meeting::default();
    cable.run(
        || {
            let (_xdp, mut socket) = connected(&options, right);
            ready.wait();
            let mut buffer = [0; 100];
            next(&mut socket, &mut buffer);
            for number in 0..1000_u32 {
                send(&mut socket, &number.to_le_bytes());
            }
            ready.wait();
            // The peer has read all datagrams, and the ring works as before.
            ready.wait();
            for number in 1000..1100_u32 {
                send(&mut socket, &number.to_le_bytes());
                next(&mut socket, &mut buffer);
            }
        },
        || {
            let (xdp, mut socket) = connected(&options, left);
            ready.wait();
            let mut buffer = [0; 100];
            send(&mut socket, b"hello");
            ready.wait();
            let mut came = 0_u32;
            while let Some((length, _)) = socket.receive(&mut buffer).expect("receiving") {
                assert_eq!(buffer[..length], came.to_le_bytes(), "the first ones, in order");
                came += 1;
            }
            let statistics = xdp.statistics();
            assert!((64..1000).contains(&came), "{came} of 1000 came into 64 places");
            assert!(statistics.ring_full + statistics.no_place > 0, "{statistics:?}");
            ready.wait();
            for number in 1000..1100_u32 {
                let (length, _) = next(&mut socket, &mut buffer);
                assert_eq!(buffer[..length], number.to_le_bytes());
                send(&mut socket, &buffer[..length]);
            }
        },
    );
}

#[test]
fn errors_of_opening_xdp_name_the_cause() {
    let Some(cable) = cable("errors_of_opening_xdp_name_the_cause") else { return };
    cable.left.on_thread(|| {
        let why = |options: &Options| Xdp::open(options).expect_err("must not open").to_string();
        assert!(why(&Options::new("nothing0")).contains("no interface of this network namespace has that name"));
        assert!(why(&Options::new("a/b")).contains("the name is not valid for an interface"));
        assert!(why(&Options::new("lo")).contains("is not an Ethernet interface"));
        let queue = Options { queue: 7, ..Options::new(INTERFACE) };
        assert!(why(&queue).contains("no such queue"), "{}", why(&queue));
        assert!(!cable.left.has_program(), "a failed opening leaves nothing behind");
        cable.left.ip(&format!("link set {INTERFACE} down")).expect("down");
        assert!(why(&Options::new(INTERFACE)).contains("the interface is down"));
    });
}
