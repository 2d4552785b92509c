//! Segments: making, sealing, checking and mapping them.

use crate::sync::AtomicU32;
use crate::{Error, Memory, RegionView, Violation};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// A mapped stretch of shared memory, unmapped when dropped.
#[derive(Debug)]
pub(super) struct Mapping {
    // Invariant: `start..start + length` is mapped, readable (and writable if `writable`) as long as this value lives.
    start: NonNull<u8>,
    length: usize,
    writable: bool,
}

// SAFETY: the mapping belongs to the process, not to a thread; access goes through atomics or through the one
// owner that `Tx` is.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(fd: BorrowedFd<'_>, length: usize, writable: bool) -> Result<Self, Error> {
        let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory in use. The file is
        // sealed against shrinking before or checked to be, so the pages stay.
        let start = unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, fd, 0) };
        let start = start.map_err(Error::system("mapping a segment"))?;
        let start = NonNull::new(start.cast()).ok_or(Violation::ShortSegment)?;
        Ok(Self { start, length, writable })
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }

    pub(super) fn is_writable(&self) -> bool {
        self.writable
    }

    /// A view for checked loads.
    pub(super) fn view(&self) -> RegionView<'_> {
        // SAFETY: mapped as long as self lives; mappings begin at a page.
        unsafe { RegionView::new(self.start.as_ptr(), self.length) }
    }

    /// Copies bytes of a region in, to `at`. `None` when the mapping is not writable, or one of the two has no such bytes.
    pub(super) fn fill(&self, at: usize, memory: &Memory, offset: u64, length: usize) -> Option<()> {
        if !self.writable || at.checked_add(length)? > self.length {
            return None;
        }
        // SAFETY: in bounds by the check above.
        let into = unsafe { self.start.add(at) };
        // SAFETY: writable for `length` bytes by the checks, and a mapping that nothing else in this process is made of.
        unsafe { memory.read_to_raw(offset, into.as_ptr(), length) }
    }

    /// The control word of eight bytes at `offset`.
    #[inline]
    pub(super) fn word64(&self, offset: usize) -> &AtomicU64 {
        assert!(offset + 8 <= self.length && offset.is_multiple_of(8), "words lie inside");
        // SAFETY: in bounds by the assertion.
        let place = unsafe { self.start.add(offset) };
        // SAFETY: mapped as long as self lives, and aligned; shared words are accessed by atomics only, and stores go to words
        // of writable mappings only.
        unsafe { place.cast::<AtomicU64>().as_ref() }
    }

    /// The control word at `offset`.
    #[inline]
    pub(super) fn word(&self, offset: usize) -> &AtomicU32 {
        debug_assert!(offset + 4 <= self.length && offset.is_multiple_of(4));
        // SAFETY: in bounds and aligned: callers pass the constants of `layout`, and every segment is longer.
        let place = unsafe { self.start.add(offset) };
        // SAFETY: mapped as long as self lives; shared words are accessed by atomics only, and stores go to words
        // of writable mappings only.
        unsafe { place.cast::<AtomicU32>().as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and nothing borrowed from it outlives it. Unmapping a whole mapping
        // cannot fail.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// The seals that make a segment safe to map: its size is fixed and nobody maps it writable any more.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::FUTURE_WRITE).union(SealFlags::SEAL);

/// Makes a segment of `length` bytes, maps it writable, then seals it.
pub(super) fn create(length: usize) -> Result<(Mapping, OwnedFd), Error> {
    let fd = rustix::fs::memfd_create("obvia", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
        .map_err(Error::system("creating a segment"))?;
    rustix::fs::ftruncate(&fd, length as u64).map_err(Error::system("sizing a segment"))?;
    let mapping = Mapping::new(fd.as_fd(), length, true)?;
    rustix::fs::fcntl_add_seals(&fd, SEALS).map_err(Error::system("sealing a segment"))?;
    Ok((mapping, fd))
}

/// The type of the file system of memory files: TMPFS_MAGIC.
const TMPFS: rustix::fs::FsWord = 0x0102_1994;

/// Maps a peer's segment read-only, after checking that it is what it is said to be.
pub(super) fn open(fd: &OwnedFd, length: usize) -> Result<Mapping, Error> {
    check(fd, length, SealFlags::SHRINK | SealFlags::FUTURE_WRITE)?;
    Mapping::new(fd.as_fd(), length, false)
}

/// Maps a region that a peer opened to this side, after checking that its bytes cannot go away.
pub(super) fn open_region(fd: &OwnedFd, length: usize, writable: bool) -> Result<Mapping, Error> {
    check(fd, length, SealFlags::SHRINK)?;
    Mapping::new(fd.as_fd(), length, writable)
}

/// Whether a peer's file has these seals and so many bytes.
fn check(fd: &OwnedFd, length: usize, wanted: SealFlags) -> Result<(), Error> {
    let seals = rustix::fs::fcntl_get_seals(fd).map_err(|_| Violation::NotSealed)?;
    if !seals.contains(wanted) {
        return Err(Violation::NotSealed.into());
    }
    // Pages of other file systems with seals (huge ones) may be missing when they are touched, which is a bus error.
    let system = rustix::fs::fstatfs(fd).map_err(Error::system("looking at a segment"))?;
    if system.f_type != TMPFS {
        return Err(Violation::NotSealed.into());
    }
    let found = rustix::fs::fstat(fd).map_err(Error::system("looking at a segment"))?;
    if u64::try_from(found.st_size).unwrap_or(0) < length as u64 {
        return Err(Violation::ShortSegment.into());
    }
    Ok(())
}
