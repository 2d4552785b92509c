//! Byte streams, for protocols that do not use VIs: TCP, and Unix sockets with names.
//!
//! Every wait has a deadline, and another thread can end a wait for bytes. If the environment names
//! a capture ([`SharedCapture`]), the bytes of each stream are written to the capture.

mod local_ends;

use crate::bell::{Bell, await_events};
use crate::names::addresses;
use crate::provider::shm::{Directory, local_peer, local_process};
use crate::socket::accept;
use crate::window::Peer;
use crate::wrap::{Conversation, Ends, SharedCapture};
use crate::{Deadline, Ended, Error};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use rustix::time::Timespec;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, TcpListener, TcpStream};
use std::sync::OnceLock;
use std::time::Duration;

/// The idle time of a TCP connection after which the kernel probes whether the peer still answers.
const IDLE: Duration = Duration::from_secs(5);
/// The interval of the keepalive probes.
const ASKED_EVERY: Duration = Duration::from_secs(2);
/// The number of unanswered keepalive probes after which the peer counts as gone.
const ASKED: u32 = 4;
/// The maximum time until a peer acknowledges bytes, in milliseconds. While no bytes are on the
/// way, the keepalive probes need about the same time to notice that a peer is gone.
const UNACKNOWLEDGED_MAX: u32 = 13_000;

/// A connection that carries a stream of bytes each way. At most one thread at a time may receive,
/// and at most one may send.
#[derive(Debug)]
pub struct Stream {
    socket: OwnedFd,
    // The bell that ends the wait of the receiving thread.
    bell: Bell,
    peer: Peer,
    local: Option<String>,
    /// The capture of the stream, where this process has one.
    captured: Option<Conversation>,
    /// The reason why the connection is over, unless the peer closed it. The kernel reports the
    /// reason only once, to the next send or receive.
    loss: OnceLock<Ended>,
}

impl Stream {
    /// Connects to a port of a host. An empty host means this host.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when no address of the host accepts the connection,
    /// [`Error::BadAddress`] for an unknown host, [`Error::TimedOut`] at the deadline.
    pub fn connect(host: &str, port: u16, deadline: Deadline) -> Result<Self, Error> {
        let deadline = deadline.start();
        let host = if host.is_empty() { "localhost" } else { host };
        for address in addresses(host, port, deadline)? {
            let left = deadline.remaining();
            if left.is_zero() {
                return Err(Error::TimedOut);
            }
            match TcpStream::connect_timeout(&address, left) {
                Ok(socket) => return Self::tcp(socket.into(), true),
                Err(error) if error.kind() == std::io::ErrorKind::TimedOut => return Err(Error::TimedOut),
                // Another address of the same host name may work.
                Err(_) => {}
            }
        }
        Err(Error::NotFound { name: format!("{host}:{port}") })
    }

    /// Connects to a name of this user.
    ///
    /// # Errors
    ///
    /// As [`Directory::connect`].
    pub fn connect_local(directory: &Directory, name: &str, deadline: Deadline) -> Result<Self, Error> {
        let own = local_ends::of_client()?;
        Self::local(directory.for_streams().reach(name, own.as_ref(), deadline.start())?, true)
    }

    fn tcp(socket: OwnedFd, is_opener: bool) -> Result<Self, Error> {
        let doing = "preparing a socket";
        rustix::io::ioctl_fionbio(&socket, true).map_err(Error::system(doing))?;
        // A call is one message, and so is its answer. A message must not wait for more bytes to
        // send.
        sockopt::set_tcp_nodelay(&socket, true).map_err(Error::system(doing))?;
        // Without keepalive probes, a host that vanishes is never noticed.
        sockopt::set_socket_keepalive(&socket, true).map_err(Error::system(doing))?;
        sockopt::set_tcp_keepidle(&socket, IDLE).map_err(Error::system(doing))?;
        sockopt::set_tcp_keepintvl(&socket, ASKED_EVERY).map_err(Error::system(doing))?;
        sockopt::set_tcp_keepcnt(&socket, ASKED).map_err(Error::system(doing))?;
        sockopt::set_tcp_user_timeout(&socket, UNACKNOWLEDGED_MAX).map_err(Error::system(doing))?;
        let host = |address: SocketAddr| address.ip().to_canonical().to_string();
        let peer = rustix::net::getpeername(&socket).map_err(Error::system(doing))?;
        let peer = peer.and_then(|address| SocketAddr::try_from(address).ok());
        let local = rustix::net::getsockname(&socket).map_err(Error::system(doing))?;
        let local = SocketAddr::try_from(local).ok();
        let captured = match (local, peer) {
            (Some(own), Some(peer)) => Conversation::of_stream(Ends { own, peer }, is_opener)?,
            _ => None,
        };
        Self::new(socket, Peer::Host(peer.map(host).unwrap_or_default()), local.map(host), captured)
    }

    fn local(socket: OwnedFd, is_opener: bool) -> Result<Self, Error> {
        let peer = local_process(&socket)?;
        let captured = match SharedCapture::of_process()? {
            Some(capture) => {
                let (pid, _) = local_peer(&socket)?;
                let ends = local_ends::of(capture, &socket, pid, is_opener)
                    .map_err(Error::system("reading the peer's credentials"))?;
                Conversation::of_stream(ends, is_opener)?
            }
            None => None,
        };
        Self::new(socket, peer, None, captured)
    }

    fn new(socket: OwnedFd, peer: Peer, local: Option<String>, captured: Option<Conversation>) -> Result<Self, Error> {
        Ok(Self { socket, bell: Bell::new()?, peer, local, captured, loss: OnceLock::new() })
    }

    /// Sends all bytes.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] when the peer does not read. Some of the bytes may have been sent then,
    /// so the connection cannot be used any more. [`Error::PeerGone`] or [`Error::Disconnected`]
    /// when the connection is over.
    pub fn send(&self, mut bytes: &[u8], deadline: Deadline) -> Result<(), Error> {
        let deadline = deadline.start();
        if let Some(captured) = &self.captured {
            captured.sent(bytes);
        }
        while !bytes.is_empty() {
            match rustix::net::send(&self.socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(Errno::AGAIN) => {
                    await_events(&mut [PollFd::new(&self.socket, PollFlags::OUT)], deadline)?;
                }
                Err(Errno::INTR) => {}
                Err(Errno::PIPE) => return Err(self.gone(Ended::ByPeer)),
                Err(Errno::CONNRESET) => return Err(self.gone(Ended::Reset)),
                Err(errno) if is_silence(errno) => return Err(self.gone(Ended::Silent)),
                Err(errno) => return Err(Error::system("sending")(errno)),
            }
        }
        Ok(())
    }

    /// Receives at least one byte: as many of the arrived bytes as fit. If none have arrived, waits
    /// for the first bytes until the deadline. `room` must not be empty.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] at the deadline; [`Error::Cancelled`] after [`Self::interrupt`];
    /// [`Error::PeerGone`] or [`Error::Disconnected`] when the connection is over.
    pub fn receive(&self, room: &mut [u8], deadline: Deadline) -> Result<usize, Error> {
        // Usually no byte has arrived yet, so the function waits before it receives, unless the
        // deadline has passed.
        if !deadline.is_over() {
            self.wait(deadline.start())?;
        }
        loop {
            match rustix::net::recv(&self.socket, &mut *room, RecvFlags::DONTWAIT) {
                ended @ (Ok((_, 0)) | Err(Errno::CONNRESET)) => {
                    if let Some(captured) = &self.captured {
                        captured.ended_by_peer();
                    }
                    return Err(self.gone(if ended.is_ok() { Ended::ByPeer } else { Ended::Reset }));
                }
                Ok((_, count)) => {
                    if let Some(captured) = &self.captured {
                        captured.received(&room[..count]);
                    }
                    return Ok(count);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(Error::TimedOut),
                Err(errno) if is_silence(errno) => return Err(self.gone(Ended::Silent)),
                Err(errno) => return Err(Error::system("receiving")(errno)),
            }
        }
    }

    /// Waits until bytes have arrived, or the connection is over.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] at the deadline; [`Error::Cancelled`] after [`Self::interrupt`].
    pub fn wait(&self, deadline: Deadline) -> Result<(), Error> {
        self.bell.wait_for(&self.socket, deadline)
    }

    fn gone(&self, why: Ended) -> Error {
        let why = match why {
            Ended::ByPeer => self.loss.get().copied().unwrap_or(why),
            loss => *self.loss.get_or_init(|| loss),
        };
        match &self.peer {
            Peer::Process { pid, .. } => Error::PeerGone { pid: *pid },
            Peer::Host(host) => Error::Disconnected { peer: host.clone(), why },
        }
    }

    /// Ends the receiving thread's current wait, or else its next wait.
    pub fn interrupt(&self) {
        self.bell.ring();
    }

    /// Ends the connection and all waits on it.
    pub fn close(&self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }

    /// Ends the connection. Calls of [`Self::receive`] then fail as if the peer had fallen silent,
    /// not as if it had left: the peer may connect again and continue.
    pub fn abandon(&self) {
        let _ = self.loss.set(Ended::Silent);
        self.close();
    }

    /// Whether the connection has ended, even if no thread receives.
    pub fn has_ended(&self) -> bool {
        let mut files = [PollFd::new(&self.socket, PollFlags::RDHUP)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut files, Some(&at_once)).is_ok() && !files[0].revents().is_empty()
    }

    /// Returns the peer.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Returns the local host, by the address at which the peer reaches it over a network. `None`
    /// for a Unix socket.
    pub fn local_host(&self) -> Option<&str> {
        self.local.as_deref()
    }
}

/// Whether the error says that the peer, or the network on the way to it, does not answer any more.
fn is_silence(errno: Errno) -> bool {
    matches!(errno, Errno::TIMEDOUT | Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::HOSTDOWN | Errno::NETDOWN)
}

/// Whether the process or the system is out of file descriptors or memory.
fn is_shortage(error: &Error) -> bool {
    let Error::System { source, .. } = error else { return false };
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    shortages.iter().any(|errno| source.raw_os_error() == Some(errno.raw_os_error()))
}

/// Listens on a port of every address of this host, or of its IPv4 addresses alone if it has no
/// IPv6.
fn bind_all(port: u16) -> std::io::Result<TcpListener> {
    use rustix::net::{AddressFamily, bind, ipproto, listen, socket_with};
    /// The maximum number of connections that wait to be accepted. The kernel's own limit may be
    /// lower.
    const WAITING_MAX: i32 = 4096;
    let listener = socket_with(AddressFamily::INET6, SocketType::STREAM, SocketFlags::CLOEXEC, Some(ipproto::TCP));
    let bound = listener.and_then(|listener| {
        sockopt::set_ipv6_v6only(&listener, false)?;
        sockopt::set_socket_reuseaddr(&listener, true)?;
        bind(&listener, &SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, port, 0, 0))?;
        listen(&listener, WAITING_MAX)?;
        Ok(listener)
    });
    match bound {
        Ok(listener) => Ok(listener.into()),
        Err(Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL | Errno::PROTONOSUPPORT) => {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))
        }
        Err(errno) => Err(errno.into()),
    }
}

/// A listener for streams.
#[derive(Debug)]
pub struct StreamListener {
    socket: ListeningSocket,
}

#[derive(Debug)]
enum ListeningSocket {
    Tcp { listener: OwnedFd, address: SocketAddr },
    Local { listener: crate::provider::shm::Listener, name: String },
}

impl StreamListener {
    /// Listens on a port of an address of this host. An empty host means all addresses, of IPv6 and
    /// of IPv4. Port 0 means a free port.
    ///
    /// # Errors
    ///
    /// [`Error::System`] when the address is not this host's, the port is in use, or the port is
    /// not permitted to this user.
    pub fn bind(host: &str, port: u16) -> Result<Self, Error> {
        // An error of the capture is reported here, rather than for each stream.
        SharedCapture::of_process()?;
        let doing = "listening on a port";
        let listener = if host.is_empty() { bind_all(port) } else { TcpListener::bind((host, port)) };
        Self::tcp(listener.map_err(Error::io(doing))?)
    }

    /// Makes a listener of a TCP socket that is bound to a port and listens already.
    ///
    /// # Errors
    ///
    /// [`Error::BadAddress`] for any other socket.
    pub fn of_socket(socket: OwnedFd) -> Result<Self, Error> {
        SharedCapture::of_process()?;
        let is_listening = sockopt::socket_acceptconn(&socket).unwrap_or(false);
        let is_tcp = sockopt::socket_type(&socket).is_ok_and(|kind| kind == SocketType::STREAM);
        let listener = TcpListener::from(socket);
        // `local_addr` fails for sockets of address families other than IPv4 and IPv6.
        if !is_listening || !is_tcp || listener.local_addr().is_err() {
            let (text, why) = ("a socket".to_owned(), "it does not listen for TCP connections");
            return Err(Error::BadAddress { text, why });
        }
        Self::tcp(listener)
    }

    fn tcp(listener: TcpListener) -> Result<Self, Error> {
        let doing = "listening on a port";
        listener.set_nonblocking(true).map_err(Error::io(doing))?;
        let address = listener.local_addr().map_err(Error::io(doing))?;
        Ok(Self { socket: ListeningSocket::Tcp { listener: listener.into(), address } })
    }

    /// Serves a name of this user.
    ///
    /// # Errors
    ///
    /// As [`Directory::bind`].
    pub fn bind_local(directory: &Directory, name: &str) -> Result<Self, Error> {
        SharedCapture::of_process()?;
        let listener = directory.for_streams().bind(name)?;
        Ok(Self { socket: ListeningSocket::Local { listener, name: name.to_owned() } })
    }

    /// Waits for a peer to connect. Peers of other users are not accepted on a name.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] at the deadline; [`Error::Cancelled`] after [`Self::close`];
    /// [`Error::System`] when the process or the system is out of file descriptors or memory. The
    /// peer may then still wait in the queue: try again after a pause.
    pub fn accept(&self, deadline: Deadline) -> Result<Stream, Error> {
        let deadline = deadline.start();
        loop {
            let accepted = match &self.socket {
                ListeningSocket::Tcp { listener, .. } => Stream::tcp(accept(listener, deadline)?, false),
                ListeningSocket::Local { listener, .. } => {
                    listener.accept_stream(deadline).and_then(|socket| Stream::local(socket, false))
                }
            };
            match accepted {
                Err(error) if is_shortage(&error) => return Err(error),
                // The peer is of another user, or has disconnected already.
                Err(Error::AccessDenied { .. } | Error::System { .. }) if !deadline.is_over() => {}
                accepted => return accepted,
            }
        }
    }

    /// Returns the address of a listener on a port, or `None` for a listener on a name.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.socket {
            ListeningSocket::Tcp { address, .. } => Some(*address),
            ListeningSocket::Local { .. } => None,
        }
    }

    /// Returns the endpoint of the listener's string binding: the port, or the name.
    pub fn endpoint(&self) -> String {
        match &self.socket {
            ListeningSocket::Tcp { address, .. } => address.port().to_string(),
            ListeningSocket::Local { name, .. } => name.clone(),
        }
    }

    /// Ends a wait in [`Self::accept`] from another thread, and refuses further peers.
    pub fn close(&self) {
        match &self.socket {
            ListeningSocket::Tcp { listener, .. } => drop(rustix::net::shutdown(listener, rustix::net::Shutdown::Both)),
            ListeningSocket::Local { listener, .. } => listener.close(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const SOON: Deadline = Deadline::Within(ground::LATEST);

    fn pairs() -> Vec<(Stream, Stream)> {
        // The folder with the name may be removed at the end: an existing connection does not need
        // its name.
        let folder = ground::Folder::new("via-streams");
        let directory = Directory::at(folder.path()).unwrap();
        let tcp = StreamListener::bind("127.0.0.1", 0).unwrap();
        let port = tcp.endpoint().parse().unwrap();
        let local = StreamListener::bind_local(&directory, "pair").unwrap();
        vec![
            (Stream::connect("127.0.0.1", port, SOON).unwrap(), tcp.accept(SOON).unwrap()),
            (Stream::connect_local(&directory, "pair", SOON).unwrap(), local.accept(SOON).unwrap()),
        ]
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn stream_bytes_are_received_unchanged() {
        for (one, other) in pairs() {
            let sent: Vec<u8> = (0..1_000_000_u32).map(|at| at as u8).collect();
            thread::scope(|scope| {
                scope.spawn(|| one.send(&sent, SOON).unwrap());
                let mut received = Vec::new();
                let mut room = vec![0; 70_000];
                while received.len() < sent.len() {
                    let count = other.receive(&mut room, SOON).unwrap();
                    received.extend_from_slice(&room[..count]);
                }
                assert!(received == sent);
            });
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn a_reset_stream_is_distinguished_from_a_closed_one() {
        let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
        let client = TcpStream::connect(listener.address().unwrap()).unwrap();
        let server = listener.accept(SOON).unwrap();
        sockopt::set_socket_linger(&client, Some(Duration::ZERO)).unwrap();
        drop(client);
        let outcome = server.receive(&mut [0; 9], SOON);
        assert!(matches!(outcome, Err(Error::Disconnected { why: Ended::Reset, .. })), "{outcome:?}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn a_reset_stream_reports_the_reset_to_every_caller() {
        let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
        let client = TcpStream::connect(listener.address().unwrap()).unwrap();
        let server = listener.accept(SOON).unwrap();
        sockopt::set_socket_linger(&client, Some(Duration::ZERO)).unwrap();
        drop(client);
        server.wait(SOON).unwrap();
        let outcomes = [server.send(&[7], SOON).map(|()| 0), server.receive(&mut [0; 9], SOON)];
        let is_reset = |outcome| matches!(outcome, &Err(Error::Disconnected { why: Ended::Reset, .. }));
        assert!(outcomes.iter().all(is_reset), "{outcomes:?}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn stream_waits_end_at_their_deadline() {
        for (one, other) in pairs() {
            let brief = Deadline::Within(Duration::from_millis(20));
            assert!(matches!(other.receive(&mut [0; 9], brief), Err(Error::TimedOut)));
            assert!(matches!(other.receive(&mut [0; 9], Deadline::Within(Duration::ZERO)), Err(Error::TimedOut)));
            // The peer does not read these bytes.
            assert!(matches!(one.send(&vec![0; 64 << 20], brief), Err(Error::TimedOut)));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn stream_waits_are_interrupted_from_another_thread() {
        for (one, other) in pairs() {
            thread::scope(|scope| {
                let waiting = scope.spawn(|| one.receive(&mut [0; 9], SOON));
                one.interrupt();
                assert!(matches!(waiting.join().unwrap(), Err(Error::Cancelled)));
            });
            other.send(&[7], SOON).unwrap();
            let mut room = [0; 9];
            assert_eq!((one.receive(&mut room, SOON).unwrap(), room[0]), (1, 7));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn the_end_of_a_stream_is_detected() {
        for (one, other) in pairs() {
            assert!(!one.has_ended());
            drop(other);
            assert!(matches!(
                one.receive(&mut [0; 9], SOON),
                Err(Error::Disconnected { why: Ended::ByPeer, .. } | Error::PeerGone { .. })
            ));
            assert!(one.has_ended());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn connecting_to_a_closed_port_reports_not_found() {
        let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| listener.accept(SOON));
            listener.close();
            assert!(matches!(waiting.join().unwrap(), Err(Error::Cancelled)));
        });
        drop(listener);
        // Another process may have the listener's port by now.
        let port = ground::SilentPort::new();
        assert!(matches!(Stream::connect("127.0.0.1", port.number(), SOON), Err(Error::NotFound { .. })));
    }
}
