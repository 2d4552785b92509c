//! Segments: making, sealing and checking them.

pub(super) use crate::window::Mapping;
use crate::{Error, Memory, Violation};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags, SeekFrom};
use rustix::io::Errno;
use std::sync::LazyLock;

/// The seals of every file that a peer maps. They fix the file's size.
const FIXED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// Makes a segment of `length` bytes, maps it writable, then seals it against further writable
/// mappings.
pub(super) fn create(length: usize) -> Result<(Mapping, OwnedFd), Error> {
    create_sealed(length, FIXED | SealFlags::FUTURE_WRITE)
}

/// Makes a region that peers may read, and may also write if `is_writable` is true.
pub(crate) fn create_region(length: usize, is_writable: bool) -> Result<(Mapping, OwnedFd), Error> {
    create_sealed(length, if is_writable { FIXED } else { FIXED | SealFlags::FUTURE_WRITE })
}

fn create_sealed(length: usize, seals: SealFlags) -> Result<(Mapping, OwnedFd), Error> {
    let fd = rustix::fs::memfd_create("obvia", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
        .map_err(Error::system("creating a segment"))?;
    rustix::fs::ftruncate(&fd, length as u64).map_err(Error::system("sizing a segment"))?;
    let mapping = Mapping::new(fd.as_fd(), length, true)?;
    rustix::fs::fcntl_add_seals(&fd, seals).map_err(Error::system("sealing a segment"))?;
    Ok((provided(mapping, *IS_COMMIT_LIMITED)?, fd))
}

/// Whether the system limits the memory that processes commit (`vm.overcommit_memory` is 2). A page
/// of a memory file counts as committed when it is first touched, and touching a page beyond the
/// limit is a bus error.
static IS_COMMIT_LIMITED: LazyLock<bool> =
    LazyLock::new(|| std::fs::read_to_string("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.trim() == "2"));

/// Has the system provide all pages of a mapping of this process if the system limits the memory,
/// as `is_limited` says. Otherwise, pages take memory when they are first touched.
fn provided(mapping: Mapping, is_limited: bool) -> Result<Mapping, Error> {
    if is_limited {
        mapping.provide()?;
    }
    Ok(mapping)
}

/// Has the system provide all pages of a region of this process, whose file a peer is about to get,
/// if the system limits the memory.
pub(super) fn provide_region(memory: &Memory) -> Result<(), Error> {
    if *IS_COMMIT_LIMITED {
        // SAFETY: the memory must outlive the mapping value. The value is dropped at the end of
        // this statement, and the caller's reference keeps the memory until then.
        unsafe { Mapping::of(memory) }.provide()?;
    }
    Ok(())
}

/// Checks that a peer's file has all of its pages. Each process has the system provide the pages of
/// its own files. This process does not add pages that a peer's file lacks, because it would then
/// pay for memory whose size the peer chooses.
fn check_provided(fd: &OwnedFd, length: usize) -> Result<(), Error> {
    // If the kernel cannot provide pages, the files of honest peers lack them, too.
    if !Mapping::can_provide() {
        return Ok(());
    }
    // The number of the file's blocks does not show whether a page is missing, because the file can
    // have pages beyond its end.
    let hole = rustix::fs::seek(fd, SeekFrom::Hole(0)).map_err(Error::system("examining a segment"))?;
    if hole < length as u64 {
        return Err(Error::system("mapping a segment whose pages the peer has not provided")(Errno::NOMEM));
    }
    Ok(())
}

/// The type of the file system of memory files: TMPFS_MAGIC.
const TMPFS: rustix::fs::FsWord = 0x0102_1994;

/// Maps a peer's segment read-only, after checking its seals, size and pages.
pub(super) fn open(fd: &OwnedFd, length: usize) -> Result<Mapping, Error> {
    // The seals keep the peer from removing pages again.
    open_sealed(fd, length, SealFlags::SHRINK | SealFlags::FUTURE_WRITE, false, *IS_COMMIT_LIMITED)
}

/// Maps a region that a peer opened to this side, after checking that the region's file cannot
/// shrink and has its pages. The peer can remove pages of a writable region at any time.
pub(super) fn open_region(fd: &OwnedFd, length: usize, writable: bool) -> Result<Mapping, Error> {
    open_sealed(fd, length, SealFlags::SHRINK, writable, *IS_COMMIT_LIMITED)
}

fn open_sealed(
    fd: &OwnedFd,
    length: usize,
    seals: SealFlags,
    writable: bool,
    is_limited: bool,
) -> Result<Mapping, Error> {
    check(fd, length, seals)?;
    if is_limited {
        check_provided(fd, length)?;
    }
    Mapping::new(fd.as_fd(), length, writable)
}

/// Checks that a peer's file has the seals `wanted` and at least `length` bytes.
fn check(fd: &OwnedFd, length: usize, wanted: SealFlags) -> Result<(), Error> {
    let seals = rustix::fs::fcntl_get_seals(fd).map_err(|_| Violation::NotSealed)?;
    if !seals.contains(wanted) {
        return Err(Violation::NotSealed.into());
    }
    // Files of other sealable file systems (huge pages) may lack pages, and touching a missing page
    // is a bus error.
    let system = rustix::fs::fstatfs(fd).map_err(Error::system("examining a segment"))?;
    if system.f_type != TMPFS {
        return Err(Violation::NotSealed.into());
    }
    let found = rustix::fs::fstat(fd).map_err(Error::system("examining a segment"))?;
    if u64::try_from(found.st_size).unwrap_or(0) < length as u64 {
        return Err(Violation::ShortSegment.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FallocateFlags, fallocate};

    /// Returns the length of eight pages. `None`, with a message, if the kernel cannot provide
    /// pages.
    fn eight_pages() -> Option<usize> {
        if Mapping::can_provide() {
            // SAFETY: the function only returns a number.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            return Some(8 * usize::try_from(page).unwrap());
        }
        println!("skipped: the kernel cannot provide pages, as Linux 5.14 can");
        None
    }

    /// Returns the number of bytes for which a file has memory.
    fn used(file: &OwnedFd) -> usize {
        usize::try_from(rustix::fs::fstat(file).unwrap().st_blocks).unwrap() * 512
    }

    #[test]
    #[cfg_attr(miri, ignore = "creates memory files")]
    fn pages_are_provided_before_their_first_touch_if_memory_is_limited() {
        let Some(length) = eight_pages() else { return };
        for is_writable in [true, false] {
            let (_own, file) = create_region(length, true).unwrap();
            let map = || Mapping::new(file.as_fd(), length, is_writable).unwrap();
            fallocate(&file, PUNCH, 0, length as u64).unwrap();
            drop(provided(map(), false).unwrap());
            assert_eq!(used(&file), 0);
            drop(provided(map(), true).unwrap());
            assert_eq!(used(&file), length);
        }
    }

    /// If this process opened a peer's file that lacks pages, the missing pages would later take
    /// memory of this process.
    #[test]
    #[cfg_attr(miri, ignore = "creates memory files")]
    fn files_of_peers_that_lack_pages_are_refused_if_memory_is_limited() {
        let Some(length) = eight_pages() else { return };
        let (own, file) = create_region(length, true).unwrap();
        fallocate(&file, PUNCH, 0, length as u64).unwrap();
        for is_writable in [true, false] {
            let opened = |length, is_limited| open_sealed(&file, length, FIXED, is_writable, is_limited);
            assert!(opened(1, true).is_err() && opened(length, true).is_err());
            assert!(opened(length, false).is_ok());
            assert_eq!(used(&file), 0, "no page is provided");
            own.provide().unwrap();
            assert!(opened(1, true).is_ok() && opened(length, true).is_ok());
            // The file has pages after the hole, so the number of its pages does not show how many
            // there are before the hole.
            fallocate(&file, PUNCH, length as u64 / 2, length as u64 / 8).unwrap();
            assert!(opened(length / 2, true).is_ok() && opened(length / 2 + 1, true).is_err());
            fallocate(&file, PUNCH, 0, length as u64).unwrap();
        }
    }

    /// A page beyond the end of the file cannot be provided, which has the same effect as a lack of
    /// memory.
    #[test]
    #[cfg_attr(miri, ignore = "creates memory files")]
    fn a_page_that_cannot_be_provided_is_an_error() {
        let Some(length) = eight_pages() else { return };
        let (_own, file) = create(length / 2).unwrap();
        let longer = Mapping::new(file.as_fd(), length, false).unwrap();
        assert!(provided(longer, true).is_err());
    }

    const PUNCH: FallocateFlags = FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);
}
