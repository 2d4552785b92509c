//! Streams of bytes, TCP connections and Unix sockets: what the standard's protocols go by, which are no virtual interface's.
//!
//! Reading and writing never wait for longer than they are told, and a thread that waits for bytes can be called off by another.

use crate::provider::shm::{Directory, Incoming, Listener, peer_pid};
use crate::window::Peer;
use crate::{Deadline, Ended, Error};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, sockopt};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How long a peer may take before it takes any of what is written.
const PATIENCE: Duration = Duration::from_secs(10);
/// A host that says nothing for so long is asked whether it is there, so often, that many times.
const KEEP_ALIVE: (Duration, Duration, u32) = (Duration::from_secs(10), Duration::from_secs(5), 3);

/// One end of a stream.
#[derive(Debug)]
pub struct Stream {
    socket: OwnedFd,
    // Readable after `ring`, until somebody has waited.
    bell: OwnedFd,
    peer: Peer,
    local: Option<String>,
}

impl Stream {
    /// Connects by TCP.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when nobody listens there; [`Error::TimedOut`].
    pub fn connect(address: SocketAddr, deadline: Deadline) -> Result<Self, Error> {
        // A span of zero is refused, rather than over at once.
        let left = deadline.remaining().max(Duration::from_micros(1));
        let connected = TcpStream::connect_timeout(&address, left).map_err(|error| match error.kind() {
            std::io::ErrorKind::ConnectionRefused => Error::NotFound { name: address.to_string() },
            std::io::ErrorKind::TimedOut => Error::TimedOut,
            _ => Error::io("connecting")(error),
        })?;
        Self::of_tcp(connected)
    }

    /// Connects to the server of a name of this host.
    ///
    /// # Errors
    ///
    /// As [`Directory::connect`].
    pub fn connect_to_name(directory: &Directory, name: &str, deadline: Deadline) -> Result<Self, Error> {
        Self::of_unix(directory.for_streams().reach(name, deadline.start())?)
    }

    fn of_tcp(stream: TcpStream) -> Result<Self, Error> {
        let doing = "preparing a connection";
        stream.set_nodelay(true).map_err(Error::io(doing))?;
        stream.set_nonblocking(true).map_err(Error::io(doing))?;
        let peer = stream.peer_addr().map_err(Error::io(doing))?.ip().to_canonical().to_string();
        let local = stream.local_addr().map_err(Error::io(doing))?.ip().to_canonical().to_string();
        let socket = OwnedFd::from(stream);
        let (idle, interval, count) = KEEP_ALIVE;
        let set = || {
            sockopt::set_socket_keepalive(&socket, true)?;
            sockopt::set_tcp_keepidle(&socket, idle)?;
            sockopt::set_tcp_keepintvl(&socket, interval)?;
            sockopt::set_tcp_keepcnt(&socket, count)
        };
        set().map_err(Error::system(doing))?;
        Ok(Self { socket, bell: bell()?, peer: Peer::Host(peer), local: Some(local) })
    }

    fn of_unix(socket: OwnedFd) -> Result<Self, Error> {
        let peer = Peer::Process(peer_pid(&socket));
        Ok(Self { socket, bell: bell()?, peer, local: None })
    }

    /// Reads what is there, up to the room's length; 0 when nothing has come.
    ///
    /// # Errors
    ///
    /// When the peer has ended the connection, or is gone.
    pub fn read(&self, room: &mut [u8]) -> Result<usize, Error> {
        match rustix::net::recv(&self.socket, room, RecvFlags::DONTWAIT) {
            Ok((0, _)) => Err(self.gone()),
            Ok((count, _)) => Ok(count),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(errno) => Err(self.broken(errno, "receiving")),
        }
    }

    /// Waits until there is something to be read, the bell is rung, or the span is over.
    ///
    /// # Errors
    ///
    /// Only of the system.
    pub fn wait(&self, span: Duration) -> Result<(), Error> {
        let mut polled = [PollFd::new(&self.socket, PollFlags::IN), PollFd::new(&self.bell, PollFlags::IN)];
        match poll(&mut polled, Some(&timespec(span))) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::system("waiting for a peer")(errno)),
        }
        if !polled[1].revents().is_empty() {
            // Who rang has said before what for.
            let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        }
        Ok(())
    }

    /// Ends the current or the next wait.
    pub fn ring(&self) {
        // Fails only when it has been rung very often, and then it is readable.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// Writes all of this.
    ///
    /// # Errors
    ///
    /// When the connection has ended, or [`Error::TimedOut`] when the peer takes nothing for ten seconds.
    pub fn write(&self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            match rustix::net::send(&self.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait_for_room()?,
                Err(errno) => return Err(self.broken(errno, "sending")),
            }
        }
        Ok(())
    }

    fn wait_for_room(&self) -> Result<(), Error> {
        match self.poll(PollFlags::OUT, PATIENCE) {
            Ok(true) | Err(Errno::INTR) => Ok(()),
            Ok(false) => Err(Error::TimedOut),
            Err(errno) => Err(Error::system("waiting for a peer to read")(errno)),
        }
    }

    /// Whether something of this happens to the socket in time.
    fn poll(&self, what: PollFlags, span: Duration) -> Result<bool, Errno> {
        Ok(poll(&mut [PollFd::new(&self.socket, what)], Some(&timespec(span)))? > 0)
    }

    /// Whether the peer has ended the connection, even if there is something left to be read.
    pub fn has_ended(&self) -> bool {
        self.poll(PollFlags::RDHUP, Duration::ZERO).unwrap_or(false)
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The host that this end is, where it is one of a network.
    pub fn local(&self) -> Option<&str> {
        self.local.as_deref()
    }

    /// Ends the connection, for both sides.
    pub fn end(&self) {
        // Fails where it has ended.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
    }

    /// That the peer is gone.
    fn gone(&self) -> Error {
        match &self.peer {
            Peer::Process(pid) => Error::PeerGone { pid: *pid },
            Peer::Host(host) => Error::Disconnected { peer: host.clone(), why: Ended::ByPeer },
        }
    }

    fn broken(&self, errno: Errno, doing: &'static str) -> Error {
        match (errno, &self.peer) {
            (Errno::CONNRESET | Errno::PIPE | Errno::NOTCONN, _) => self.gone(),
            (Errno::TIMEDOUT | Errno::HOSTUNREACH | Errno::NETUNREACH, Peer::Host(host)) => {
                Error::Disconnected { peer: host.clone(), why: Ended::Silent }
            }
            _ => Error::system(doing)(errno),
        }
    }
}

/// A span as the kernel takes it; a day at most: whoever waits looks again.
fn timespec(span: Duration) -> Timespec {
    let span = span.min(Duration::from_secs(24 * 3600));
    Timespec { tv_sec: span.as_secs().cast_signed(), tv_nsec: span.subsec_nanos().into() }
}

fn bell() -> Result<OwnedFd, Error> {
    eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(Error::system("making an event"))
}

/// Takes connections.
#[derive(Clone, Debug)]
pub struct StreamListener(Listening);

#[derive(Clone, Debug)]
enum Listening {
    Tcp(Arc<TcpListener>),
    Name(Arc<Listener>),
}

impl StreamListener {
    /// Listens by TCP. Port 0 has one chosen.
    ///
    /// # Errors
    ///
    /// [`Error::NameInUse`] when the port is taken.
    pub fn bind(address: SocketAddr) -> Result<Self, Error> {
        let listener = TcpListener::bind(address).map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse => Error::NameInUse { name: address.to_string(), pid: None },
            _ => Error::io("listening")(error),
        })?;
        listener.set_nonblocking(true).map_err(Error::io("listening"))?;
        Ok(Self(Listening::Tcp(Arc::new(listener))))
    }

    /// Listens at a name of this host.
    ///
    /// # Errors
    ///
    /// As [`Directory::bind`].
    pub fn bind_name(directory: &Directory, name: &str) -> Result<Self, Error> {
        Ok(Self(Listening::Name(Arc::new(directory.for_streams().bind(name)?))))
    }

    /// The address that is listened on, by TCP.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.0 {
            Listening::Tcp(listener) => listener.local_addr().ok(),
            Listening::Name(_) => None,
        }
    }

    /// Waits for a peer to connect.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] after the deadline.
    pub fn accept(&self, deadline: Deadline) -> Result<Stream, Error> {
        match &self.0 {
            Listening::Tcp(listener) => Stream::of_tcp(accept(listener, deadline.start())?),
            Listening::Name(listener) => Stream::of_unix(Incoming::into_socket(listener.accept(deadline)?)?),
        }
    }
}

fn accept(listener: &TcpListener, deadline: Deadline) -> Result<TcpStream, Error> {
    let doing = "accepting a connection";
    loop {
        match listener.accept() {
            Ok((stream, _)) => return Ok(stream),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(Error::io(doing)(error)),
        }
        let left = deadline.remaining();
        if left.is_zero() {
            return Err(Error::TimedOut);
        }
        match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&timespec(left))) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::system(doing)(errno)),
        }
    }
}
