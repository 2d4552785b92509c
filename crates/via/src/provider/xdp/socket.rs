//! A UDP port over an AF_XDP socket.
//!
//! An ordinary UDP socket is bound to the same port. This socket reserves the port, and prevents
//! the kernel from reporting that the port is unreachable. The socket also carries the datagrams
//! that cannot use the ring. They go to hosts whose Ethernet address is not known yet (the kernel
//! then finds the address), or they arrive through another receive queue, with IP options or in
//! fragments.

use super::frames::Headers;
use super::queue::{Delivery, Queue, count, set_number};
use super::{Statistics, Xdp};
use crate::Error;
use crate::reliable::network::DatagramSocket;
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::RecvFlags;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of times that the ring is found empty before the kernel's socket is read, which costs
/// a system call.
const RARELY: u32 = 512;
/// The number of polls, after a datagram arrived at the kernel's socket, in which that socket is
/// read each time.
const OFTEN: u32 = 1024;
/// The number of datagrams found by polling after which the socket offers to be the steward: see
/// [`super::watch`].
const WATCHED: u32 = 64;
/// The number of datagrams after which the kernel is asked again for a peer's Ethernet address.
const ROUTE_CHECK: u32 = 4096;

/// A UDP port whose datagrams go past the kernel's network stack.
#[derive(Debug)]
pub struct XdpSocket {
    queue: Arc<Queue>,
    xdp: Xdp,
    kernel: UdpSocket,
    local: SocketAddrV4,
    delivery: Arc<Delivery>,
    ready: Arc<OwnedFd>,
    watch: Watch,
    peer: Option<Peer>,
    until_kernel: u32,
    often: u32,
}

/// The state of the socket's file: see [`super::watch`].
#[derive(Debug, Default)]
struct Watch {
    // Whether a caller may sleep on the file at any time, without a call of `prepare_sleep`.
    is_for_good: AtomicBool,
    sleepers: u32,
    // The number of datagrams found by polling since the last sleep.
    polled: u32,
    is_steward: bool,
}

#[derive(Debug)]
struct Peer {
    address: SocketAddrV4,
    headers: Option<Headers>,
    until_check: u32,
}

impl XdpSocket {
    pub(super) fn bind(xdp: &Xdp, port: u16) -> Result<Self, Error> {
        let queue = Arc::clone(&xdp.queue);
        let kernel = UdpSocket::bind((queue.interface.address, port)).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => Error::NameInUse { name: port.to_string(), pid: None },
            _ => Error::io("binding a UDP port")(error),
        })?;
        // ICMP reports a closed port. With this option, the report reaches a socket without a peer
        // as well.
        set_number(kernel.as_fd(), (libc::IPPROTO_IP, libc::IP_RECVERR), 1)
            .map_err(Error::system("preparing a UDP port"))?;
        kernel.set_nonblocking(true).map_err(Error::io("preparing a UDP port"))?;
        let SocketAddr::V4(local) = kernel.local_addr().map_err(Error::io("reading the number of a UDP port"))? else {
            return Err(Error::BadState { what: "the UDP port has no IPv4 address" });
        };
        let bell =
            eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(Error::system("making an eventfd"))?;
        let delivery = Delivery::new(bell);
        let ready = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(Error::system("creating an epoll instance"))?;
        let watched = Error::system("watching an AF_XDP socket");
        let (data, flags) = (epoll::EventData::new_u64(0), epoll::EventFlags::IN);
        epoll::add(&ready, &delivery.bell, data, flags).map_err(&watched)?;
        epoll::add(&ready, &kernel, data, flags).map_err(&watched)?;
        queue.attach_port(local.port(), &delivery)?;
        let ready = Arc::new(ready);
        queue.watchers.add(local.port(), &ready);
        let (watch, xdp) = (Watch::default(), xdp.clone());
        Ok(Self { queue, xdp, kernel, local, delivery, ready, watch, peer: None, until_kernel: RARELY, often: 0 })
    }

    /// Returns the address and port.
    pub fn address(&self) -> SocketAddrV4 {
        self.local
    }

    /// Restricts the socket to datagrams to and from this peer.
    pub fn connect(&mut self, peer: SocketAddrV4) {
        self.peer = Some(Peer { address: peer, headers: None, until_check: 0 });
    }

    /// Returns the peer, where there is one.
    pub fn peer(&self) -> Option<SocketAddrV4> {
        self.peer.as_ref().map(|peer| peer.address)
    }

    /// Returns the maximum length of a datagram, in bytes.
    pub fn mtu(&self) -> usize {
        self.queue.datagram_max()
    }

    /// Sends a datagram to the peer. Returns `false` when there is no room now.
    ///
    /// # Errors
    ///
    /// [`Error::BadState`] without a peer, [`Error::TooLong`] beyond [`Self::mtu`], an error of the
    /// system.
    pub fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        let Some(peer) = &mut self.peer else {
            return Err(Error::BadState { what: "the socket has no peer" });
        };
        if peer.until_check == 0 {
            peer.until_check = ROUTE_CHECK;
            if let Some(headers) = route(&self.xdp, &self.kernel, self.local, peer.address) {
                peer.headers = Some(headers);
            }
        }
        peer.until_check -= 1;
        let address = peer.address;
        match &peer.headers {
            Some(headers) => self.queue.send(headers, datagram),
            None => {
                // The kernel may know the address the next time.
                peer.until_check = 0;
                self.send_by_kernel(datagram, address)
            }
        }
    }

    /// Sends a datagram to any address. Returns `false` when there is no room now.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] beyond [`Self::mtu`], an error of the system.
    #[inline]
    pub fn send_to(&mut self, datagram: &[u8], to: SocketAddrV4) -> Result<bool, Error> {
        if self.peer() == Some(to) {
            return self.send(datagram);
        }
        match route(&self.xdp, &self.kernel, self.local, to) {
            Some(headers) => self.queue.send(&headers, datagram),
            None => self.send_by_kernel(datagram, to),
        }
    }

    fn send_by_kernel(&self, datagram: &[u8], to: SocketAddrV4) -> Result<bool, Error> {
        let limit = self.mtu();
        if datagram.len() > limit {
            return Err(Error::TooLong { length: datagram.len() as u64, limit: limit as u64 });
        }
        count(&self.queue.counts.by_kernel_sent);
        match self.kernel.send_to(datagram, to) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            // A datagram to an unreachable host counts as lost.
            Err(error) if is_loss(&error) => Ok(true),
            Err(error) => Err(Error::io("sending a datagram")(error)),
        }
    }

    /// Receives the next datagram, if one has arrived, and returns its length and its sender.
    ///
    /// Drops a datagram that is longer than `into`.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where a host reported that a datagram went to a closed port; an error of
    /// the system.
    pub fn receive(&mut self, into: &mut [u8]) -> Result<Option<(usize, SocketAddrV4)>, Error> {
        let wanted = self.peer();
        if let Some(datagram) = self.queue.receive(self.local.port(), &self.delivery, wanted, into)? {
            return Ok(Some(datagram));
        }
        self.until_kernel -= 1;
        if self.until_kernel > 0 {
            return Ok(None);
        }
        self.often = self.often.saturating_sub(1);
        self.until_kernel = if self.often > 0 { 1 } else { RARELY };
        // TRUNC returns the full length of a datagram that does not fit.
        let received = rustix::net::recvfrom(&self.kernel, &mut *into, RecvFlags::DONTWAIT | RecvFlags::TRUNC);
        match received
            .map_err(io::Error::from)
            .map(|(_, length, from)| (length, from.and_then(|from| from.try_into().ok())))
        {
            Ok((length, Some(SocketAddr::V4(from))))
                if length <= into.len() && wanted.is_none_or(|wanted| wanted == from) =>
            {
                (self.until_kernel, self.often) = (1, OFTEN);
                count(&self.queue.counts.by_kernel_received);
                Ok(Some((length, from)))
            }
            // The datagram is from another sender, or too long.
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                // ICMP messages lie in a queue of their own, and keep the file readable.
                while rustix::net::recv(&self.kernel, &mut into[..], RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT).is_ok()
                {
                }
                let name = wanted.map_or_else(String::new, |wanted| wanted.to_string());
                Err(Error::NotFound { name })
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock || is_loss(&error) => Ok(None),
            Err(error) => Err(Error::io("receiving a datagram")(error)),
        }
    }

    /// Returns a file that is readable when a datagram has arrived. Several calls of
    /// [`Self::receive`] may return `None` before one returns the datagram.
    pub fn file(&self) -> Arc<OwnedFd> {
        self.watch.is_for_good.store(true, Ordering::Relaxed);
        self.watch();
        Arc::clone(&self.ready)
    }

    /// Makes the file readable when a frame arrives, or at once if a frame has arrived before.
    fn watch(&self) {
        if !self.queue.watchers.want(self.local.port(), self.queue.file()) {
            // The file cannot watch the queue for lack of memory, so the bell ends the thread's
            // sleep at once.
            self.delivery.ring();
        }
    }

    /// Counts a datagram found by polling. After enough of them without a sleep, the socket becomes
    /// the steward if there is none, and its file stops watching the queue.
    fn polled(&mut self) {
        let watch = &mut self.watch;
        if watch.is_steward || watch.sleepers > 0 || *watch.is_for_good.get_mut() {
            return;
        }
        watch.polled += 1;
        if watch.polled.is_multiple_of(WATCHED) {
            watch.is_steward = self.queue.watchers.take_over(self.local.port(), self.queue.file());
        }
    }

    /// Returns the counters of the queue so far, for all sockets.
    pub fn statistics(&self) -> Statistics {
        self.queue.statistics()
    }
}

impl DatagramSocket for XdpSocket {
    fn mtu(&self) -> usize {
        self.mtu()
    }

    fn address(&self) -> SocketAddr {
        self.local.into()
    }

    fn set_peer(&mut self, peer: SocketAddr) {
        if let SocketAddr::V4(peer) = peer {
            self.connect(peer);
        }
    }

    fn send_to(&mut self, datagram: &[u8], to: SocketAddr) -> Result<bool, Error> {
        match to {
            SocketAddr::V4(to) => self.send_to(datagram, to),
            SocketAddr::V6(_) => Err(Error::Unsupported { provider: "xdp", what: "IPv6" }),
        }
    }

    fn receive_from(&mut self, into: &mut [u8]) -> Result<Option<(usize, SocketAddr)>, Error> {
        let received = self.receive(into)?;
        if received.is_some() {
            // Only sockets of VIs count polled datagrams, and so can become the steward. An
            // attendant has to notice when no thread polls the steward any more, and a socket that
            // is used directly has no attendant.
            self.polled();
        }
        Ok(received.map(|(length, from)| (length, from.into())))
    }

    fn file(&self) -> Option<Arc<OwnedFd>> {
        Some(self.file())
    }

    fn prepare_sleep(&mut self) -> Option<Arc<OwnedFd>> {
        self.watch.sleepers += 1;
        (self.watch.polled, self.watch.is_steward) = (0, false);
        self.watch();
        Some(Arc::clone(&self.ready))
    }

    fn end_sleep(&mut self) {
        self.watch.sleepers = self.watch.sleepers.saturating_sub(1);
    }
}

impl Drop for XdpSocket {
    fn drop(&mut self) {
        self.queue.watchers.remove(self.local.port(), self.queue.file());
        self.queue.detach_port(self.local.port());
    }
}

/// Returns the headers of frames to an address, if the Ethernet address of its host is known.
fn route(xdp: &Xdp, kernel: &UdpSocket, local: SocketAddrV4, to: SocketAddrV4) -> Option<Headers> {
    let interface = &xdp.queue.interface;
    // Frames to this network namespace never go over the wire.
    let is_here = *to.ip() == interface.address || to.ip().is_loopback();
    let given = |host: &Ipv4Addr| xdp.neighbours.iter().find(|(other, _)| other == host).map(|(_, mac)| *mac);
    let mac = given(to.ip()).or_else(|| interface.neighbour(kernel, *to.ip()).filter(|_| !is_here))?;
    Some(Headers::new((interface.mac, mac), local, to))
}

/// Whether an error says that a datagram, or an earlier one, was lost on its way.
fn is_loss(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, Interrupted, NetworkDown, NetworkUnreachable};
    matches!(error.kind(), ConnectionRefused | HostUnreachable | Interrupted | NetworkDown | NetworkUnreachable)
}
