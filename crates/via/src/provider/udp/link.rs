//! A connected UDP socket.

use super::connections::Connections;
use super::reports::PortReports;
use super::socket::{CAPABLE, CONGESTED, ask_for_marks, enlarge, receive_marked, send_mark};
use crate::Error;
use crate::reliable::moved::{self, ClaimAnswer, Claims};
use crate::reliable::{Link, Marks, MoveKey};
use crate::sync::lock;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

/// The length of the headers of IPv4 and UDP (RFC 791, RFC 768), and of IPv6 (RFC 8200) and UDP, in
/// bytes.
const HEADERS: (usize, usize) = (20 + 8, 40 + 8);
/// The maximum payload of a UDP datagram over IPv4, in bytes.
const LONGEST: usize = 65535 - HEADERS.0;
/// A payload length that every network carries, in bytes: IPv6 demands links of 1280 bytes.
const SAFE: usize = 1280 - HEADERS.1;

/// A connected UDP socket.
#[derive(Debug)]
pub(super) struct UdpLink {
    fd: Arc<OwnedFd>,
    peer: Arc<Mutex<SocketAddr>>,
    mtu: usize,
    side: Side,
    reports: PortReports,
    // The connection's ids, once it is open: of this end and of the peer.
    ids: Option<[u64; 2]>,
    reads_marks: bool,
    marks: Marks,
}

/// The side of a connection.
#[derive(Debug)]
enum Side {
    /// The client's side, with its claims to have moved.
    Client(Claims),
    /// The listener's side, with the listener's connections.
    Server(Arc<Connections>),
}

impl UdpLink {
    /// Makes a socket connected to a server.
    pub(super) fn to_server(server: SocketAddr, buffer: usize, reports: PortReports) -> Result<Self, Error> {
        let mut link = Self::connect(server, None, buffer, Side::Client(Claims::default()))?;
        link.reports = reports;
        Ok(link)
    }

    /// Makes a socket connected to a client. Binds the socket to the address `own`, which it shares
    /// with other sockets of this user. `connections` are those of the listener.
    pub(super) fn to_client(
        client: SocketAddr,
        own: SocketAddr,
        buffer: usize,
        connections: Arc<Connections>,
    ) -> Result<Self, Error> {
        Self::connect(client, Some(own), buffer, Side::Server(connections))
    }

    fn connect(peer: SocketAddr, own: Option<SocketAddr>, buffer: usize, side: Side) -> Result<Self, Error> {
        let family = if peer.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = rustix::net::socket_with(family, SocketType::DGRAM, flags, None)
            .map_err(Error::system("making a UDP socket"))?;
        if let Some(own) = own {
            sockopt::set_socket_reuseport(&fd, true).map_err(Error::system("sharing a UDP port"))?;
            rustix::net::bind(&fd, &own).map_err(Error::system("binding a UDP socket"))?;
        }
        let is_mapped = |address: SocketAddr| matches!(address.ip(), IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some());
        let is_four = peer.is_ipv4() || is_mapped(peer);
        // If these options cannot be set, the network fragments packets that are too long instead
        // of dropping them, and the probes find too large a length. Connections get slower, but
        // stay correct.
        if peer.is_ipv4() {
            let _ = sockopt::set_ip_mtu_discover(&fd, sockopt::Ipv4PathMtuDiscovery::PROBE);
        } else {
            let _ = sockopt::set_ipv6_mtu_discover(&fd, sockopt::Ipv6PathMtuDiscovery::PROBE);
        }
        enlarge(&fd, buffer);
        ask_for_marks(&fd);
        rustix::net::connect(&fd, &peer).map_err(Error::system("connecting a UDP socket"))?;
        let mtu = if peer.is_ipv4() { sockopt::ip_mtu(&fd) } else { sockopt::ipv6_mtu(&fd) };
        let headers = if is_four { HEADERS.0 } else { HEADERS.1 };
        let mtu = mtu.map_or(SAFE, |mtu| (mtu as usize).saturating_sub(headers)).clamp(SAFE, LONGEST);
        Ok(Self {
            fd: Arc::new(fd),
            peer: Arc::new(Mutex::new(peer)),
            mtu,
            side,
            reports: PortReports::default(),
            ids: None,
            reads_marks: false,
            marks: Marks::default(),
        })
    }

    /// Returns the number of bytes of datagrams that the socket buffers until they are received.
    pub(super) fn window(&self) -> u32 {
        // The kernel's number includes the memory for the kernel's bookkeeping, which is at most
        // half of the number (socket(7)).
        let kept = sockopt::socket_recv_buffer_size(&*self.fd).unwrap_or(0) / 2;
        u32::try_from(kept).unwrap_or(u32::MAX).max(1 << 16)
    }

    /// Processes a datagram about the client's claim to have moved: the claim itself, or the
    /// server's answer. No engine takes such datagrams.
    fn take_claim(&mut self, datagram: &[u8]) -> Result<(), Error> {
        let Some(ids) = self.ids else { return Ok(()) };
        match &mut self.side {
            Side::Server(connections) => connections.note_claim(ids, datagram),
            Side::Client(claims) => match moved::answer(ids, datagram) {
                Some(ClaimAnswer::Token(token)) => {
                    if let Some(claim) = claims.return_token(token, ids) {
                        let _ = rustix::net::send(&*self.fd, &claim, SendFlags::NOSIGNAL);
                    }
                }
                Some(ClaimAnswer::Unknown) => return Err(self.hint()),
                None => {}
            },
        }
        Ok(())
    }

    fn receive_next(&mut self, into: &mut [u8]) -> Result<usize, Errno> {
        if !self.reads_marks {
            return rustix::net::recv(&*self.fd, into, RecvFlags::DONTWAIT).map(|(length, _)| length);
        }
        let received = receive_marked(&self.fd, into);
        let (length, mark) = received.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        self.marks.capable = self.marks.capable.wrapping_add((mark == CAPABLE || mark == CONGESTED).into());
        self.marks.congested = self.marks.congested.wrapping_add((mark == CONGESTED).into());
        Ok(length)
    }

    fn hint(&self) -> Error {
        Error::NotFound { name: self.peer() }
    }
}

impl Drop for UdpLink {
    fn drop(&mut self) {
        if let (Side::Server(connections), Some([own, _])) = (&self.side, self.ids) {
            connections.remove(own);
        }
    }
}

impl Link for UdpLink {
    fn mtu(&self) -> usize {
        self.mtu
    }

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        match rustix::net::send(&*self.fd, datagram, SendFlags::NOSIGNAL) {
            Ok(_) => Ok(true),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => Ok(false),
            Err(Errno::CONNREFUSED) => {
                // The error is about an earlier datagram, and this datagram was not sent.
                let _ = rustix::net::send(&*self.fd, datagram, SendFlags::NOSIGNAL);
                self.reports.reported();
                Err(self.hint())
            }
            // The maximum length of the network interface has become smaller.
            Err(Errno::MSGSIZE) => {
                let length = datagram.len() as u64;
                Err(Error::TooLong { length, limit: length.saturating_sub(1) })
            }
            Err(errno) => Err(Error::system("sending a datagram")(errno)),
        }
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        match self.receive_next(into) {
            Ok(length) => {
                self.reports.received();
                self.take_claim(&into[..length])?;
                Ok(Some(length))
            }
            Err(Errno::AGAIN | Errno::INTR) if self.reports.has_new() => Err(self.hint()),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(Errno::CONNREFUSED) => {
                self.reports.reported();
                Err(self.hint())
            }
            Err(errno) => Err(Error::system("receiving a datagram")(errno)),
        }
    }

    fn file(&self) -> Option<Arc<OwnedFd>> {
        Some(Arc::clone(&self.fd))
    }

    fn opened(&mut self, ids: [u64; 2]) {
        self.ids = Some(ids);
        if let Side::Server(connections) = &self.side {
            connections.add(ids, &self.fd, &self.peer);
        }
    }

    fn take_report(&mut self) -> bool {
        self.reports.take_own() && matches!(self.side, Side::Client(_))
    }

    fn find_moved(&mut self) {
        if let (Side::Client(claims), Some(ids)) = (&mut self.side, self.ids)
            && let Some(claim) = claims.claim(ids)
        {
            let _ = rustix::net::send(&*self.fd, &claim, SendFlags::NOSIGNAL);
        }
    }

    fn seal_moves(&mut self, key: &MoveKey) {
        match (&mut self.side, self.ids) {
            (Side::Client(claims), _) => claims.seal_with(key.clone()),
            (Side::Server(connections), Some([own, _])) => connections.seal_moves(own, key),
            (Side::Server(_), None) => {}
        }
    }

    fn require_seals(&mut self) {
        if let (Side::Server(connections), Some([own, _])) = (&self.side, self.ids) {
            connections.require_seals(own);
        }
    }

    fn send_marks(&mut self, sends: bool) {
        send_mark(&self.fd, if sends { CAPABLE } else { 0 });
    }

    fn read_marks(&mut self, reads: bool) {
        self.reads_marks = reads;
    }

    fn marks(&self) -> Marks {
        self.marks
    }

    fn peer(&self) -> String {
        lock(&self.peer).to_string()
    }

    fn local(&self) -> Option<String> {
        let name = rustix::net::getsockname(&*self.fd).ok()?;
        SocketAddr::try_from(name).ok().map(|address| address.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::reports::PortReports;
    use super::*;
    use std::net::UdpSocket;
    use std::time::Instant;

    /// Makes two ends of a connection at this address.
    fn pair(address: &str) -> [UdpLink; 2] {
        let socket = UdpSocket::bind(address).unwrap();
        let here = socket.local_addr().unwrap();
        let one = UdpLink::to_server(here, 1 << 16, PortReports::default()).unwrap();
        drop(socket);
        let there = one.local().unwrap().parse().unwrap();
        let other = UdpLink::to_client(there, here, 1 << 16, Arc::default()).unwrap();
        [one, other]
    }

    #[test]
    #[cfg_attr(miri, ignore = "makes sockets")]
    fn marks_of_datagrams_are_counted_while_they_are_read() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let [mut one, mut other] = pair(address);
            for (mark, reads, capable, congested) in [
                (0, true, 0, 0),
                (CAPABLE, true, 1, 0),
                (CONGESTED, true, 2, 1),
                (CONGESTED, false, 2, 1),
                (1, true, 2, 1),
            ] {
                send_mark(&one.fd, mark);
                other.read_marks(reads);
                assert!(one.send(b"hello").unwrap());
                let (mut bytes, began) = ([0; 100], Instant::now());
                let length = loop {
                    if let Some(length) = other.receive(&mut bytes).unwrap() {
                        break length;
                    }
                    assert!(began.elapsed() < ground::LATEST, "nothing arrives");
                };
                assert_eq!(
                    (&bytes[..length], other.marks()),
                    (&b"hello"[..], Marks { capable, congested }),
                    "{address}"
                );
            }
            one.send_marks(true);
            one.send(b"hello").unwrap();
            one.send_marks(false);
        }
    }
}
