//! A connected UDP socket.

use super::connections::Connections;
use super::reports::PortReports;
use crate::Error;
use crate::reliable::{Link, moved};
use crate::sync::lock;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

/// The length of the headers of IPv4 and UDP, RFC 791 and RFC 768, in bytes; and of IPv6, RFC 8200.
const HEADERS: (usize, usize) = (20 + 8, 40 + 8);
/// The maximum payload of a UDP datagram over IPv4, in bytes.
const LONGEST: usize = 65535 - HEADERS.0;
/// A length that every network takes, in bytes: IPv6 demands links of 1280 bytes.
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
}

/// The side of a connection.
#[derive(Debug)]
enum Side {
    Client,
    /// The listener's side, with the listener's connections.
    Server(Arc<Connections>),
}

impl UdpLink {
    /// Makes a socket connected to a server.
    pub(super) fn to_server(server: SocketAddr, buffer: usize, reports: PortReports) -> Result<Self, Error> {
        let mut link = Self::connect(server, None, buffer, Side::Client)?;
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
        })
    }

    /// Returns the number of bytes of datagrams that the socket keeps until the next look.
    pub(super) fn window(&self) -> u32 {
        // The kernel's number includes its own bookkeeping, which takes half of it at worst
        // (socket(7)).
        let kept = sockopt::socket_recv_buffer_size(&*self.fd).unwrap_or(0) / 2;
        u32::try_from(kept).unwrap_or(u32::MAX).max(1 << 16)
    }

    /// Answers a datagram that gives this client a token for a new address. No engine takes such
    /// datagrams.
    fn answer_token(&self, datagram: &[u8]) {
        if let (Side::Client, Some(ids)) = (&self.side, self.ids)
            && let Some(answer) = moved::answer(ids, datagram)
        {
            let _ = rustix::net::send(&*self.fd, &answer, SendFlags::NOSIGNAL);
        }
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

/// Enlarges a socket's buffers as far as is permitted.
pub(super) fn enlarge(fd: &OwnedFd, buffer: usize) {
    if sockopt::set_socket_recv_buffer_size_force(fd, buffer).is_err() {
        // The peer learns of a smaller buffer as a smaller window.
        let _ = sockopt::set_socket_recv_buffer_size(fd, buffer);
    }
    if sockopt::set_socket_send_buffer_size_force(fd, buffer).is_err() {
        let _ = sockopt::set_socket_send_buffer_size(fd, buffer);
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
        match rustix::net::recv(&*self.fd, &mut *into, RecvFlags::DONTWAIT) {
            Ok((length, _)) => {
                self.reports.received();
                self.answer_token(&into[..length]);
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

    fn find_moved(&mut self) {
        if let (Side::Client, Some(claim)) = (&self.side, self.ids.and_then(moved::claim)) {
            let _ = rustix::net::send(&*self.fd, &claim, SendFlags::NOSIGNAL);
        }
    }

    fn peer(&self) -> String {
        lock(&self.peer).to_string()
    }

    fn local(&self) -> Option<String> {
        let name = rustix::net::getsockname(&*self.fd).ok()?;
        SocketAddr::try_from(name).ok().map(|address| address.to_string())
    }
}
