//! Packets on the socket beside a connection. A packet of bytes and files arrives whole or not at
//! all, and no call here waits.

use super::received;
use crate::Error;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use std::io::IoSlice;
use std::mem::MaybeUninit;

/// The maximum number of files in one packet.
const FILES: usize = 2;

/// The result of sending a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// The packet is in the peer's queue.
    Done,
    /// The queue has no room now.
    Full,
    /// The peer is gone.
    Gone,
}

/// Sends one packet.
pub(super) fn send(socket: &OwnedFd, bytes: &[u8], files: &[BorrowedFd<'_>]) -> Result<Sent, Error> {
    debug_assert!(files.len() <= FILES && !bytes.is_empty());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(files));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    loop {
        return match rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags) {
            Ok(_) => Ok(Sent::Done),
            Err(Errno::INTR) => continue,
            // TOOMANYREFS: more files are under way than the system's limit for this user allows.
            Err(Errno::AGAIN | Errno::TOOMANYREFS | Errno::NOBUFS) => Ok(Sent::Full),
            Err(Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN) => Ok(Sent::Gone),
            Err(errno) => Err(Error::system("notifying a peer")(errno)),
        };
    }
}

/// Makes the peer's socket readable. A failed send does not matter: a full socket is readable
/// already, and a peer that is gone needs no wake-up.
pub(super) fn wake(socket: &OwnedFd) {
    let _ = send(socket, &[WAKE], &[]);
}

/// The packet that only announces records in the segment.
pub(super) const WAKE: u8 = 1;

/// The result of receiving a packet.
#[derive(Debug)]
pub(super) enum Received {
    /// No packet has arrived.
    Nothing,
    /// The peer hung up.
    End,
    /// A packet: its length in bytes, and its files.
    Packet(usize, Vec<OwnedFd>),
    /// A packet with more bytes or files than the protocol allows, or with files that are not
    /// memory files. While too many files of the peer's user wait to be closed, every packet is
    /// unfit.
    Unfit,
}

/// Receives the next packet, if one has arrived.
pub(super) fn receive(socket: &OwnedFd, bytes: &mut [u8]) -> Result<Received, Error> {
    loop {
        return match received::receive(socket, bytes) {
            Ok(Ok(message)) if message.is_cut || message.files.len() > FILES => Ok(Received::Unfit),
            Ok(Ok(message)) if message.length == 0 => Ok(Received::End),
            Ok(Ok(message)) => Ok(Received::Packet(message.length, message.files)),
            Ok(Err(_)) => Ok(Received::Unfit),
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => Ok(Received::Nothing),
            Err(Errno::CONNRESET | Errno::NOTCONN | Errno::PIPE) => Ok(Received::End),
            Err(errno) => Err(Error::system("reading from a peer")(errno)),
        };
    }
}
