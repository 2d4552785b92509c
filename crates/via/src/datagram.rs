//! Datagrams of UDP, for protocols that the standard carries that way: one socket, and the places that it says things to.
//!
//! Every wait has a deadline, and one that receives can be ended from another thread. Where the environment names a capture
//! ([`SharedCapture`](crate::wrap::SharedCapture)), what goes through a socket is written there.

use crate::bell::Bell;
use crate::wrap::Conversations;
use crate::{Deadline, Error};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, sockopt};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::str::FromStr;

/// The longest payload of a UDP datagram, over IPv4: RFC 768, RFC 791.
pub const LONGEST: usize = 65507;
/// Bytes that a socket is to keep until somebody looks, where the system lets it.
const BUFFER: usize = 1 << 20;

/// One end of a way that datagrams take: a port of a host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(SocketAddr);

impl Place {
    /// The host.
    pub fn host(self) -> Host {
        Host(self.0.ip().to_canonical())
    }

    /// The port.
    pub fn port(self) -> u16 {
        self.0.port()
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
        let bad = |_| Error::BadAddress { text: text.to_owned(), why: "it is no numeric address with a port" };
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

/// A host, by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host(IpAddr);

impl Host {
    /// None that a datagram can be from.
    pub const NONE: Self = Self(IpAddr::V4(Ipv4Addr::UNSPECIFIED));

    /// Whether it is this one, reached by an address that leads nowhere else.
    pub fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A UDP socket. Any thread may send, and one at a time receives.
#[derive(Debug)]
pub struct DatagramSocket {
    socket: UdpSocket,
    // Readable while somebody wants the receiving thread.
    bell: Bell,
    local: SocketAddr,
    peer: Option<Place>,
    /// Where this process has a capture.
    captured: Option<Conversations>,
}

/// What came of looking for a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// There is none.
    Nothing,
    /// One of so many bytes from a place.
    Datagram(usize, Place),
    /// The network says that nobody is where one was sent. It may say so of somebody who is.
    Refused,
}

impl DatagramSocket {
    /// A socket on a port of an address of this host, which for an empty one are all; port 0 is one that is free.
    ///
    /// # Errors
    ///
    /// [`Error::NameInUse`] for a port that is in use; when the address is not this host's.
    pub fn bind(host: &str, port: u16) -> Result<Self, Error> {
        let host = if host.is_empty() { "0.0.0.0" } else { host };
        let socket = UdpSocket::bind((host, port)).map_err(|source| match source.kind() {
            std::io::ErrorKind::AddrInUse => Error::NameInUse { name: format!("{host}:{port}"), pid: None },
            _ => Error::System { doing: "binding a UDP socket", source },
        })?;
        Self::new(socket, None)
    }

    /// A socket that sends to one port of a host, and hears nobody else; an empty host is this one. Of a name's addresses it is the first:
    /// whether somebody is there, only an answer tells.
    ///
    /// # Errors
    ///
    /// [`Error::BadAddress`] when there is no such host.
    pub fn connect(host: &str, port: u16) -> Result<Self, Error> {
        let host = if host.is_empty() { "localhost" } else { host };
        let unknown =
            || Error::BadAddress { text: host.to_owned(), why: "the host's name is not known, or has no address" };
        let place = (host, port).to_socket_addrs().map_err(|_| unknown())?.next().ok_or_else(unknown)?;
        let own = if place.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(own).map_err(Error::io("binding a UDP socket"))?;
        socket.connect(place).map_err(Error::io("connecting a UDP socket"))?;
        Self::new(socket, Some(place.into()))
    }

    fn new(socket: UdpSocket, peer: Option<Place>) -> Result<Self, Error> {
        let doing = "preparing a UDP socket";
        socket.set_nonblocking(true).map_err(Error::io(doing))?;
        let local = socket.local_addr().map_err(Error::io(doing))?;
        // What does not fit is lost, and sent again: slower, not wrong.
        if sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER).is_err() {
            let _ = sockopt::set_socket_recv_buffer_size(&socket, BUFFER);
        }
        Ok(Self { socket, bell: Bell::new()?, local, peer, captured: Conversations::of_datagrams(local)? })
    }

    /// Sends a datagram: to the place where one is given, or else where the socket is connected to. It may get lost on the way, and does
    /// when the system has no room for it. False where the network has said meanwhile that nobody is there.
    ///
    /// # Errors
    ///
    /// What the system says against it, as of a datagram that is too long.
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
                // That is about an earlier one, and this one was not sent.
                Err(Errno::CONNREFUSED) if is_there => is_there = false,
                Err(Errno::CONNREFUSED | Errno::HOSTUNREACH | Errno::NETUNREACH) => return Ok(false),
                Err(errno) => return Err(Error::system("sending a datagram")(errno)),
            }
        }
    }

    /// Takes a datagram that is there. What does not fit into the room is cut off; [`LONGEST`] bytes are room for all.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn receive(&self, room: &mut [u8]) -> Result<Received, Error> {
        loop {
            match rustix::net::recvfrom(&self.socket, &mut *room, RecvFlags::DONTWAIT) {
                Ok((count, _, from)) => {
                    // Of a connected socket it is known.
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

    /// Waits until there is something to receive.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`], [`Error::Cancelled`] after [`Self::interrupt`].
    pub fn wait(&self, deadline: Deadline) -> Result<(), Error> {
        self.bell.wait_for(&self.socket, deadline)
    }

    /// Ends the wait of the thread that receives, or its next one.
    pub fn interrupt(&self) {
        self.bell.ring();
    }

    /// The port that it has.
    pub fn port(&self) -> u16 {
        self.local.port()
    }

    /// The host that this end is, where the socket is bound to one of this host's addresses.
    pub fn local_host(&self) -> Option<Host> {
        Some(Place(self.local).host()).filter(|host| !host.0.is_unspecified())
    }

    /// Where it is connected to.
    pub fn peer(&self) -> Option<Place> {
        self.peer
    }

    /// Bytes of datagrams that it keeps until somebody looks.
    pub fn room(&self) -> usize {
        // What the system says includes its own bookkeeping, which is as much again at worst (socket(7)).
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
        let client = DatagramSocket::connect("127.0.0.1", server.port()).unwrap();
        (server, client)
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn what_is_sent_is_received_with_its_sender() {
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
    fn a_port_without_anybody_is_noticed() {
        let (server, client) = pair();
        drop(server);
        client.send(&[1], None).unwrap();
        client.wait(SOON).unwrap();
        assert_eq!(client.receive(&mut [0; 9]).unwrap(), Received::Refused);
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn every_wait_ends() {
        let (server, _client) = pair();
        assert!(matches!(server.wait(Deadline::Within(Duration::from_millis(20))), Err(Error::TimedOut)));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| server.wait(SOON));
            server.interrupt();
            assert!(matches!(waiting.join().unwrap(), Err(Error::Cancelled)));
        });
    }
}
