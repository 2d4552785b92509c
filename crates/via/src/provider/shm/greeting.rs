//! The first bytes on the socket: the greeting of each side, with its segment.

use super::carrier::{self, Sleep};
use super::directory::{check_peer, local_peer};
use super::mapping::{self, Mapping};
use super::{named, pulse, received};
use crate::layout;
use crate::window::{Ends, Options, Window};
use crate::{Deadline, Error, Violation, Waiting};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::time::Timespec;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::sync::Arc;

/// The greeting's first word: "OBVI", little endian.
const MAGIC: u32 = 0x4956_424f;
/// The version of the segment's layout and of this greeting.
const VERSION: u32 = 1;
const LENGTH: usize = 24;

/// The greeting that each side sends before the first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Greeting {
    area: u64,
    may_sleep: bool,
    /// Whether the sender will be quiet for long. The receiver then had better sleep, whatever its
    /// own policy is.
    quiet: bool,
    /// Whether the sender can neither receive nor send files, nor sleep on a word in memory: see
    /// [`named`].
    by_name: bool,
}

impl Greeting {
    fn to_wire(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
        bytes[8..12].copy_from_slice(&layout::SLOT_COUNT.to_le_bytes());
        let flags = u32::from(self.may_sleep) | u32::from(self.quiet) << 1 | u32::from(self.by_name) << 2;
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
        if word(0) != MAGIC || word(4) != VERSION || word(8) != layout::SLOT_COUNT || word(12) > 7 {
            return Err(Violation::BadGreeting);
        }
        if area == 0 || area > limit || !area.is_multiple_of(4096) {
            return Err(Violation::BadGreeting);
        }
        let flag = |bit| word(12) & bit != 0;
        Ok(Self { area, may_sleep: flag(1), quiet: flag(2), by_name: flag(4) })
    }
}

/// Sends a few bytes and a file descriptor. So few bytes fit the buffer of any socket: a full
/// buffer means that the peer does not read.
pub(super) fn send_with_fd(socket: &OwnedFd, bytes: &[u8], fd: &OwnedFd) -> Result<(), Error> {
    let fds = [fd.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&fds));
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let sent = rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags)
        .map_err(|errno| failed(socket, "handing over a segment", errno))?;
    debug_assert_eq!(sent, bytes.len());
    Ok(())
}

/// Turns an error of the socket into an [`Error`]: `PeerGone` when the peer has hung up.
fn failed(socket: &OwnedFd, doing: &'static str, errno: Errno) -> Error {
    match errno {
        Errno::PIPE | Errno::CONNRESET => Error::PeerGone { pid: peer_pid(socket) },
        _ => Error::system(doing)(errno),
    }
}

/// Receives exactly `bytes.len()` bytes and one file descriptor.
pub(super) fn receive_with_fd(socket: &OwnedFd, bytes: &mut [u8], deadline: Deadline) -> Result<OwnedFd, Error> {
    receive_with_any(socket, bytes, deadline)?.ok_or_else(|| Violation::NoSegment.into())
}

/// As [`receive_with_fd`], but accepts a message without a file descriptor as well.
fn receive_with_any(socket: &OwnedFd, bytes: &mut [u8], deadline: Deadline) -> Result<Option<OwnedFd>, Error> {
    await_readable(socket, deadline)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let wanted = bytes.len();
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let got = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, flags)
        .map_err(|errno| failed(socket, "receiving a segment", errno))?;
    let mut files = received::take(&mut control)?;
    match (files.pop(), files.pop()) {
        (_, Some(_)) => Err(Violation::NoSegment.into()),
        (None, None) if got.bytes == 0 => Err(Violation::NoSegment.into()),
        (file, None) if got.bytes == wanted => Ok(file),
        _ => Err(Violation::BadGreeting.into()),
    }
}

/// Waits until the socket is readable. Fails with `PeerGone` when the peer has hung up.
pub(super) fn await_readable(socket: &OwnedFd, deadline: Deadline) -> Result<(), Error> {
    let deadline = deadline.start();
    loop {
        let left = deadline.remaining();
        let timeout =
            Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() };
        let mut polled = [PollFd::new(socket, PollFlags::IN)];
        match poll(&mut polled, Some(&timeout)) {
            Ok(0) => return Err(Error::TimedOut),
            Ok(_) if polled[0].revents().contains(PollFlags::IN) => {
                let mut byte = [MaybeUninit::<u8>::uninit(); 1];
                let peek = RecvFlags::PEEK | RecvFlags::DONTWAIT;
                return match rustix::net::recv(socket, &mut byte, peek) {
                    Ok((_, 0)) | Err(Errno::CONNRESET) => Err(Error::PeerGone { pid: peer_pid(socket) }),
                    Ok(_) => Ok(()),
                    Err(errno) => Err(Error::system("receiving a segment")(errno)),
                };
            }
            Ok(_) => {
                return Err(Error::PeerGone { pid: peer_pid(socket) });
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::system("waiting for a peer")(errno)),
        }
    }
}

/// Returns the peer's process id, as the kernel recorded it at connect; 0 when the kernel cannot
/// tell.
pub(super) fn peer_pid(socket: &OwnedFd) -> u32 {
    local_peer(socket).map_or(0, |(pid, _)| pid)
}

/// An accepted connection without a greeting so far.
///
/// Greeting waits for the peer. A server therefore greets on the connection's own thread: a peer
/// that connects and stays silent then delays no other peer.
#[derive(Debug)]
pub struct Incoming {
    pub(super) socket: OwnedFd,
    /// Whether the server accepts peers of every user.
    pub(super) is_open: bool,
}

impl Incoming {
    /// Greets the peer and maps its segment.
    ///
    /// # Errors
    ///
    /// [`Error::AccessDenied`] when the peer is of another user and the name is not open to all
    /// users; [`Error::Violation`] when the peer breaks the protocol; [`Error::TimedOut`] when the
    /// peer sends nothing within five seconds.
    pub fn complete(self, options: &Options) -> Result<Window, Error> {
        if !self.is_open {
            check_peer(&self.socket)?;
        }
        let deadline = Deadline::after_secs(5).start();
        let theirs = receive(&self.socket, options, deadline)?;
        let mut options = options.clone();
        if theirs.1.quiet {
            options.waiting = Waiting::Block;
        }
        let own = mapping::create(layout::AREA + options.area)?;
        send(&self.socket, &options, &own.1)?;
        connected(self.socket, own, theirs, &options, deadline)
    }

    /// Connects as the client, which sends its greeting first.
    pub(super) fn request(self, options: &Options, deadline: Deadline) -> Result<Window, Error> {
        let own = mapping::create(layout::AREA + options.area)?;
        send(&self.socket, options, &own.1)?;
        let theirs = receive(&self.socket, options, deadline)?;
        connected(self.socket, own, theirs, options, deadline)
    }
}

fn connected(
    socket: OwnedFd,
    (own, file): (Mapping, OwnedFd),
    (theirs, greeting): (Option<Mapping>, Greeting),
    options: &Options,
    deadline: Deadline,
) -> Result<Window, Error> {
    let peer = match theirs {
        Some(theirs) => theirs,
        None => named::hand_over(&socket, (&own, &file), greeting.area()?, deadline)?,
    };
    let sleep = if greeting.by_name { Sleep::on_socket()? } else { Sleep::OnWord };
    let socket = Arc::new(socket);
    let carrier = carrier::Socket::new(Arc::clone(&socket), sleep);
    let number = carrier.number;
    let ends = Ends { own, peer, area: None, carrier: Box::new(carrier) };
    let window = Window::new(ends, greeting.may_sleep, options);
    pulse::watch(&socket, number, window.wire())?;
    Ok(window)
}

fn send(socket: &OwnedFd, options: &Options, fd: &OwnedFd) -> Result<(), Error> {
    let may_sleep = options.waiting != Waiting::Poll;
    let greeting = Greeting { area: options.area as u64, may_sleep, quiet: options.quiet, by_name: false };
    send_with_fd(socket, &greeting.to_wire(), fd)
}

/// Receives the peer's greeting and its segment. A peer that uses names sends no segment: this side
/// then makes both.
fn receive(socket: &OwnedFd, options: &Options, deadline: Deadline) -> Result<(Option<Mapping>, Greeting), Error> {
    let mut bytes = [0; LENGTH];
    let file = receive_with_any(socket, &mut bytes, deadline)?;
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

    #[test]
    fn greeting_round_trips() {
        let greeting = Greeting { area: 1 << 18, may_sleep: true, quiet: true, by_name: true };
        assert_eq!(Greeting::from_wire(&greeting.to_wire(), 1 << 20), Ok(greeting));
    }

    #[test]
    fn every_wrong_word_is_refused() {
        let good = Greeting { area: 1 << 18, may_sleep: false, quiet: false, by_name: false }.to_wire();
        for (at, value) in [(0, 0), (4, 9), (8, 3), (12, 8), (17, 1), (20, 1), (18, 0xff)] {
            let mut bad = good;
            bad[at] = value;
            assert_eq!(Greeting::from_wire(&bad, 1 << 20), Err(Violation::BadGreeting), "byte {at}");
        }
    }
}
