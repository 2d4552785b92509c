//! Segments: making, sealing and checking them.

pub(super) use crate::window::Mapping;
use crate::{Error, Violation};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags};
use std::sync::LazyLock;

/// The seals of everything that a peer maps: the size is fixed.
const FIXED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// Makes a segment of `length` bytes, maps it writable, then seals it against further writable
/// mappings.
pub(super) fn create(length: usize) -> Result<(Mapping, OwnedFd), Error> {
    create_sealed(length, FIXED | SealFlags::FUTURE_WRITE)
}

/// Makes a region that peers may read, or write as well.
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

/// Whether the system limits the memory that processes commit (`vm.overcommit_memory` is 2). The
/// pages of a memory file count from their first touch on, and touching a page beyond the limit is
/// a bus error.
static IS_COMMIT_LIMITED: LazyLock<bool> =
    LazyLock::new(|| std::fs::read_to_string("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.trim() == "2"));

/// Has the system provide all pages of a mapping if it limits the memory. Otherwise, pages take
/// memory when they are first touched.
fn provided(mapping: Mapping, is_limited: bool) -> Result<Mapping, Error> {
    if is_limited {
        mapping.provide()?;
    }
    Ok(mapping)
}

/// The type of the file system of memory files: TMPFS_MAGIC.
const TMPFS: rustix::fs::FsWord = 0x0102_1994;

/// Maps a peer's segment read-only, after checking its seals and size.
pub(super) fn open(fd: &OwnedFd, length: usize) -> Result<Mapping, Error> {
    check(fd, length, SealFlags::SHRINK | SealFlags::FUTURE_WRITE)?;
    // The seals keep the peer from removing pages again.
    provided(Mapping::new(fd.as_fd(), length, false)?, *IS_COMMIT_LIMITED)
}

/// Maps a region that a peer opened to this side, after checking that the region's file cannot
/// shrink. The peer can remove pages of a writable region at any time.
pub(super) fn open_region(fd: &OwnedFd, length: usize, writable: bool) -> Result<Mapping, Error> {
    check(fd, length, SealFlags::SHRINK)?;
    provided(Mapping::new(fd.as_fd(), length, writable)?, *IS_COMMIT_LIMITED)
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

    const PAGES: usize = 8 * 4096;

    /// Returns the number of bytes for which a file has memory.
    fn used(file: &OwnedFd) -> i64 {
        rustix::fs::fstat(file).unwrap().st_blocks * 512
    }

    #[test]
    #[cfg_attr(miri, ignore = "creates memory files")]
    fn pages_are_provided_before_their_first_touch_if_memory_is_limited() {
        for is_writable in [true, false] {
            let (_own, file) = create_region(PAGES, true).unwrap();
            let map = || Mapping::new(file.as_fd(), PAGES, is_writable).unwrap();
            rustix::fs::fallocate(&file, PUNCH, 0, PAGES as u64).unwrap();
            drop(provided(map(), false).unwrap());
            assert_eq!(used(&file), 0);
            drop(provided(map(), true).unwrap());
            assert_eq!(used(&file), PAGES as i64);
        }
    }

    /// A page behind the end of the file cannot be provided, as if there were no memory for it.
    #[test]
    #[cfg_attr(miri, ignore = "creates memory files")]
    fn a_page_that_cannot_be_provided_is_an_error() {
        let (_own, file) = create(4096).unwrap();
        let longer = Mapping::new(file.as_fd(), 8192, false).unwrap();
        assert!(provided(longer, true).is_err());
    }

    const PUNCH: rustix::fs::FallocateFlags =
        rustix::fs::FallocateFlags::PUNCH_HOLE.union(rustix::fs::FallocateFlags::KEEP_SIZE);
}
