//! Files that a peer passed: which are memory, and how others are closed.
//!
//! Closing a file takes as long as its file system likes. For a file system in user space (FUSE),
//! the kernel asks its daemon and waits for the answer in a state that no signal ends, and a peer
//! can be that daemon. Only memory files have seals, which the kernel reads without the file
//! system. A separate thread therefore closes every other file.

use crate::Violation;
use rustix::fd::OwnedFd;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage};
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

/// The number of files to be closed from which on no further files are received.
const DOUBTFUL_MAX: usize = 64;

/// Files that are to be closed.
#[derive(Debug)]
struct Doubtful {
    files: Vec<OwnedFd>,
    /// Whether a thread closes them.
    is_attended: bool,
}

impl Doubtful {
    const NONE: Self = Self { files: Vec::new(), is_attended: false };

    /// Returns a buffer for the files beside a message. The buffer has no room while too many files
    /// wait to be closed.
    fn room<'a>(&self, space: &'a mut [MaybeUninit<u8>]) -> RecvAncillaryBuffer<'a> {
        RecvAncillaryBuffer::new(if self.files.len() < DOUBTFUL_MAX { space } else { &mut [] })
    }
}

static DOUBTFUL: Mutex<Doubtful> = Mutex::new(Doubtful::NONE);

/// Returns a buffer for the files beside a message.
///
/// The buffer has no room while a peer's file systems keep too many files open. The kernel then
/// drops the files of the message without making descriptors, and marks the message as truncated
/// (MSG_CTRUNC), for which the receiver has to refuse the peer.
pub(super) fn room(space: &mut [MaybeUninit<u8>]) -> RecvAncillaryBuffer<'_> {
    DOUBTFUL.lock().unwrap_or_else(PoisonError::into_inner).room(space)
}

/// Takes the files out of a message's control data. Without files this allocates nothing.
///
/// # Errors
///
/// [`Violation::NotSealed`] when one of them is no memory file.
pub(super) fn take(control: &mut RecvAncillaryBuffer<'_>) -> Result<Vec<OwnedFd>, Violation> {
    let (mut files, mut are_memory) = (Vec::new(), true);
    for message in control.drain() {
        let RecvAncillaryMessage::ScmRights(passed) = message else { continue };
        for file in passed {
            match memory_file(file) {
                Some(file) => files.push(file),
                None => are_memory = false,
            }
        }
    }
    if are_memory { Ok(files) } else { Err(Violation::NotSealed) }
}

/// Returns a peer's file if it is a memory file, whatever its seals are. Does not wait.
fn memory_file(file: OwnedFd) -> Option<OwnedFd> {
    if rustix::fs::fcntl_get_seals(&file).is_ok() {
        return Some(file);
    }
    let mut doubtful = DOUBTFUL.lock().unwrap_or_else(PoisonError::into_inner);
    doubtful.files.push(file);
    if !doubtful.is_attended {
        let thread = std::thread::Builder::new().name("obvia-close".to_owned());
        // Without a thread, the files stay open until the next doubtful file arrives.
        doubtful.is_attended = thread.spawn(close_all).is_ok();
    }
    None
}

/// Closes files until none is left. A close that hangs keeps the files behind it open, which is no
/// loss to peers that keep to the protocol: they pass memory files only.
fn close_all() {
    loop {
        let mut doubtful = DOUBTFUL.lock().unwrap_or_else(PoisonError::into_inner);
        let next = doubtful.files.pop();
        doubtful.is_attended = next.is_some();
        drop(doubtful);
        if next.is_none() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DOUBTFUL_MAX, Doubtful, memory_file};
    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::net::{
        AddressFamily, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
        SocketType,
    };
    use std::fs::File;
    use std::io::{IoSlice, IoSliceMut, Read};
    use std::mem::MaybeUninit;
    use std::os::fd::AsFd;

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn files_that_are_no_memory_are_closed() {
        let memory = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        assert!(memory_file(memory).is_some());
        for _ in 0..100 {
            let (mut out, into) = std::io::pipe().unwrap();
            assert!(memory_file(into.into()).is_none());
            // The read ends when no process has the other end open any more.
            assert_eq!(out.read(&mut [0]).unwrap(), 0);
        }
        assert!(memory_file(File::open("/dev/null").unwrap().into()).is_none());
    }
    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn no_files_are_received_while_too_many_wait_to_be_closed() {
        let (near, far) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        let mut doubtful = Doubtful::NONE;
        for count in 0..=DOUBTFUL_MAX {
            let (mut out, into) = std::io::pipe().unwrap();
            let files = [into.as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
            rustix::net::sendmsg(&near, &[IoSlice::new(&[0])], &mut control, SendFlags::empty()).unwrap();
            drop(into);
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
            let mut control = doubtful.room(&mut space);
            let got =
                rustix::net::recvmsg(&far, &mut [IoSliceMut::new(&mut [0])], &mut control, RecvFlags::CMSG_CLOEXEC);
            let is_full = count == DOUBTFUL_MAX;
            assert_eq!(got.unwrap().flags.contains(ReturnFlags::CTRUNC), is_full);
            for message in control.drain() {
                let rustix::net::RecvAncillaryMessage::ScmRights(passed) = message else { continue };
                doubtful.files.extend(passed);
            }
            assert_eq!(doubtful.files.len(), DOUBTFUL_MAX.min(count + 1));
            if is_full {
                // The read ends since the kernel has dropped the file.
                assert_eq!(out.read(&mut [0]).unwrap(), 0);
            }
        }
    }
}
