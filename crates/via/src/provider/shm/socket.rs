//! Transport of file descriptors over the socket of a connection, and waiting for the socket.

use super::directory::local_peer;
use super::received::{self, Message};
use crate::{Deadline, Error, Violation};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::time::Timespec;
use std::io::IoSlice;
use std::mem::MaybeUninit;

/// Sends a few bytes and a file descriptor. The buffer of any socket has room for them, so a full
/// buffer means that the peer does not read.
pub(super) fn send_with_fd(socket: &OwnedFd, bytes: &[u8], fd: &OwnedFd) -> Result<(), Error> {
    let fds = [fd.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&fds));
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let sent = rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags)
        .map_err(|errno| failed(socket, "sending a segment", errno))?;
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

/// Receives exactly `bytes.len()` bytes, and at most one file descriptor.
pub(super) fn receive_with_any(
    socket: &OwnedFd,
    bytes: &mut [u8],
    deadline: Deadline,
) -> Result<Option<OwnedFd>, Error> {
    await_readable(socket, deadline)?;
    let wanted = bytes.len();
    let message = received::receive(socket, bytes).map_err(|errno| failed(socket, "receiving a segment", errno))?;
    let Message { length, mut files, .. } = message?;
    match (files.pop(), files.pop()) {
        (_, Some(_)) => Err(Violation::NoSegment.into()),
        (None, None) if length == 0 => Err(Violation::NoSegment.into()),
        (file, None) if length == wanted => Ok(file),
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
