//! Files that a peer passed: which are memory, and how others are closed.
//!
//! To close a file takes as long as its file system likes. A file system in user space is told of it and waited for, by a thread that no signal
//! ends, and a peer can be that file system. Only memory files have seals, which the kernel tells without asking anybody. So every other file
//! is closed by a thread that has nothing else to do.

use crate::Violation;
use rustix::fd::OwnedFd;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage};
use std::sync::{Mutex, PoisonError};

/// Files that are to be closed.
#[derive(Debug)]
struct Doubtful {
    files: Vec<OwnedFd>,
    /// Whether a thread closes them.
    is_attended: bool,
}

static DOUBTFUL: Mutex<Doubtful> = Mutex::new(Doubtful { files: Vec::new(), is_attended: false });

/// Takes the files out of what came beside a message. Without files this allocates nothing.
///
/// # Errors
///
/// [`Violation::NotSealed`] where one is no memory file.
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

/// Returns a peer's file if it is a memory file, whatever its seals are. Waits for nobody.
fn memory_file(file: OwnedFd) -> Option<OwnedFd> {
    if rustix::fs::fcntl_get_seals(&file).is_ok() {
        return Some(file);
    }
    let mut doubtful = DOUBTFUL.lock().unwrap_or_else(PoisonError::into_inner);
    doubtful.files.push(file);
    if !doubtful.is_attended {
        let thread = std::thread::Builder::new().name("obvia-close".to_owned());
        // Without a thread they stay open until the next one comes.
        doubtful.is_attended = thread.spawn(close_all).is_ok();
    }
    None
}

/// Closes files as long as there are any. One that hangs keeps those behind it open: no peer that keeps to the protocol passes such files.
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
    use super::memory_file;
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::fs::File;
    use std::io::Read;

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn files_that_are_no_memory_are_closed() {
        let memory = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        assert!(memory_file(memory).is_some());
        for _ in 0..100 {
            let (mut out, into) = std::io::pipe().unwrap();
            assert!(memory_file(into.into()).is_none());
            // This ends when nobody has the other end open.
            assert_eq!(out.read(&mut [0]).unwrap(), 0);
        }
        assert!(memory_file(File::open("/dev/null").unwrap().into()).is_none());
    }
}
