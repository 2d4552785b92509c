//! A provider over AF_XDP: Ethernet frames go from a network interface's queue into memory of the
//! process, past the kernel's network stack.
//!
//! A small program on the interface takes the UDP datagrams for the ports of this process. All
//! other frames take their usual way. The provider needs an Ethernet interface, but no other
//! hardware, and no other software at either end. The process needs the privileges CAP_NET_RAW,
//! CAP_NET_ADMIN and CAP_BPF, and a sufficient limit of locked memory. An interface takes one such
//! program, and therefore one [`Xdp`]. The provider supports IPv4 only. See docs/xdp.md.

mod bpf;
mod frames;
mod interface;
mod program;
mod queue;
mod rings;
mod socket;
mod watch;

pub use frames::Mac;
pub use socket::XdpSocket;

use crate::Error;
use crate::attributes::{Attributes, Reliability};
use crate::nic::Nic;
use crate::reliable::network::{Network, NetworkProvider};
use crate::reliable::{RefusalObserver, Settings};
use crate::wrap::Conditions;
use queue::{Queue, set_number};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

/// The options for the use of an interface.
#[derive(Clone, Debug)]
pub struct Options {
    /// The interface's name, such as `eth0`.
    pub interface: String,
    /// The receive queue, counted from 0. Frames in the interface's other queues take the slow path
    /// through the kernel; `ethtool -N` steers the hardware's choice of queue.
    pub queue: u32,
    /// The IPv4 address at the interface. `None` means the interface's first address.
    pub address: Option<Ipv4Addr>,
    /// The Ethernet addresses of peers, or of the gateways to them. The kernel is asked for
    /// addresses that are missing here.
    pub neighbours: Vec<(Ipv4Addr, Mac)>,
    /// The number of places for frames in each direction; rounded up to a power of two, at least 64
    /// and at most 65536. A place takes 2 KiB, or 4 KiB when the MTU is beyond 1778.
    pub frames: u32,
    /// The mode of the program. With `None`, the program runs in the driver if the driver can run
    /// the program and that mode is faster; otherwise the program runs in the kernel's stack.
    /// [`Xdp::mode`] returns the choice.
    pub mode: Option<Mode>,
    /// The time without a packet from a peer after which the peer counts as gone, if an answer of
    /// the peer is outstanding.
    pub silence: Duration,
    /// The settings of busy polling: while this process polls, the kernel polls the hardware
    /// instead of taking interrupts. With `None`, the hardware keeps interrupting.
    pub busy_poll: Option<BusyPoll>,
    /// The artificial faults of the network for VIs, at this end: see [`Conditions`].
    pub fault: Option<Conditions>,
    /// The observer of refused connection requests.
    pub refusal_observer: Option<RefusalObserver>,
}

impl Options {
    /// Makes options for an interface's first queue. The kernel supplies the addresses.
    pub fn new(interface: &str) -> Self {
        Self {
            interface: interface.to_owned(),
            queue: 0,
            address: None,
            neighbours: Vec::new(),
            frames: 512,
            mode: None,
            silence: Settings::default().silence,
            busy_poll: None,
            fault: None,
            refusal_observer: None,
        }
    }
}

/// The place where an interface runs its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The driver, which runs the program before the kernel has processed the frame.
    Native,
    /// The kernel's network stack, which supports every interface. This mode usually saves little
    /// time. Between virtual interfaces (veth), it saves more time than [`Self::Native`].
    Generic,
}

/// The settings of preferred busy polling: Linux, Documentation/networking/napi.rst.
#[derive(Clone, Copy, Debug)]
pub struct BusyPoll {
    /// The maximum time that the kernel polls in one call; whole microseconds.
    pub time: Duration,
    /// The maximum number of frames in one poll.
    pub budget: u16,
}

impl BusyPoll {
    fn set(self, socket: BorrowedFd<'_>) -> Result<(), Error> {
        let time = i32::try_from(self.time.as_micros()).unwrap_or(i32::MAX);
        let doing = "setting up busy polling, which needs CAP_NET_ADMIN and Linux 5.11";
        for (option, value) in [
            (libc::SO_PREFER_BUSY_POLL, 1),
            (libc::SO_BUSY_POLL, time),
            (libc::SO_BUSY_POLL_BUDGET, i32::from(self.budget)),
        ] {
            set_number(socket, (libc::SOL_SOCKET, option), value).map_err(Error::system(doing))?;
        }
        Ok(())
    }
}

/// The counters of a queue since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of frames received through the ring.
    pub received: u64,
    /// The number of frames sent through the ring.
    pub sent: u64,
    /// The number of system calls that woke the kernel, to send or to receive.
    pub wakeups: u64,
    /// The number of frames dropped because their port is closed, or their socket's inbox was full.
    pub crowded_out: u64,
    /// The number of frames dropped because of wrong headers, or a sender other than the peer.
    pub strange: u64,
    /// The number of frames that the kernel dropped because the ring was full.
    pub ring_full: u64,
    /// The number of times that the kernel had no free place to receive a frame into.
    pub no_place: u64,
    /// The number of datagrams sent through the kernel's socket, because the peer's Ethernet
    /// address was not known yet.
    pub by_kernel_sent: u64,
    /// The number of datagrams received through the kernel's socket.
    pub by_kernel_received: u64,
}

/// An interface with the program on it. The program is removed with the last clone and the last
/// socket.
#[derive(Clone, Debug)]
pub struct Xdp {
    queue: Arc<Queue>,
    neighbours: Arc<[(Ipv4Addr, Mac)]>,
    silence: Duration,
    fault: Option<Conditions>,
    refusal_observer: Option<RefusalObserver>,
}

impl Xdp {
    /// Puts the program on an interface, and binds to one of the interface's queues.
    ///
    /// # Errors
    ///
    /// [`Error::BadAddress`] where the interface does not exist, is down, is not an Ethernet
    /// interface or has no address; [`Error::System`], whose text names the missing privilege or
    /// support.
    pub fn open(options: &Options) -> Result<Self, Error> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(Error::io("opening a socket"))?;
        let interface = interface::Interface::look_up(&socket, &options.interface, options.address)?;
        let queue = Queue::open(interface, options)?;
        let Options { neighbours, silence, fault, refusal_observer, .. } = options;
        let (neighbours, fault) = (neighbours.clone().into(), fault.clone());
        Ok(Self { queue, neighbours, silence: *silence, fault, refusal_observer: *refusal_observer })
    }

    /// Opens a UDP port; 0 means any free port.
    ///
    /// # Errors
    ///
    /// [`Error::NameInUse`] when the port is taken; an error of the system.
    pub fn socket(&self, port: u16) -> Result<XdpSocket, Error> {
        XdpSocket::bind(self, port)
    }

    /// Makes a provider whose VIs go over the interface. Any number of NICs may share it.
    pub fn provider(&self) -> NetworkProvider<Ethernet> {
        let frames = self.queue.frames() as usize;
        let mtu = self.queue.datagram_max();
        let defaults = Settings::default();
        // The window is half of the places, because acknowledgements and other VIs need places,
        // too.
        let window = u32::try_from(frames * mtu / 2).unwrap_or(u32::MAX);
        let settings = Settings {
            window: window.min(defaults.window),
            first_packet: defaults.first_packet.min(mtu),
            silence: self.silence,
            ..defaults
        };
        NetworkProvider::new(Ethernet { xdp: self.clone(), attributes: attributes(), settings })
    }

    /// Returns the place where the interface runs the program.
    pub fn mode(&self) -> Mode {
        self.queue.attached.mode
    }

    /// Returns the reason why the program does not run in the driver, if [`Options::mode`] is
    /// `None`. Returns `None` if the program runs in the driver, or if the caller chose the mode.
    pub fn why_not_native(&self) -> Option<&io::Error> {
        self.queue.attached.not_native.as_ref()
    }

    /// Whether the driver moves frames without copying them.
    pub fn is_zero_copy(&self) -> bool {
        self.queue.zero_copy
    }

    /// Returns the address at the interface.
    pub fn address(&self) -> Ipv4Addr {
        self.queue.interface.address
    }

    /// Returns the counters so far.
    pub fn statistics(&self) -> Statistics {
        self.queue.statistics()
    }
}

/// Puts the program on an interface, and opens a NIC whose VIs go over it. Listeners are ports,
/// with addresses such as `10.0.0.1:4791`.
///
/// # Errors
///
/// As [`Xdp::open`].
pub fn open(options: &Options) -> Result<Nic, Error> {
    Ok(Nic::open(Box::new(Xdp::open(options)?.provider())))
}

/// Returns the names and first IPv4 addresses of those Ethernet interfaces of this network
/// namespace that are up and have an address.
///
/// # Errors
///
/// An error of the system.
pub fn interfaces() -> Result<Vec<(String, Ipv4Addr)>, Error> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(Error::io("opening a socket"))?;
    let known = interface::names().map_err(Error::io("reading the names of interfaces"))?;
    let usable = known.into_iter().filter_map(|name| interface::Interface::look_up(&socket, &name, None).ok());
    Ok(usable.map(|found| (found.name, found.address)).collect())
}

/// An interface as a network of datagrams.
#[derive(Debug)]
pub struct Ethernet {
    xdp: Xdp,
    attributes: Attributes,
    settings: Settings,
}

impl Network for Ethernet {
    type Socket = XdpSocket;

    fn socket(&self, port: u16) -> Result<XdpSocket, Error> {
        self.xdp.socket(port)
    }

    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn fault(&self) -> Option<&Conditions> {
        self.xdp.fault.as_ref()
    }

    fn refusal_observer(&self) -> Option<RefusalObserver> {
        self.xdp.refusal_observer
    }
}

fn attributes() -> Attributes {
    Attributes {
        provider: "xdp",
        max_transfer: 16 << 20,
        max_segments: 64,
        queue_depth: 4096,
        rdma_write: true,
        rdma_read: true,
        reliability: &[Reliability::Unreliable, Reliability::ReliableDelivery, Reliability::ReliableReception],
    }
}

/// A refusal by the system, with advice on the system's requirements.
#[derive(Debug)]
struct Refused {
    doing: &'static str,
    source: io::Error,
}

impl Refused {
    fn new(doing: &'static str, errno: Errno) -> Self {
        Self { doing, source: errno.into() }
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        Self::System { doing: refused.doing, source: refused.source }
    }
}
