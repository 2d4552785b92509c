//! Segments: making, sealing and checking them.

pub(super) use crate::window::Mapping;
use crate::{Error, Violation};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags};

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
    Ok((mapping, fd))
}

/// The type of the file system of memory files: TMPFS_MAGIC.
const TMPFS: rustix::fs::FsWord = 0x0102_1994;

/// Maps a peer's segment read-only, after checking its seals and size.
pub(super) fn open(fd: &OwnedFd, length: usize) -> Result<Mapping, Error> {
    check(fd, length, SealFlags::SHRINK | SealFlags::FUTURE_WRITE)?;
    Mapping::new(fd.as_fd(), length, false)
}

/// Maps a region that a peer opened to this side, after checking that the region's file cannot
/// shrink.
pub(super) fn open_region(fd: &OwnedFd, length: usize, writable: bool) -> Result<Mapping, Error> {
    check(fd, length, SealFlags::SHRINK)?;
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
