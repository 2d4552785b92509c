//! One receive queue of an interface, bound to an AF_XDP socket that all VIs of a NIC share.
//!
//! A calling thread takes frames for all sockets of the NIC: it puts a frame for another socket
//! into that socket's inbox, without a copy, and rings that socket's bell.

use super::bpf::Attached;
use super::frames::{self, Arrived, HEADERS, Headers, SHORTEST};
use super::interface::Interface;
use super::rings::{ConsumerRing, FrameDescriptor, Peek, ProducerRing};
use super::watch::Watchers;
use super::{Mode, Options, Refused, Statistics};
use crate::sync::lock;
use crate::{Error, Memory};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::net::xdp::{SocketAddrXdp, SocketAddrXdpFlags, XdpOptionsFlags, XdpUmemReg, XdpUmemRegFlags};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddrV4;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

// The offsets at which the rings are mapped: linux/if_xdp.h.
const RECEIVE_RING: u64 = 0;
const SEND_RING: u64 = 0x8000_0000;
const FILL_RING: u64 = 0x1_0000_0000;
const COMPLETION_RING: u64 = 0x1_8000_0000;
/// The number of bytes that the kernel keeps free in front of a frame: `XDP_PACKET_HEADROOM`.
const HEADROOM: usize = 256;
/// The two sizes of a frame's place, in bytes, that every machine supports.
const PLACES: [usize; 2] = [2048, 4096];
/// The maximum number of frames that wait in one inbox.
const INBOX_FRAMES: usize = 256;
/// The time for which a closed socket may still hold its queue. A thread of the kernel frees the
/// queue, and a child process between fork and exec has a copy of the socket. Both may wait long
/// for a processor.
const LINGER: Duration = Duration::from_secs(10);
/// The maximum number of calls that ask the kernel to go on sending: each call sends 32 frames.
const KICKS: usize = 4;

/// A socket on a queue.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) interface: Interface,
    pub(super) attached: Attached,
    pub(super) zero_copy: bool,
    socket: OwnedFd,
    umem: Memory,
    place: usize,
    rings: Mutex<Rings>,
    receive_peek: Peek,
    busy_poll: bool,
    // Whether the send ring holds frames that the kernel had no room for.
    unsent: AtomicBool,
    pub(super) counts: Counts,
    pub(super) watchers: Watchers,
    held_max: usize,
    frames: u32,
}

#[derive(Debug)]
struct Rings {
    fill: ProducerRing<u64>,
    completion: ConsumerRing<u64>,
    receive: ConsumerRing<FrameDescriptor>,
    send: ProducerRing<FrameDescriptor>,
    // The UMEM's places for sending that are not in use.
    free: Vec<u64>,
    inboxes: HashMap<u16, Inbox>,
    // The number of frames in all inboxes.
    held: usize,
}

#[derive(Debug)]
struct Inbox {
    frames: VecDeque<(Arrived, u64)>,
    delivery: Arc<Delivery>,
}

/// The state shared by a socket and the threads that find frames for it.
#[derive(Debug)]
pub(super) struct Delivery {
    waiting: AtomicUsize,
    /// An eventfd that is readable while the inbox has frames.
    pub(super) bell: OwnedFd,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    received: AtomicU64,
    sent: AtomicU64,
    wakeups: AtomicU64,
    crowded_out: AtomicU64,
    strange: AtomicU64,
    pub(super) by_kernel_sent: AtomicU64,
    pub(super) by_kernel_received: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Queue {
    /// Opens a socket on a queue, and puts the program on the interface.
    pub(super) fn open(interface: Interface, options: &Options) -> Result<Arc<Self>, Error> {
        let attached = Attached::new(&interface, options.queue, options.mode)?;
        let socket = rustix::net::socket_with(AddressFamily::XDP, SocketType::RAW, SocketFlags::CLOEXEC, None)
            .map_err(|errno| match errno {
                Errno::PERM => Refused::new("opening an AF_XDP socket, which needs CAP_NET_RAW", errno),
                Errno::AFNOSUPPORT => {
                    Refused::new("opening an AF_XDP socket: the kernel is built without CONFIG_XDP_SOCKETS", errno)
                }
                _ => Refused::new("opening an AF_XDP socket", errno),
            })?;
        let place = PLACES[usize::from(HEADROOM + 14 + interface.mtu > PLACES[0])];
        let frames = options.frames.clamp(64, 1 << 16).next_power_of_two();
        let umem = Memory::new(2 * frames as usize * place)?;
        register(socket.as_fd(), &umem, place)?;
        let mut rings = rings(socket.as_fd(), frames)?;
        let place_of = |index: u32| u64::from(index) * place as u64;
        rings.free.extend((frames..2 * frames).map(place_of));
        for index in 0..frames {
            rings.fill.push(place_of(index));
        }
        if let Some(busy_poll) = &options.busy_poll {
            busy_poll.set(socket.as_fd())?;
        }
        let zero_copy = bind(socket.as_fd(), &interface, options.queue, attached.mode)?;
        attached.steer(options.queue, socket.as_fd())?;
        let receive_peek = rings.receive.peek();
        Ok(Arc::new(Self {
            interface,
            attached,
            zero_copy,
            socket,
            umem,
            place,
            rings: Mutex::new(rings),
            receive_peek,
            busy_poll: options.busy_poll.is_some(),
            unsent: AtomicBool::new(false),
            counts: Counts::default(),
            watchers: Watchers::default(),
            held_max: frames as usize * 3 / 4,
            frames,
        }))
    }

    /// Returns the maximum length of a datagram, in bytes.
    pub(super) fn datagram_max(&self) -> usize {
        // The MTU includes the IP and UDP headers; the place also has to hold the Ethernet header
        // and the kernel's headroom.
        self.interface.mtu.saturating_sub(HEADERS - 14).min(self.place - HEADROOM - HEADERS)
    }

    /// Returns the number of places for frames in each direction.
    pub(super) fn frames(&self) -> u32 {
        self.frames
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn lock(&self) -> MutexGuard<'_, Rings> {
        lock(&self.rings)
    }

    /// Makes an inbox for `port`, which notifies `delivery`. From now on, frames to `port` are put
    /// into this inbox.
    pub(super) fn attach_port(&self, port: u16, delivery: &Arc<Delivery>) -> Result<(), Error> {
        let inbox = Inbox { frames: VecDeque::new(), delivery: Arc::clone(delivery) };
        self.lock().inboxes.insert(port, inbox);
        self.attached.take_port(port).inspect_err(|_| drop(self.lock().inboxes.remove(&port)))
    }

    /// Ends the delivery of frames to this port.
    pub(super) fn detach_port(&self, port: u16) {
        self.attached.give_port(port);
        let mut rings = self.lock();
        if let Some(inbox) = rings.inboxes.remove(&port) {
            for (_, place) in inbox.frames {
                rings.held -= 1;
                rings.fill.push(place);
            }
        }
    }

    /// Sends a datagram. Returns `false` when there is no room.
    pub(super) fn send(&self, headers: &Headers, datagram: &[u8]) -> Result<bool, Error> {
        let limit = self.datagram_max();
        let front = headers.of(datagram.len()).filter(|_| datagram.len() <= limit);
        let Some(front) = front else {
            return Err(Error::TooLong { length: datagram.len() as u64, limit: limit as u64 });
        };
        let mut rings = self.lock();
        rings.reclaim();
        let Some(place) = rings.free.pop() else {
            drop(rings);
            self.kick()?;
            return Ok(false);
        };
        let length = HEADERS + datagram.len();
        self.umem.write(place, &front);
        self.umem.write(place + HEADERS as u64, datagram);
        if length < SHORTEST {
            self.umem.write(place + length as u64, &[0; SHORTEST][..SHORTEST - length]);
        }
        let descriptor = FrameDescriptor { address: place, length: length.max(SHORTEST) as u32, options: 0 };
        if !rings.send.push(descriptor) {
            rings.free.push(place);
            drop(rings);
            self.kick()?;
            return Ok(false);
        }
        let needs_wakeup = rings.send.needs_wakeup();
        drop(rings);
        count(&self.counts.sent);
        if needs_wakeup {
            self.kick()?;
        }
        Ok(true)
    }

    /// Has the kernel send the frames in the ring.
    fn kick(&self) -> Result<(), Error> {
        self.unsent.store(false, Ordering::Relaxed);
        for _ in 0..KICKS {
            count(&self.counts.wakeups);
            match rustix::net::send(&self.socket, &[], SendFlags::DONTWAIT) {
                Ok(_) => return Ok(()),
                Err(Errno::AGAIN | Errno::BUSY | Errno::NOBUFS | Errno::INTR) => {}
                Err(errno) => return Err(Error::system("sending through an AF_XDP socket")(errno)),
            }
        }
        self.unsent.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Takes the next datagram for `port`, and puts datagrams for other sockets into their inboxes.
    /// Looks at no more frames in a call than the ring has room for, so it may take several calls
    /// to reach the datagram. `wanted` is the only accepted sender, if given.
    pub(super) fn receive(
        &self,
        port: u16,
        delivery: &Delivery,
        wanted: Option<SocketAddrV4>,
        into: &mut [u8],
    ) -> Result<Option<(usize, SocketAddrV4)>, Error> {
        if self.unsent.load(Ordering::Relaxed) {
            self.kick()?;
        }
        if delivery.waiting.load(Ordering::Acquire) == 0 && !self.receive_peek.has_some() {
            if !self.busy_poll {
                return Ok(None);
            }
            self.drive()?;
            if !self.receive_peek.has_some() {
                return Ok(None);
            }
        }
        let mut rings = self.lock();
        if delivery.waiting.load(Ordering::Relaxed) > 0
            && let Some((arrived, place)) = rings.take(port)
        {
            return Ok(self.deliver(&mut rings, &arrived, place, wanted, into));
        }
        // The kernel may refill the ring as fast as this thread empties it. The bound lets other
        // threads have the lock, and the caller look at its deadline.
        for _ in 0..self.frames {
            let Some(descriptor) = rings.receive.pop() else { break };
            count(&self.counts.received);
            let place = descriptor.address;
            let Some(arrived) = self.read(&descriptor) else {
                count(&self.counts.strange);
                rings.give_back(place, self.place);
                continue;
            };
            if arrived.destination.port() != port {
                self.put_into_inbox(&mut rings, arrived, place);
            } else if let Some(datagram) = self.deliver(&mut rings, &arrived, place, wanted, into) {
                return Ok(Some(datagram));
            }
        }
        let needs_wakeup = rings.fill.needs_wakeup();
        drop(rings);
        if needs_wakeup {
            self.drive()?;
        }
        Ok(None)
    }

    /// Has the kernel process the queue. A driver that ran out of places, or whose interrupts are
    /// off, waits for such a call.
    fn drive(&self) -> Result<(), Error> {
        count(&self.counts.wakeups);
        match rustix::net::recv(&self.socket, &mut [0_u8; 0][..], RecvFlags::DONTWAIT) {
            Ok(_) | Err(Errno::AGAIN | Errno::BUSY | Errno::NOBUFS | Errno::INTR) => Ok(()),
            Err(errno) => Err(Error::system("receiving through an AF_XDP socket")(errno)),
        }
    }

    fn read(&self, descriptor: &FrameDescriptor) -> Option<Arrived> {
        let length = descriptor.length as usize;
        let mut headers = [0; HEADERS];
        // The kernel is trusted, but a place outside of the UMEM would corrupt memory.
        if length < HEADERS || !self.umem.holds(descriptor.address, length as u64) {
            return None;
        }
        self.umem.read(descriptor.address, &mut headers)?;
        frames::read(&headers, length, self.interface.address)
    }

    /// Copies a datagram to `into`, and frees its place. Returns `None` for a datagram that is
    /// longer than `into`, or not from the sender `wanted`.
    fn deliver(
        &self,
        rings: &mut Rings,
        arrived: &Arrived,
        place: u64,
        wanted: Option<SocketAddrV4>,
        into: &mut [u8],
    ) -> Option<(usize, SocketAddrV4)> {
        let fits = wanted.is_none_or(|wanted| wanted == arrived.source);
        let copied = match into.get_mut(..arrived.payload) {
            Some(into) if fits => self.umem.read(place + HEADERS as u64, into),
            _ => None,
        };
        rings.give_back(place, self.place);
        if copied.is_none() {
            count(&self.counts.strange);
        }
        copied.map(|()| (arrived.payload, arrived.source))
    }

    fn put_into_inbox(&self, rings: &mut Rings, arrived: Arrived, place: u64) {
        let held = rings.held;
        match rings.inboxes.get_mut(&arrived.destination.port()) {
            Some(inbox) if has_room(inbox.frames.len(), held, self.held_max) => {
                inbox.frames.push_back((arrived, place));
                inbox.delivery.waiting.store(inbox.frames.len(), Ordering::Release);
                if inbox.frames.len() == 1 {
                    inbox.delivery.ring();
                }
                rings.held += 1;
            }
            _ => {
                count(&self.counts.crowded_out);
                rings.give_back(place, self.place);
            }
        }
    }

    /// Returns the counters so far.
    pub(super) fn statistics(&self) -> Statistics {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let kernel = sockopt::xdp_statistics(&self.socket).ok();
        Statistics {
            received: load(&self.counts.received),
            sent: load(&self.counts.sent),
            wakeups: load(&self.counts.wakeups),
            crowded_out: load(&self.counts.crowded_out),
            strange: load(&self.counts.strange),
            ring_full: kernel.map_or(0, |kernel| kernel.rx_dropped.saturating_add(kernel.rx_ring_full.unwrap_or(0))),
            no_place: kernel.and_then(|kernel| kernel.rx_fill_ring_empty_descs).unwrap_or(0),
            by_kernel_sent: load(&self.counts.by_kernel_sent),
            by_kernel_received: load(&self.counts.by_kernel_received),
        }
    }
}

impl Rings {
    /// Takes back the places of sent frames.
    fn reclaim(&mut self) {
        while let Some(place) = self.completion.pop() {
            self.free.push(place);
        }
    }

    /// Takes the oldest frame of an inbox, if there is one.
    fn take(&mut self, port: u16) -> Option<(Arrived, u64)> {
        let inbox = self.inboxes.get_mut(&port)?;
        let frame = inbox.frames.pop_front()?;
        self.held -= 1;
        if inbox.frames.is_empty() {
            let mut rung = [0; 8];
            // The read silences the bell, which was rung when the first frame arrived.
            let _ = rustix::io::read(&inbox.delivery.bell, &mut rung);
        }
        inbox.delivery.waiting.store(inbox.frames.len(), Ordering::Release);
        Some(frame)
    }

    /// Lets the kernel receive into a place again. A frame may begin anywhere in its place, with
    /// the headroom before it.
    fn give_back(&mut self, address: u64, place: usize) {
        self.fill.push(address & !(place as u64 - 1));
    }
}

impl Delivery {
    pub(super) fn new(bell: OwnedFd) -> Arc<Self> {
        Arc::new(Self { waiting: AtomicUsize::new(0), bell })
    }

    /// Makes the bell readable.
    pub(super) fn ring(&self) {
        // The write fails only when the bell is readable already.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }
}

/// Whether an inbox with `waiting` frames takes another frame, when `held` of the `held_max` places
/// for all inboxes are taken. An inbox never gets more places than it leaves free, so even if many
/// inboxes are never emptied, another inbox still gets places.
fn has_room(waiting: usize, held: usize, held_max: usize) -> bool {
    waiting < held_max.saturating_sub(held).min(INBOX_FRAMES)
}

fn register(socket: BorrowedFd<'_>, umem: &Memory, place: usize) -> Result<(), Refused> {
    let registration = XdpUmemReg {
        addr: umem.start().as_ptr().expose_provenance() as u64,
        len: umem.len() as u64,
        chunk_size: place as u32,
        headroom: 0,
        flags: XdpUmemRegFlags::empty(),
        tx_metadata_len: 0,
    };
    sockopt::set_xdp_umem_reg(socket, registration).map_err(|errno| match errno {
        Errno::NOBUFS | Errno::NOMEM => Refused::new(
            "registering the UMEM: the limit for locked memory (ulimit -l) is too low, or CAP_IPC_LOCK is missing",
            errno,
        ),
        _ => Refused::new("registering the UMEM of an AF_XDP socket", errno),
    })
}

fn rings(socket: BorrowedFd<'_>, frames: u32) -> Result<Rings, Error> {
    let sized = Error::system("sizing the rings of an AF_XDP socket");
    sockopt::set_xdp_umem_fill_ring_size(socket, frames).map_err(&sized)?;
    sockopt::set_xdp_umem_completion_ring_size(socket, frames).map_err(&sized)?;
    sockopt::set_xdp_rx_ring_size(socket, frames).map_err(&sized)?;
    sockopt::set_xdp_tx_ring_size(socket, frames).map_err(&sized)?;
    let offsets = sockopt::xdp_mmap_offsets(socket)
        .map_err(Error::system("reading the offsets of the rings of an AF_XDP socket"))?;
    Ok(Rings {
        fill: ProducerRing::new(socket, FILL_RING, &offsets.fr, frames)?,
        completion: ConsumerRing::new(socket, COMPLETION_RING, &offsets.cr, frames)?,
        receive: ConsumerRing::new(socket, RECEIVE_RING, &offsets.rx, frames)?,
        send: ProducerRing::new(socket, SEND_RING, &offsets.tx, frames)?,
        free: Vec::with_capacity(frames as usize),
        inboxes: HashMap::new(),
        held: 0,
    })
}

/// Binds to the queue: without copies if the driver supports that, with the flag for need-wakeup if
/// the kernel supports it. Returns whether frames are moved without copies.
fn bind(socket: BorrowedFd<'_>, interface: &Interface, queue: u32, mode: Mode) -> Result<bool, Refused> {
    // A driver in zero-copy mode would not run a program in the kernel's stack.
    let how = if mode == Mode::Generic { SocketAddrXdpFlags::XDP_COPY } else { SocketAddrXdpFlags::empty() };
    let address = |flags| SocketAddrXdp::new(flags, interface.index, queue);
    let end = Instant::now() + LINGER;
    let bound = loop {
        let bound = match rustix::net::bind(socket, &address(how | SocketAddrXdpFlags::XDP_USE_NEED_WAKEUP)) {
            Err(Errno::INVAL) => rustix::net::bind(socket, &address(how)),
            bound => bound,
        };
        if bound != Err(Errno::BUSY) || Instant::now() > end {
            break bound;
        }
        std::thread::sleep(Duration::from_millis(4));
    };
    bound.map_err(|errno| match errno {
        Errno::INVAL => Refused::new("binding an AF_XDP socket: the interface has no such queue, or no support", errno),
        Errno::BUSY => Refused::new("binding an AF_XDP socket: another socket already has the queue", errno),
        Errno::PERM => Refused::new("binding an AF_XDP socket, which needs CAP_NET_RAW", errno),
        Errno::OPNOTSUPP => Refused::new("binding an AF_XDP socket, which the interface does not support", errno),
        _ => Refused::new("binding an AF_XDP socket", errno),
    })?;
    Ok(sockopt::xdp_options(socket).is_ok_and(|options| options.contains(XdpOptionsFlags::XDP_OPTIONS_ZEROCOPY)))
}

/// Sets a numeric socket option for which rustix has no function.
pub(super) fn set_number(socket: BorrowedFd<'_>, (level, option): (i32, i32), value: i32) -> rustix::io::Result<()> {
    let place = std::ptr::from_ref(&value).cast();
    let length = size_of::<i32>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes at `place`, which is an i32 that outlives the call.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, place, length) };
    if result == 0 { Ok(()) } else { Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}

#[cfg(test)]
mod tests {
    use super::has_room;

    #[test]
    fn full_inboxes_leave_frames_for_other_sockets() {
        const PLACES: usize = 384;
        let mut held = 0;
        let mut fill = || {
            let mut waiting = 0;
            while has_room(waiting, held, PLACES) {
                (waiting, held) = (waiting + 1, held + 1);
            }
            waiting
        };
        let filled: Vec<usize> = (0..6).map(|_| fill()).collect();
        assert!(filled[0] >= 150, "one has much: {filled:?}");
        assert!(filled[5] >= 3, "and another still something: {filled:?}");
    }
}
