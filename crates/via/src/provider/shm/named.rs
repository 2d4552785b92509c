//! Segments for peers that cannot be passed files, such as a Java virtual machine, whose sockets
//! carry only bytes.
//!
//! The peer's greeting has a flag for this. The other side then makes both segments and sends their
//! *names*: its own process id, and the numbers of its two file descriptors. By these names, a
//! process of the same user opens the segments in `/proc`. The segments have no other names, so no
//! process can remove the segments, just as if their descriptors had been passed. The peer maps
//! both segments and confirms. Only then is the peer's segment sealed against further writers.
//!
//! ```text
//!      0  u32  process
//!      4  u32  descriptor of the sender's segment
//!      8  u32  descriptor of the receiver's segment
//!     12  u32  zero
//!     16  u64  mark: the word of both segments at [`layout::MARK`]
//! ```
//!
//! In another PID namespace, a process id means another process; the mark reveals this. Larger
//! areas follow as in [`super::carrier`].

use super::mapping::Mapping;
use crate::deadline::Deadline;
use crate::random::random;
use crate::{Error, Violation, layout};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::net::{RecvFlags, SendFlags};

/// The peer's confirmation that it has mapped both segments.
const MAPPED: u8 = 1;

/// Returns the number of a file descriptor, by which other processes find the file.
pub(super) fn number_of(file: &OwnedFd) -> u32 {
    file.as_raw_fd().unsigned_abs()
}

/// A segment made for a peer that has not mapped the segment so far.
pub(super) struct Segment {
    file: OwnedFd,
    /// The message that names both segments.
    names: [u8; 24],
}

impl Segment {
    /// Makes and maps the peer's segment, with an area of `area` bytes. The file of this side's
    /// segment, which the caller has mapped, must stay open until [`Self::hand_over`] returns.
    pub(super) fn make((own, own_file): (&Mapping, &OwnedFd), area: usize) -> Result<(Mapping, Self), Error> {
        let mark: [u8; 8] = random()?;
        own.store(layout::MARK, &mark).ok_or(Violation::ShortSegment)?;
        let length = layout::AREA + area;
        let file = make_file(length, &mark)?;
        let mapping = Mapping::new(file.as_fd(), length, false)?;
        let mut names = [0; 24];
        names[0..4].copy_from_slice(&std::process::id().to_le_bytes());
        names[4..8].copy_from_slice(&number_of(own_file).to_le_bytes());
        names[8..12].copy_from_slice(&number_of(&file).to_le_bytes());
        names[16..24].copy_from_slice(&mark);
        Ok((mapping, Self { file, names }))
    }

    /// Sends the peer the names of both segments, and waits until the peer has mapped them.
    pub(super) fn hand_over(self, socket: &OwnedFd, deadline: Deadline) -> Result<(), Error> {
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let sent = rustix::net::send(socket, &self.names, flags).map_err(Error::system("naming segments"))?;
        debug_assert_eq!(sent, self.names.len(), "the message is short, and only the second one on the connection");
        await_mapped(socket, deadline)?;
        let seals = SealFlags::FUTURE_WRITE | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&self.file, seals).map_err(Error::system("sealing a segment"))
    }
}

/// Makes the file of the peer's segment, which is not yet sealed against writable mappings.
fn make_file(length: usize, mark: &[u8]) -> Result<OwnedFd, Error> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create("obvia", flags).map_err(Error::system("creating a segment"))?;
    rustix::fs::ftruncate(&file, length as u64).map_err(Error::system("sizing a segment"))?;
    rustix::io::pwrite(&file, mark, layout::MARK as u64).map_err(Error::system("marking a segment"))?;
    let size = SealFlags::SHRINK | SealFlags::GROW;
    rustix::fs::fcntl_add_seals(&file, size).map_err(Error::system("sealing a segment"))?;
    Ok(file)
}

fn await_mapped(socket: &OwnedFd, deadline: Deadline) -> Result<(), Error> {
    super::socket::await_readable(socket, deadline)?;
    let mut answer = [0];
    let flags = RecvFlags::DONTWAIT;
    match rustix::net::recv(socket.as_fd(), &mut answer, flags).map_err(Error::system("naming segments"))? {
        (_, 1) if answer == [MAPPED] => Ok(()),
        _ => Err(Violation::BadGreeting.into()),
    }
}
