//! Lock files: recognising and holding them.
//!
//! A lock file contains the number of the process that serves the name, and in the next line the
//! mark of a lock: `4711\nobvia\n`. A lock file that was just made, for its user alone, is still
//! empty, and the lock file of a Java virtual machine may have no mark. Any other file belongs to
//! another program and is left as it is.

use super::NameFiles;
use super::place::{is_own, is_own_socket, is_same};
use crate::{Deadline, Error};
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, FlockOperation, OFlags};
use rustix::io::Errno;
use std::time::Duration;

/// The second line of a lock file.
const MARK: &str = "obvia";
/// The size of the buffer for the text of a lock file, in bytes. The text is shorter.
const LENGTH_MAX: usize = 32;
/// The mode bits that a lock file must not have: only its owner writes to it.
const OTHERS_WRITE: u32 = 0o022;
/// The mask of the mode bits in a file's status, which also has the file's type.
const MODE: u32 = 0o7777;
/// The mode that a lock file is made with.
const MADE: u32 = 0o600;
/// The maximum number of attempts to lock a file. An attempt fails if another process removes the
/// file before the lock is taken.
const ATTEMPTS: usize = 16;
/// The interval between attempts while another process is about to release or remove a file.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The kind of the file at the path of a lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A lock file, with the process that was the last to hold it.
    Lock { pid: u32 },
    /// An empty file: possibly a lock file to which no process has written yet.
    Blank,
    /// Another program's file.
    Foreign { why: &'static str },
}

impl Found {
    /// Returns the kind of an open file. `has_socket` says whether a socket of the name lies beside
    /// it.
    pub(super) fn of(file: &OwnedFd, has_socket: bool) -> Result<Self, Errno> {
        let found = rustix::fs::fstat(file)?;
        if !is_own(&found, FileType::RegularFile) || found.st_nlink != 1 || found.st_mode & OTHERS_WRITE != 0 {
            return Ok(Self::Foreign { why: "it is not a regular file that only this user can write" });
        }
        let mut bytes = [0; LENGTH_MAX];
        let length = rustix::io::pread(file, &mut bytes, 0)?;
        match Self::from_text(&bytes[..length], has_socket) {
            Self::Blank if found.st_mode & MODE != MADE => {
                Ok(Self::Foreign { why: "it is empty, and was not created as a lock" })
            }
            text => Ok(text),
        }
    }

    fn from_text(text: &[u8], has_socket: bool) -> Self {
        let foreign = Self::Foreign { why: "its contents are not those of a lock" };
        if text.is_empty() {
            return Self::Blank;
        }
        let Some((first, rest)) = str::from_utf8(text).ok().and_then(|text| text.split_once('\n')) else {
            return foreign;
        };
        let is_number = !first.is_empty() && first.bytes().all(|digit| digit.is_ascii_digit());
        let is_marked = rest.strip_suffix('\n') == Some(MARK);
        // The lock of a Java virtual machine may lack the mark, but has a socket beside it.
        let is_it = is_number && (is_marked || rest.is_empty() && has_socket);
        first.parse().ok().filter(|_| is_it).map_or(foreign, |pid| Self::Lock { pid })
    }
}

impl NameFiles {
    /// Opens the lock file of the name for reading only, and returns it with its kind. `None` if
    /// the file cannot be opened or read.
    pub(super) fn look(&self) -> Option<(OwnedFd, Found)> {
        let file = self.place.file(&self.lock_file(), OFlags::RDONLY).ok()?;
        let found = Found::of(&file, self.has_socket()).ok()?;
        Some((file, found))
    }

    fn has_socket(&self) -> bool {
        self.place.found(&self.socket_file()).is_ok_and(|found| is_own_socket(&found))
    }

    /// Returns the id of the process that serves the name, if the lock file could be read.
    pub(super) fn owner(&self) -> Option<u32> {
        match self.look()? {
            (_, Found::Lock { pid }) => Some(pid),
            _ => None,
        }
    }

    /// Takes the lock, and writes the id of this process to the lock file.
    pub(super) fn lock(&self, timeout: Deadline) -> Result<OwnedFd, Error> {
        let name = self.lock_file();
        let in_use = || Error::NameInUse { name: self.name.clone(), pid: self.owner() };
        let locking = self.place.error("locking", &name);
        let deadline = timeout.start();
        // If the last owner removes its lock file between the open and the lock here, the locked
        // file has no name any more. The loop then opens the path again.
        let mut foreign = None;
        for _ in 0..ATTEMPTS {
            let file = self
                .place
                .file(&name, OFlags::RDWR | OFlags::CREATE)
                .map_err(self.place.error("creating the lock of a name,", &name))?;
            if let Found::Foreign { why } = Found::of(&file, self.has_socket()).map_err(&locking)? {
                // The file may be the lock of a Java virtual machine that is giving up its name.
                // Without a mark, such a lock is recognised by its socket, and the machine removes
                // the socket first.
                foreign = Some(Error::ForeignFile { path: self.place.path().join(&name), why });
                std::thread::sleep(POLL_INTERVAL);
                continue;
            }
            // The loop waits while a call of `list` holds the lock, in this or another process.
            // `list` takes a shared lock to read the name's state, and an exclusive lock to remove
            // a dead server's files. The thread of `list` may be stopped while it holds the lock.
            // If a server holds the lock, the server answers soon, which ends the loop.
            while let Err(errno) = lock_both(&file) {
                if !matches!(errno, Errno::WOULDBLOCK | Errno::ACCESS) {
                    return Err(locking(errno));
                }
                if deadline.is_over() || self.answers() {
                    return Err(in_use());
                }
                std::thread::sleep(POLL_INTERVAL);
            }
            let ours = rustix::fs::fstat(&file).map_err(&locking)?;
            if self.place.found(&name).is_ok_and(|there| is_same(&there, &ours)) {
                rustix::fs::ftruncate(&file, 0).map_err(&locking)?;
                let text = format!("{}\n{MARK}\n", std::process::id());
                rustix::io::pwrite(&file, text.as_bytes(), 0).map_err(&locking)?;
                return Ok(file);
            }
        }
        Err(foreign.unwrap_or_else(in_use))
    }

    /// Removes the files of a name whose server ended without removing them.
    pub(super) fn sweep(&self) {
        // Only a file that is known to be a lock is locked or removed: any other may belong to
        // another program.
        if !matches!(self.look(), Some((_, Found::Lock { .. }))) {
            return;
        }
        // While this process holds the lock, no server owns the files. A server that tries to take
        // the name at this moment waits for the lock, and then finds that the lock file that it
        // opened was removed.
        if let Ok(_lock) = self.lock(Deadline::after_secs(0))
            && self.place.remove_dead_socket(&self.socket_file()).is_ok()
        {
            self.place.remove(&self.lock_file());
        }
    }
}

/// Takes both kinds of lock on a lock file: the lock of flock(2), and the record lock of fcntl(2).
///
/// Java can take record locks only. The kernel releases a process's record lock as soon as the
/// process closes any descriptor of the file. So the record lock excludes Java virtual machines
/// only while the name is being taken. Afterwards they find that the socket answers. A Java virtual
/// machine that looks for dead names also holds the record lock for a moment.
fn lock_both(file: &OwnedFd) -> Result<(), Errno> {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive)?;
    rustix::fs::fcntl_lock(file, FlockOperation::NonBlockingLockExclusive)
}

#[cfg(test)]
mod tests {
    use super::Found;

    #[test]
    fn lock_files_are_recognised_by_their_mark_or_socket() {
        let is_lock = |text: &str, has_socket| match Found::from_text(text.as_bytes(), has_socket) {
            Found::Lock { pid } => Some(pid),
            _ => None,
        };
        assert_eq!(is_lock("4711\nobvia\n", false), Some(4711));
        assert_eq!(is_lock("4711\nobvia\n", true), Some(4711));
        assert_eq!(is_lock("4711\n", true), Some(4711));
        for foreign in ["4711\n", "4711", "obvia\n", "\nobvia\n", "      4711\n", "99999999999\nobvia\n", "# This file"]
        {
            assert_eq!(is_lock(foreign, false), None, "{foreign:?}");
        }
        assert_eq!(is_lock("# This file\n", true), None);
        assert_eq!(is_lock("4711\nobvia\nand more\n", true), None);
        assert_eq!(Found::from_text(b"", true), Found::Blank);
    }
}
