//! UDP sockets, for protocols whose standards ask for datagrams.
//!
//! Every wait has a deadline, and another thread can end a wait for a datagram. If the environment
//! names a capture ([`SharedCapture`](crate::wrap::SharedCapture)), the datagrams of each socket
//! are written to the capture.

pub use crate::host::Host;

use crate::bell::Bell;
use crate::host::mapped;
use crate::names::addresses;
use crate::wrap::Conversations;
use crate::{Deadline, Error};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, sockopt};
use std::fmt;
use std::net::{SocketAddr, UdpSocket};
use std::str::FromStr;

/// The maximum payload of a UDP datagram over IPv4, in bytes: RFC 768, RFC 791.
pub const LONGEST: usize = 65507;
/// The size of the receive buffer that a socket requests from the system, in bytes.
const BUFFER: usize = 1 << 20;

/// An endpoint of datagrams: a host and a port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(SocketAddr);

impl Place {
    /// Returns the host.
    pub fn host(self) -> Host {
        self.0.ip().into()
    }

    /// Returns the port.
    pub fn port(self) -> u16 {
        self.0.port()
    }

    /// Returns the address and the port as bytes. An IPv4 address is mapped to IPv6 (RFC 4291
    /// 2.5.5.2).
    pub fn octets(self) -> [u8; 18] {
        let mut octets = [0; 18];
        octets[..16].copy_from_slice(&mapped(self.0.ip()).octets());
        octets[16..].copy_from_slice(&self.port().to_be_bytes());
        octets
    }
}

impl From<SocketAddr> for Place {
    fn from(address: SocketAddr) -> Self {
        Self(address)
    }
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bad = |_| Error::BadAddress { text: text.to_owned(), why: "expected a numeric address with a port" };
        text.parse().map(Self).map_err(bad)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A UDP socket. Any thread may send; one thread at a time receives.
#[derive(Debug)]
pub struct DatagramSocket {
    socket: UdpSocket,
    // Rung to end the wait of the receiving thread.
    bell: Bell,
    local: SocketAddr,
    peer: Option<Place>,
    /// The capture of the socket's datagrams, where this process has one.
    captured: Option<Conversations>,
}

/// The outcome of a check for a received datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// No datagram has arrived.
    Nothing,
    /// A datagram: its length in bytes, and its sender.
    Datagram(usize, Place),
    /// The network reports that no socket listens at an address to which a datagram was sent. Such
    /// a report may be false.
    Refused,
}

impl DatagramSocket {
    /// Makes a socket on a port of an address of this host. An empty host means all addresses, and
    /// port 0 means a free port.
    ///
    /// # Errors
    ///
    /// [`Error::NameInUse`] for a port that is in use; another error when the address is not this
    /// host's.
    pub fn bind(host: &str, port: u16) -> Result<Self, Error> {
        let host = if host.is_empty() { "0.0.0.0" } else { host };
        let socket = UdpSocket::bind((host, port)).map_err(|source| match source.kind() {
            std::io::ErrorKind::AddrInUse => Error::NameInUse { name: format!("{host}:{port}"), pid: None },
            _ => Error::System { doing: "binding a UDP socket", source },
        })?;
        Self::new(socket, None)
    }

    /// Makes a socket that sends to one port of a host, and receives from that port alone. An empty
    /// `host` is this host. If a host name has several addresses, the socket uses the first,
    /// because only an answer would show which address has a server.
    ///
    /// # Errors
    ///
    /// As for [`addresses`]; another error when the system refuses the socket, or the capture
    /// cannot be written.
    pub fn connect(host: &str, port: u16, deadline: Deadline) -> Result<Self, Error> {
        let host = if host.is_empty() { "localhost" } else { host };
        let found = addresses(host, port, deadline)?;
        let unknown = || Error::BadAddress { text: host.to_owned(), why: "the host name has no address" };
        let place = *found.first().ok_or_else(unknown)?;
        let own = if place.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(own).map_err(Error::io("binding a UDP socket"))?;
        socket.connect(place).map_err(Error::io("connecting a UDP socket"))?;
        Self::new(socket, Some(place.into()))
    }

    fn new(socket: UdpSocket, peer: Option<Place>) -> Result<Self, Error> {
        let doing = "preparing a UDP socket";
        socket.set_nonblocking(true).map_err(Error::io(doing))?;
        let local = socket.local_addr().map_err(Error::io(doing))?;
        // Datagrams that do not fit are lost and sent again, so a small buffer only costs speed.
        if sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER).is_err() {
            let _ = sockopt::set_socket_recv_buffer_size(&socket, BUFFER);
        }
        Ok(Self { socket, bell: Bell::new()?, local, peer, captured: Conversations::of_datagrams(local)? })
    }

    /// Sends a datagram to `to`, or to the connected peer if `to` is `None`. The datagram may get
    /// lost on the way, and is lost when the system has no room for it. Returns `false` if the
    /// network reported that no socket listens at the destination. The report may be about this
    /// datagram or an earlier one.
    ///
    /// # Errors
    ///
    /// An error of the system, for instance because the datagram is too long.
    pub fn send(&self, datagram: &[u8], to: Option<Place>) -> Result<bool, Error> {
        if let (Some(captured), Some(Place(peer))) = (&self.captured, to.or(self.peer)) {
            captured.sent(peer, datagram);
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let mut is_there = true;
        loop {
            let sent = match to {
                Some(Place(to)) => rustix::net::sendto(&self.socket, datagram, flags, &to),
                None => rustix::net::send(&self.socket, datagram, flags),
            };
            match sent {
                Ok(_) | Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => return Ok(is_there),
                Err(Errno::INTR) => {}
                // The error is about an earlier datagram, and this datagram was not sent.
                Err(Errno::CONNREFUSED) if is_there => is_there = false,
                Err(Errno::CONNREFUSED | Errno::HOSTUNREACH | Errno::NETUNREACH) => return Ok(false),
                Err(errno) => return Err(Error::system("sending a datagram")(errno)),
            }
        }
    }

    /// Takes a datagram that has arrived, and cuts off the bytes that do not fit into `room`. A
    /// `room` of [`LONGEST`] bytes holds any datagram over IPv4.
    ///
    /// # Errors
    ///
    /// An error of the system.
    pub fn receive(&self, room: &mut [u8]) -> Result<Received, Error> {
        loop {
            match rustix::net::recvfrom(&self.socket, &mut *room, RecvFlags::DONTWAIT) {
                Ok((count, _, from)) => {
                    // On a connected socket, the sender is the peer.
                    let from = from.and_then(|from| SocketAddr::try_from(from).ok()).map(Place).or(self.peer);
                    let count = count.min(room.len());
                    if let (Some(captured), Some(Place(peer))) = (&self.captured, from) {
                        captured.received(peer, &room[..count]);
                    }
                    return Ok(from.map_or(Received::Nothing, |from| Received::Datagram(count, from)));
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(Received::Nothing),
                Err(Errno::CONNREFUSED | Errno::HOSTUNREACH | Errno::NETUNREACH) => return Ok(Received::Refused),
                Err(errno) => return Err(Error::system("receiving a datagram")(errno)),
            }
        }
    }

    /// Waits until a datagram has arrived.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] at the deadline; [`Error::Cancelled`] after [`Self::interrupt`].
    pub fn wait(&self, deadline: Deadline) -> Result<(), Error> {
        self.bell.wait_for(&self.socket, deadline)
    }

    /// Ends the receiving thread's current wait, or else its next wait.
    pub fn interrupt(&self) {
        self.bell.ring();
    }

    /// Returns the local port.
    pub fn port(&self) -> u16 {
        self.local.port()
    }

    /// Returns the local host, or `None` if the socket is bound to all addresses of this host.
    pub fn local_host(&self) -> Option<Host> {
        Some(Place(self.local).host()).filter(|_| !self.local.ip().is_unspecified())
    }

    /// Returns the peer, or `None` if the socket is not connected.
    pub fn peer(&self) -> Option<Place> {
        self.peer
    }

    /// Returns the minimum number of payload bytes that the system can buffer for this socket; 0 if
    /// the number is not known.
    pub fn room(&self) -> usize {
        // The system's number includes the memory for the system's bookkeeping, which is at most
        // half of the number (socket(7)).
        sockopt::socket_recv_buffer_size(&self.socket).unwrap_or(0) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    const SOON: Deadline = Deadline::after_secs(20);

    fn pair() -> (DatagramSocket, DatagramSocket) {
        let server = DatagramSocket::bind("127.0.0.1", 0).unwrap();
        let client = DatagramSocket::connect("127.0.0.1", server.port(), SOON).unwrap();
        (server, client)
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn datagrams_are_received_with_their_sender() {
        let (server, client) = pair();
        let mut room = vec![0; LONGEST];
        assert_eq!(server.receive(&mut room).unwrap(), Received::Nothing);
        for length in [0, 1, 1464, LONGEST] {
            let datagram: Vec<u8> = (0..length).map(|at| at as u8).collect();
            assert!(client.send(&datagram, None).unwrap());
            server.wait(SOON).unwrap();
            let Received::Datagram(count, from) = server.receive(&mut room).unwrap() else { panic!("nothing came") };
            assert!(room[..count] == datagram && from.port() == client.port() && from.host().is_loopback());
            assert!(server.send(&datagram, Some(from)).unwrap());
            client.wait(SOON).unwrap();
            let back = client.receive(&mut room).unwrap();
            assert_eq!(back, Received::Datagram(length, client.peer().unwrap()));
        }
        assert!(client.send(&[0; LONGEST + 1], None).is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn datagrams_to_a_closed_port_report_the_refusal() {
        let (server, client) = pair();
        drop(server);
        client.send(&[1], None).unwrap();
        client.wait(SOON).unwrap();
        assert_eq!(client.receive(&mut [0; 9]).unwrap(), Received::Refused);
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn datagram_waits_end_by_deadline_and_interruption() {
        let (server, _client) = pair();
        assert!(matches!(server.wait(Deadline::Within(Duration::from_millis(20))), Err(Error::TimedOut)));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| server.wait(SOON));
            server.interrupt();
            assert!(matches!(waiting.join().unwrap(), Err(Error::Cancelled)));
        });
    }
}
