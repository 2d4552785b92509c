//! Sockets that introduce connectionless endpoints: Unix sockets with names, and TCP.

use super::link::split;
use crate::notice::poll_fds;
use crate::provider::shm::{Directory, NamedSocket, check_peer, local_peer};
use crate::{Deadline, Error};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use rustix::time::Timespec;
use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

/// The maximum length of an introduction message, in bytes.
const PIECE_MAX: usize = 1024;
/// The number of keepalive probes before the kernel gives up a TCP peer.
const PROBES: u32 = 3;
/// The pause before the next attempt to connect to a name whose listener's queue is full.
const RETRY: Duration = Duration::from_millis(1);

/// The listening socket of a listener.
#[derive(Debug)]
pub(super) enum ListeningSocket {
    Tcp(TcpListener, String),
    // The `ListeningSocket` removes the socket file when it is dropped.
    Unix(UnixListener, NamedSocket, String),
}

/// Whether an address is an IP address: it has a colon.
fn is_ip(address: &str) -> bool {
    address.contains(':')
}

fn named(directory: Option<&PathBuf>, name: &str) -> Result<NamedSocket, Error> {
    directory.map_or_else(Directory::of_user, Directory::at)?.socket(name, ".fabric")
}

/// Tries to connect to a name. The socket does not block, because connect(2) would wait without
/// limit for a listener whose queue is full.
fn try_connect(file: &NamedSocket) -> Result<Result<OwnedFd, Errno>, Error> {
    let doing = "connecting to a name";
    let address = SocketAddrUnix::new(file.path()?).map_err(Error::system(doing))?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(Error::system(doing))?;
    Ok(rustix::net::connect(&socket, &address).map(|()| socket))
}

/// Makes the kernel probe whether a TCP peer is still reachable, and send data without delay.
fn watch(socket: &OwnedFd, silence: Duration) -> Result<(), Error> {
    let doing = "preparing a socket";
    let second = Duration::from_secs(1);
    let each = (silence / (PROBES + 1)).max(second);
    sockopt::set_socket_keepalive(socket, true).map_err(Error::system(doing))?;
    sockopt::set_tcp_keepidle(socket, each).map_err(Error::system(doing))?;
    sockopt::set_tcp_keepintvl(socket, each).map_err(Error::system(doing))?;
    sockopt::set_tcp_keepcnt(socket, PROBES).map_err(Error::system(doing))?;
    sockopt::set_tcp_nodelay(socket, true).map_err(Error::system(doing))
}

impl ListeningSocket {
    pub(super) fn open(directory: Option<&PathBuf>, discriminator: &str) -> Result<Self, Error> {
        let doing = "listening";
        if is_ip(discriminator) {
            let (host, port) = split(discriminator)?;
            let port = port.parse().unwrap_or(0);
            let listener = TcpListener::bind((host, port)).map_err(Error::io(doing))?;
            listener.set_nonblocking(true).map_err(Error::io(doing))?;
            let found = listener.local_addr().map_err(Error::io(doing))?;
            return Ok(Self::Tcp(listener, found.to_string()));
        }
        let file = named(directory, discriminator)?;
        // A live server of the name accepts connections. If nothing listens on the socket, a dead
        // server has left it behind.
        match try_connect(&file)? {
            // The server is overloaded, but alive.
            Ok(_) | Err(Errno::AGAIN) => return Err(Error::NameInUse { name: discriminator.to_owned(), pid: None }),
            Err(Errno::CONNREFUSED) => file.remove_dead()?,
            Err(_) => {}
        }
        let listener = UnixListener::bind(file.path()?).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => Error::NameInUse { name: discriminator.to_owned(), pid: None },
            _ => Error::io("binding a name")(error),
        })?;
        listener.set_nonblocking(true).map_err(Error::io(doing))?;
        Ok(Self::Unix(listener, file, discriminator.to_owned()))
    }

    pub(super) fn address(&self) -> String {
        match self {
            Self::Tcp(_, address) | Self::Unix(_, _, address) => address.clone(),
        }
    }

    /// Accepts a connection, if one is waiting. Returns the socket, the peer's name, and whether
    /// the peer is in this process.
    pub(super) fn next(&self, silence: Duration) -> Result<Option<(OwnedFd, String, bool)>, Error> {
        let found = match self {
            Self::Tcp(listener, _) => {
                listener.accept().map(|(socket, peer)| (OwnedFd::from(socket), Some(peer.to_string())))
            }
            Self::Unix(listener, ..) => listener.accept().map(|(socket, _)| (OwnedFd::from(socket), None)),
        };
        let (socket, peer) = match found {
            Ok(found) => found,
            Err(error) => {
                return match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {
                        Ok(None)
                    }
                    _ => Err(Error::io("accepting a connection")(error)),
                };
            }
        };
        rustix::io::ioctl_fionbio(&socket, true).map_err(Error::system("preparing a socket"))?;
        let (peer, is_own) = match peer {
            // A peer that is gone already, or belongs to another user, is ignored.
            Some(peer) => match watch(&socket, silence) {
                Ok(()) => (peer, false),
                Err(_) => return Ok(None),
            },
            None => match (check_peer(&socket), local_peer(&socket)) {
                (Ok(()), Ok((pid, _))) => (format!("process {pid}"), pid == std::process::id()),
                _ => return Ok(None),
            },
        };
        Ok(Some((socket, peer, is_own)))
    }

    /// Sleeps until a peer connects, or one of `others` is readable.
    pub(super) fn sleep(&self, others: &[&OwnedFd], deadline: Deadline) -> Result<(), Error> {
        let own = match self {
            Self::Tcp(listener, _) => PollFd::new(listener, PollFlags::IN),
            Self::Unix(listener, ..) => PollFd::new(listener, PollFlags::IN),
        };
        let mut files = vec![own];
        files.extend(others.iter().map(|file| PollFd::new(*file, PollFlags::IN)));
        let left = deadline.remaining().min(Duration::from_secs(3600));
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        match poll(&mut files, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(Error::system("waiting for a connection")(errno)),
        }
    }
}

impl Drop for ListeningSocket {
    fn drop(&mut self) {
        if let Self::Unix(_, file, _) = self {
            // The removal fails only for a file that is no socket of this user. Such a file is not
            // the listener's.
            let _ = file.remove_dead();
        }
    }
}

/// Connects to a listener.
pub(super) fn connect_socket(
    directory: Option<&PathBuf>,
    address: &str,
    silence: Duration,
    deadline: Deadline,
) -> Result<OwnedFd, Error> {
    let not_found = || Error::NotFound { name: address.to_owned() };
    let socket = if is_ip(address) {
        let (host, port) = split(address)?;
        let port: u16 = port.parse().unwrap_or(0);
        let mut found = None;
        for peer in (host, port).to_socket_addrs().map_err(|_| not_found())? {
            let left = deadline.remaining();
            if left.is_zero() {
                return Err(Error::TimedOut);
            }
            match TcpStream::connect_timeout(&peer, left) {
                Ok(socket) => {
                    found = Some(OwnedFd::from(socket));
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(Error::TimedOut),
                Err(_) => {}
            }
        }
        let socket = found.ok_or_else(not_found)?;
        watch(&socket, silence)?;
        socket
    } else {
        let file = named(directory, address)?;
        let socket = loop {
            match try_connect(&file)? {
                Ok(socket) => break socket,
                // The listener's queue is full, or a signal interrupted the call.
                Err(Errno::AGAIN | Errno::INTR) if deadline.is_over() => return Err(Error::TimedOut),
                Err(Errno::AGAIN | Errno::INTR) => std::thread::sleep(RETRY),
                Err(Errno::NOENT | Errno::CONNREFUSED) => return Err(not_found()),
                Err(errno) => return Err(Error::system("connecting to a name")(errno)),
            }
        };
        check_peer(&socket)?;
        socket
    };
    rustix::io::ioctl_fionbio(&socket, true).map_err(Error::system("preparing a socket"))?;
    Ok(socket)
}

/// Sends an introduction message, preceded by its length. The buffer of a new socket has room for
/// the whole message.
pub(super) fn send(socket: &OwnedFd, piece: &[u8]) -> Result<(), Error> {
    let Some(length) = u16::try_from(piece.len()).ok().filter(|length| usize::from(*length) <= PIECE_MAX) else {
        return Err(Error::TooLong { length: piece.len() as u64, limit: PIECE_MAX as u64 });
    };
    let bytes = [&length.to_le_bytes()[..], piece].concat();
    match rustix::net::send(socket, &bytes, SendFlags::NOSIGNAL) {
        Ok(sent) if sent == bytes.len() => Ok(()),
        Ok(_) => Err(Error::Violation(crate::Violation::BadGreeting)),
        Err(errno) => Err(Error::system("introducing an endpoint")(errno)),
    }
}

/// An introduction message that is being received.
#[derive(Debug, Default)]
pub(super) struct PartialMessage {
    bytes: Vec<u8>,
}

impl PartialMessage {
    /// Takes the bytes that have arrived. Returns `Some` when the message is complete. Bytes after
    /// the message stay in the socket.
    pub(super) fn take(&mut self, socket: &OwnedFd) -> Result<Option<Vec<u8>>, Error> {
        let nonsense = || Error::Violation(crate::Violation::BadGreeting);
        loop {
            let wanted = match self.bytes.first_chunk() {
                None => 2,
                Some(length) => match usize::from(u16::from_le_bytes(*length)) {
                    length @ 1..=PIECE_MAX => 2 + length,
                    _ => return Err(nonsense()),
                },
            };
            // `want` is 0 only when the message is complete: the two bytes of the length are read
            // alone, and the length is at least 1.
            let Some(want) = wanted.checked_sub(self.bytes.len()).filter(|want| *want > 0) else {
                return Ok(Some(self.bytes.split_off(2)));
            };
            let mut room = [0; 2 + PIECE_MAX];
            match rustix::io::read(socket, &mut room[..want]) {
                Ok(0) => return Err(nonsense()),
                Ok(count) => self.bytes.extend(&room[..count]),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::system("receiving an introduction")(errno)),
            }
        }
    }

    /// Waits for the complete message.
    pub(super) fn wait(socket: &OwnedFd, deadline: Deadline) -> Result<Vec<u8>, Error> {
        let mut arriving = Self::default();
        loop {
            if let Some(piece) = arriving.take(socket)? {
                return Ok(piece);
            }
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            poll_fds(&[socket], deadline, None)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ListeningSocket, PartialMessage, connect_socket, send};
    use crate::{Deadline, Error};
    use rustix::fd::OwnedFd;
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc;
    use std::time::Duration;

    fn pair() -> (OwnedFd, OwnedFd) {
        let (one, other) = UnixStream::pair().unwrap();
        other.set_nonblocking(true).unwrap();
        (one.into(), other.into())
    }

    #[test]
    fn introduction_messages_are_read_without_the_bytes_behind_them() {
        let (one, other) = pair();
        send(&one, b"introduction").unwrap();
        rustix::io::write(&one, &[4]).unwrap();
        assert_eq!(PartialMessage::wait(&other, Deadline::after_secs(5)).unwrap(), b"introduction");
        let mut rest = [0; 4];
        assert_eq!(rustix::io::read(&other, &mut rest).unwrap(), 1);
        assert_eq!(rest[0], 4);
    }

    #[test]
    fn connecting_to_a_full_listener_ends_in_time() {
        let folder = ground::Folder::new("via-fabric-queue");
        let directory = folder.path().to_owned();
        let listener = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        let file = super::named(Some(&directory), "full").unwrap();
        rustix::net::bind(&listener, &SocketAddrUnix::new(file.path().unwrap()).unwrap()).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        // A queue of length 0 has room for one connection.
        let _first = UnixStream::connect(file.path().unwrap()).unwrap();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let soon = Deadline::Within(Duration::from_millis(20)).start();
            let gone = connect_socket(Some(&directory), "full", Duration::from_secs(1), soon).map(drop);
            tell.send((gone, ListeningSocket::open(Some(&directory), "full").map(drop))).unwrap();
        });
        let (gone, opened) = told.recv_timeout(ground::LATEST).expect("an answer");
        assert!(matches!(gone, Err(Error::TimedOut)), "{gone:?}");
        assert!(matches!(opened, Err(Error::NameInUse { .. })), "{opened:?}");
    }

    #[test]
    fn empty_introduction_messages_are_refused() {
        let (one, other) = pair();
        rustix::io::write(&one, &[0, 0, 7, 7]).unwrap();
        assert!(matches!(PartialMessage::wait(&other, Deadline::after_secs(5)), Err(Error::Violation(_))));
    }

    #[test]
    fn partial_introduction_messages_are_awaited_and_overlong_ones_refused() {
        let (one, other) = pair();
        rustix::io::write(&one, &[5, 0, 1, 2]).unwrap();
        let soon = Deadline::Within(Duration::from_millis(20));
        assert!(matches!(PartialMessage::wait(&other, soon.start()), Err(Error::TimedOut)));
        let (one, other) = pair();
        rustix::io::write(&one, &[1, 4]).unwrap();
        assert!(matches!(PartialMessage::wait(&other, Deadline::after_secs(5)), Err(Error::Violation(_))));
    }
}
