//! A line between two hosts: a TUN device on each, and a thread that carries packets from one
//! device to the other under the line's conditions.

use super::Conditions;
use super::lane::{Dropped, Lane};
use super::tun;
use crate::Error;
use crate::hosts::{Host, ip};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::net::Ipv4Addr;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The name of each host's interface, and the maximum length of its packets in bytes.
const INTERFACE: &str = "line";
pub(super) const MTU: u64 = 1500;
/// The number of packets that may wait at an interface for the forwarding thread: more than are
/// ever under way, so that only the line's own queue drops packets.
const INTERFACE_QUEUE: &str = "20000";
/// The maximum size of a TCP connection's buffer in bytes, more than two bandwidth-delay products.
const TCP_BUFFERS: &str = "4096 131072 67108864";
/// The settings of each host's TCP. A connection must not start with the metrics of an earlier
/// connection.
const TCP_SETTINGS: [(&str, &str); 3] =
    [("tcp_rmem", TCP_BUFFERS), ("tcp_wmem", TCP_BUFFERS), ("tcp_no_metrics_save", "1")];

/// The number of packets that the thread takes from one interface before it looks at the other.
const TURN: usize = 64;
/// The interval at which the thread checks whether it has to end.
const LOOK: Duration = Duration::from_millis(100);

/// A line between two hosts. The line ends when it is dropped.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) client: Host,
    pub(super) server: Host,
    ending: Arc<AtomicBool>,
    forwarder: Option<JoinHandle<Result<[Dropped; 2], Errno>>>,
}

impl Line {
    /// Lays a line. Its losses follow from `seed`.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] or [`Error::System`] without root, without the command `ip`, and without
    /// /dev/net/tun.
    pub(super) fn lay(conditions: Conditions, seed: u64) -> Result<Self, Error> {
        let [client, server] = Host::pair()?;
        let [here, there] = ADDRESSES;
        let ends = [attach(&client, here, there)?, attach(&server, there, here)?];
        let lanes = [0, 1].map(|direction| Lane::new(conditions, seed.wrapping_mul(2) + direction));
        let ending = Arc::new(AtomicBool::new(false));
        let has_to_end = Arc::clone(&ending);
        let forwarder = std::thread::Builder::new().name("line".to_owned());
        let forwarder = forwarder.spawn(move || forward(&ends, lanes, &has_to_end));
        let forwarder = Some(forwarder.map_err(Error::system("starting a thread"))?);
        Ok(Self { client, server, ending, forwarder })
    }

    /// Ends the line. Returns the numbers of packets dropped on the way to the server and to the
    /// client.
    pub(super) fn end(mut self) -> Result<[Dropped; 2], Error> {
        match self.stop() {
            Some(Ok(ended)) => ended.map_err(Error::system("forwarding packets")),
            _ => Err(Error::Failed { message: "the thread that forwards packets panicked".to_owned() }),
        }
    }

    fn stop(&mut self) -> Option<std::thread::Result<Result<[Dropped; 2], Errno>>> {
        self.ending.store(true, Relaxed);
        self.forwarder.take().map(JoinHandle::join)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // A line is dropped without `end` only after another failure, which is reported instead.
        let _ = self.stop();
    }
}

/// The addresses of client and server. Lines are isolated from each other, so all of them use the
/// same addresses.
pub(super) const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 78, 0, 1), Ipv4Addr::new(10, 78, 0, 2)];

/// Attaches a host to the line, by an interface with the address `address`. Returns the device.
fn attach(host: &Host, address: Ipv4Addr, peer: Ipv4Addr) -> Result<OwnedFd, Error> {
    let attached = host.run(|| {
        let device = tun::create(INTERFACE)?;
        for (name, value) in TCP_SETTINGS {
            let file = format!("/proc/sys/net/ipv4/{name}");
            std::fs::write(file, value).map_err(Error::system("setting up TCP in a network namespace"))?;
        }
        ip(&["address", "add", &address.to_string(), "peer", &peer.to_string(), "dev", INTERFACE])?;
        let mtu = MTU.to_string();
        ip(&["link", "set", INTERFACE, "mtu", &mtu, "txqueuelen", INTERFACE_QUEUE, "up"])?;
        Ok(device)
    });
    attached.map_err(Error::system("entering a network namespace"))?
}

/// Carries packets in both directions until the line has to end.
fn forward(ends: &[OwnedFd; 2], mut lanes: [Lane; 2], has_to_end: &AtomicBool) -> Result<[Dropped; 2], Errno> {
    // The timer slack becomes a nanosecond instead of 50 us. Because of the priority, other threads
    // rarely delay this one. If the process may not set slack and priority, delays vary more.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let _ = rustix::process::setpriority_process(None, -20);
    let start = Instant::now();
    let now = || u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let mut packet = [0; MTU as usize];
    while !has_to_end.load(Relaxed) {
        for (end, lane) in ends.iter().zip(&mut lanes) {
            for _ in 0..TURN {
                match rustix::io::read(end, &mut packet) {
                    Ok(length) => lane.sent(now(), &packet[..length]),
                    Err(Errno::AGAIN | Errno::INTR) => break,
                    Err(error) => return Err(error),
                }
            }
        }
        // The packets of each lane arrive at the other end.
        for (end, lane) in ends.iter().rev().zip(&mut lanes) {
            lane.arrived(now(), |packet| {
                // A packet is lost if the host cannot take it.
                let _ = rustix::io::write(end, packet);
            });
        }
        let next = lanes.iter().filter_map(Lane::next).min();
        let wait = next.map_or(LOOK, |next| Duration::from_nanos(next.saturating_sub(now())).min(LOOK));
        let [one, other] = ends.each_ref().map(|end| PollFd::new(end, PollFlags::IN));
        let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
        match poll(&mut [one, other], Some(&wait)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(lanes.map(|lane| lane.dropped()))
}
