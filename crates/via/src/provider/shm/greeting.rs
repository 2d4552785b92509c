//! The first bytes on the socket: the greeting of each side, with its segment; or the server's
//! refusal if the server is at one of the [`LIMITS`]. A refusal is a greeting without slots, with
//! the error's number in the place of the flags.

use super::carrier::{self, Side, Sleep};
use super::directory::{is_trusted, local_peer, local_process};
use super::mapping::{self, Mapping};
use super::socket::{peer_pid, receive_with_any, send_with_fd};
use super::{named, pulse};
use crate::layout;
use crate::window::{Ends, Options, Peer, Window};
use crate::{Deadline, Error, Violation, Waiting};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown, shutdown};
use std::sync::{Arc, Weak};

/// The greeting's first word: "OBVI", little endian.
const MAGIC: u32 = 0x4956_424f;
/// The version of the segment's layout and of this greeting.
const VERSION: u32 = 2;
const LENGTH: usize = 24;
/// The errors that report a limit: the system's limit of open files, of memory or mappings, of
/// watches, or of threads; or the server's own limit of connections that are still being made.
const LIMITS: [Errno; 6] = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOSPC, Errno::AGAIN, Errno::USERS];

/// The greeting that each side sends before the first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Greeting {
    area: u64,
    may_sleep: bool,
    /// Whether the sender will be quiet for long. The receiver then should sleep between messages,
    /// regardless of its own wait policy.
    quiet: bool,
    /// Whether the sender can neither receive nor send files, nor sleep on a word in memory: see
    /// [`named`].
    by_name: bool,
}

impl Greeting {
    /// Returns the greeting of this process.
    fn of(options: &Options) -> Self {
        let may_sleep = options.waiting != Waiting::Poll;
        Self { area: options.area as u64, may_sleep, quiet: options.quiet, by_name: false }
    }

    fn to_wire(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
        bytes[8..12].copy_from_slice(&layout::SLOT_COUNT.to_le_bytes());
        let flags = [self.may_sleep, self.quiet, self.by_name];
        let flags = flags.iter().rev().fold(0, |word, flag| word << 1 | u32::from(*flag));
        bytes[12..16].copy_from_slice(&flags.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.area.to_le_bytes());
        bytes
    }

    /// Returns the area's size in bytes.
    fn area(&self) -> Result<usize, Error> {
        Ok(usize::try_from(self.area).map_err(|_| Violation::BadGreeting)?)
    }

    fn from_wire(bytes: &[u8; LENGTH], limit: u64) -> Result<Self, Violation> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let area = u64::from(word(16)) | u64::from(word(20)) << 32;
        if word(0) != MAGIC {
            return Err(Violation::BadGreeting);
        }
        if word(4) != VERSION {
            return Err(Violation::OtherVersion { theirs: word(4), own: VERSION });
        }
        if word(8) != layout::SLOT_COUNT || word(12) > 7 {
            return Err(Violation::BadGreeting);
        }
        if area == 0 || area > limit || !area.is_multiple_of(4096) {
            return Err(Violation::BadGreeting);
        }
        let flag = |bit| word(12) & bit != 0;
        Ok(Self { area, may_sleep: flag(1), quiet: flag(2), by_name: flag(4) })
    }
}

/// Returns the refusal by a server at one of the [`LIMITS`].
fn refusal(errno: Errno) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
    bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&errno.raw_os_error().to_le_bytes());
    bytes
}

/// Returns the error in a refusal; `None` for all other bytes.
fn refused(bytes: &[u8; LENGTH]) -> Option<Errno> {
    LIMITS.into_iter().find(|errno| *bytes == refusal(*errno))
}

/// An accepted connection without a greeting so far.
///
/// [`Incoming::complete`] waits for the peer's greeting. A server therefore calls it on the
/// connection's own thread, so that a peer that connects and stays silent delays no other peer.
#[derive(Debug)]
pub struct Incoming {
    pub(super) socket: Arc<OwnedFd>,
    /// Whether the server accepts peers of every user.
    pub(super) is_open: bool,
}

impl Incoming {
    /// Returns the peer's user, as the kernel recorded it at connect.
    ///
    /// # Errors
    ///
    /// [`Error::AccessDenied`] when the peer is of another user and the name is not open to all
    /// users; the kernel's error.
    pub fn user(&self) -> Result<u32, Error> {
        let (_, uid) = local_peer(&self.socket)?;
        if self.is_open || is_trusted(uid) { Ok(uid) } else { Err(Error::AccessDenied { uid }) }
    }

    /// Returns the peer.
    ///
    /// # Errors
    ///
    /// The kernel's error, for example where this process has no descriptor left.
    pub fn peer(&self) -> Result<Peer, Error> {
        local_process(&self.socket)
    }

    /// Returns a handle that ends the connection, and the wait for the peer's greeting.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::downgrade(&self.socket))
    }

    /// Greets the peer and maps its segment.
    ///
    /// # Errors
    ///
    /// [`Error::AccessDenied`] when the peer is of another user and the name is not open to all
    /// users; [`Error::Violation`] when the peer breaks the protocol or has another version of it;
    /// [`Error::TimedOut`] when the peer sends nothing within five seconds.
    pub fn complete(self, options: &Options) -> Result<Window, Error> {
        self.user()?;
        let deadline = Deadline::after_secs(5).start();
        let socket = self.socket;
        let mut options = options.clone();
        let mut prepare = || {
            let theirs = receive(&socket, &options, deadline)?;
            if theirs.1.quiet {
                options.waiting = Waiting::Block;
            }
            let own = mapping::create(layout::AREA + options.area)?;
            Prepared::new(&socket, Side::Acceptor, own, theirs, &options)
        };
        let prepared = prepare();
        let prepared = prepared.inspect_err(|why| explain(&socket, &options, why))?;
        send(&socket, &options, &prepared.file)?;
        prepared.complete(&socket, deadline)
    }

    /// Tells the peer that this process has no thread for the connection.
    pub fn refuse(&self) {
        send_alone(&self.socket, &refusal(Errno::AGAIN));
    }

    /// Tells the peer that this process has too many connections that are still being made.
    pub fn refuse_for_others(&self) {
        send_alone(&self.socket, &refusal(Errno::USERS));
    }
}

/// Tells the peer why its connection is not made, if the peer can do something about it.
fn explain(socket: &OwnedFd, options: &Options, why: &Error) {
    let errno = match why {
        // The greeting contains this process's version, so the client can report both versions.
        Error::Violation(Violation::OtherVersion { .. }) => {
            return send_alone(socket, &Greeting::of(options).to_wire());
        }
        Error::System { source, .. } => Errno::from_io_error(source),
        _ => None,
    };
    if let Some(errno) = errno.filter(|errno| LIMITS.contains(errno)) {
        send_alone(socket, &refusal(errno));
    }
}

/// Sends a greeting without a segment.
fn send_alone(socket: &OwnedFd, greeting: &[u8; LENGTH]) {
    // A peer that has left needs no greeting.
    let _ = rustix::net::send(socket, greeting, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
}

/// A connection to a server that has not greeted so far.
#[derive(Debug)]
pub struct Outgoing {
    pub(super) socket: Arc<OwnedFd>,
}

impl Outgoing {
    /// Returns a handle that ends the wait for the server's greeting.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::downgrade(&self.socket))
    }

    /// Greets the server, and maps its segment. The client sends its greeting first.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] when the server does not greet by the deadline; [`Error::PeerGone`] when
    /// the server has ended or the connection was interrupted; [`Error::PeerAtLimit`] when the
    /// server lacks descriptors, mappings, memory or threads; [`Error::Violation`] when the server
    /// breaks the protocol.
    pub fn complete(self, options: &Options, deadline: Deadline) -> Result<Window, Error> {
        let deadline = deadline.start();
        let socket = &self.socket;
        let own = mapping::create(layout::AREA + options.area)?;
        send(socket, options, &own.1).or_else(|why| match why {
            // A server that refuses a connection does not wait for the client's greeting, so its
            // refusal may have arrived although the greeting could not be sent.
            Error::PeerGone { .. } => receive(socket, options, deadline).and(Err(why)),
            why => Err(why),
        })?;
        let theirs = receive(socket, options, deadline)?;
        Prepared::new(socket, Side::Connector, own, theirs, options)?.complete(socket, deadline)
    }
}

/// A handle that ends a connection from another thread, also before the connection is made.
#[derive(Clone, Debug)]
pub struct Interrupter(Weak<OwnedFd>);

impl Interrupter {
    /// Ends the connection, and the wait for the peer's greeting.
    pub fn interrupt(&self) {
        if let Some(socket) = self.0.upgrade() {
            // The shutdown fails only if the peer has left, and then it is not needed.
            let _ = shutdown(&socket, Shutdown::Both);
        }
    }
}

/// A connection for which all descriptors, mappings, memory and threads have been taken. A server
/// prepares a connection before it greets the client, since it cannot refuse a client that it has
/// greeted.
struct Prepared {
    window: Window,
    /// The file of this side's segment.
    file: OwnedFd,
    /// The segment of a peer that uses names.
    named: Option<named::Segment>,
}

impl Prepared {
    fn new(
        socket: &Arc<OwnedFd>,
        side: Side,
        (own, file): (Mapping, OwnedFd),
        (theirs, greeting): (Option<Mapping>, Greeting),
        options: &Options,
    ) -> Result<Self, Error> {
        let (sleep, peer, named) = match theirs {
            Some(theirs) => (Sleep::OnWord, theirs, None),
            None => {
                let (peer, named) = named::Segment::make((&own, &file), greeting.area()?)?;
                (Sleep::on_socket()?, peer, Some(named))
            }
        };
        let carrier = carrier::Socket::new(Arc::clone(socket), sleep, side)?;
        let number = carrier.number;
        let ends = Ends { own, peer, area: None, carrier: Box::new(carrier) };
        let window = Window::new(ends, greeting.may_sleep, options);
        pulse::watch(socket, number, window.wire())?;
        Ok(Self { window, file, named })
    }

    /// Returns the connection once a peer that uses names has mapped its segments.
    fn complete(self, socket: &OwnedFd, deadline: Deadline) -> Result<Window, Error> {
        self.named.map_or(Ok(()), |segment| segment.hand_over(socket, deadline))?;
        Ok(self.window)
    }
}

fn send(socket: &OwnedFd, options: &Options, fd: &OwnedFd) -> Result<(), Error> {
    send_with_fd(socket, &Greeting::of(options).to_wire(), fd)
}

/// Receives the peer's greeting and its segment. A peer that uses names sends no segment: this side
/// then makes both segments.
fn receive(socket: &OwnedFd, options: &Options, deadline: Deadline) -> Result<(Option<Mapping>, Greeting), Error> {
    let mut bytes = [0; LENGTH];
    let file = receive_with_any(socket, &mut bytes, deadline)?;
    if let Some(errno) = refused(&bytes) {
        return Err(Error::PeerAtLimit { pid: peer_pid(socket), source: errno.into() });
    }
    let greeting = Greeting::from_wire(&bytes, options.max_frame as u64)?;
    if file.is_none() != greeting.by_name {
        return Err(Violation::NoSegment.into());
    }
    let length = layout::AREA + greeting.area()?;
    let segment = file.map(|file| mapping::open(&file, length)).transpose()?;
    Ok((segment, greeting))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    #[test]
    fn greeting_round_trips() {
        let greeting = Greeting { area: 1 << 18, may_sleep: true, quiet: true, by_name: true };
        assert_eq!(Greeting::from_wire(&greeting.to_wire(), 1 << 20), Ok(greeting));
    }

    #[test]
    fn refusals_round_trip_and_are_no_greetings() {
        for errno in LIMITS {
            let bytes = refusal(errno);
            assert_eq!(refused(&bytes), Some(errno));
            assert_eq!(Greeting::from_wire(&bytes, 1 << 20), Err(Violation::BadGreeting));
        }
        let mut bytes = refusal(Errno::MFILE);
        for (at, value) in [(0, 0), (4, 9), (8, 16), (12, 0), (12, 22), (13, 0x10), (15, 0x80), (16, 1)] {
            let was = std::mem::replace(&mut bytes[at], value);
            assert_eq!(refused(&bytes), None, "byte {at}");
            bytes[at] = was;
        }
    }

    fn sockets() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn only_errors_at_a_limit_of_the_system_are_refusals() {
        let (client, server) = sockets();
        let explain = |errno| explain(&server, &Options::default(), &Error::system("testing")(errno));
        explain(Errno::INVAL);
        explain(Errno::NOSPC);
        let mut bytes = [0; LENGTH];
        receive_with_any(&client, &mut bytes, Deadline::Within(ground::LATEST)).unwrap();
        assert_eq!(refused(&bytes), Some(Errno::NOSPC));
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_client_that_is_refused_before_it_greets_learns_the_limit() {
        let (client, socket) = sockets();
        let incoming = Incoming { socket: Arc::new(socket), is_open: true };
        incoming.refuse();
        drop(incoming);
        let outgoing = Outgoing { socket: Arc::new(client) };
        let error = outgoing.complete(&Options::default(), Deadline::Within(ground::LATEST)).unwrap_err();
        let is_at_limit =
            matches!(&error, Error::PeerAtLimit { source, .. } if Errno::from_io_error(source) == Some(Errno::AGAIN));
        assert!(is_at_limit, "{error}");
    }

    #[test]
    fn greetings_with_wrong_fields_are_refused() {
        let good = Greeting { area: 1 << 18, may_sleep: false, quiet: false, by_name: false }.to_wire();
        for (at, value) in [(0, 0), (8, 3), (12, 8), (17, 1), (20, 1), (18, 0xff)] {
            let mut bad = good;
            bad[at] = value;
            assert_eq!(Greeting::from_wire(&bad, 1 << 20), Err(Violation::BadGreeting), "byte {at}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_client_of_another_version_learns_both_versions() {
        let (client, socket) = sockets();
        let mut greeting = Greeting::of(&Options::default()).to_wire();
        greeting[4] = 1;
        rustix::net::send(&client, &greeting, SendFlags::NOSIGNAL).unwrap();
        let outcome = Incoming { socket: Arc::new(socket), is_open: true }.complete(&Options::default());
        let is_other = |error: &Error, versions| matches!(error, Error::Violation(Violation::OtherVersion { theirs, own }) if (*theirs, *own) == versions);
        assert!(is_other(&outcome.unwrap_err(), (1, VERSION)));
        let mut answer = [0; LENGTH];
        receive_with_any(&client, &mut answer, Deadline::Within(ground::LATEST)).unwrap();
        assert_eq!(answer[4], VERSION as u8);
        let outcome = Greeting::from_wire(&greeting, 1 << 20).unwrap_err();
        assert_eq!(
            Error::from(outcome).to_string(),
            "the peer broke the protocol: it uses version 1 of the protocol, and this process version 2: build both \
             with the same version of obvia"
        );
    }
}
