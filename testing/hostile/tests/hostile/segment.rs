//! Memory files of a hostile peer: of any size, with any seals, written at any time.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// The seals that the protocol requires.
pub(crate) const SEALS: SealFlags =
    SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::FUTURE_WRITE).union(SealFlags::SEAL);

/// Creates a memory file without seals.
pub(crate) fn memory_file(length: u64) -> OwnedFd {
    let fd = rustix::fs::memfd_create("hostile", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&fd, length).unwrap();
    fd
}

/// A mapped memory file. It is never unmapped, because a test's threads may still write to it.
#[derive(Clone, Copy)]
pub(crate) struct Segment {
    // Invariant: `start..start + length` stays mapped for the life of the process.
    start: *mut u8,
    pub(crate) length: usize,
    writable: bool,
}

// SAFETY: all accesses are atomic, and the memory is never unmapped.
unsafe impl Send for Segment {}
// SAFETY: as for `Send`: all accesses are atomic, and the memory is never unmapped.
unsafe impl Sync for Segment {}

impl Segment {
    pub(crate) fn map(fd: impl AsFd, length: usize, writable: bool) -> Self {
        let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
        let start = unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, fd, 0) };
        Self { start: start.unwrap().cast(), length, writable }
    }

    /// Creates a segment with the length and the seals that the protocol requires.
    pub(crate) fn create(length: usize) -> (Self, OwnedFd) {
        let fd = memory_file(length as u64);
        let segment = Self::map(&fd, length, true);
        rustix::fs::fcntl_add_seals(&fd, SEALS).unwrap();
        (segment, fd)
    }

    fn place(self, offset: usize, size: usize) -> *mut u8 {
        assert!(offset.is_multiple_of(size) && offset + size <= self.length, "{offset} is no place");
        // SAFETY: by the assertion, the result lies within the mapping.
        unsafe { self.start.add(offset) }
    }

    pub(crate) fn u8(&self, offset: usize) -> &AtomicU8 {
        let place = self.place(offset, 1);
        // SAFETY: the memory stays mapped by the invariant, and all accesses are atomic.
        unsafe { AtomicU8::from_ptr(place) }
    }

    pub(crate) fn u32(&self, offset: usize) -> &AtomicU32 {
        let place = self.place(offset, 4);
        // SAFETY: as for `u8`. The word is aligned by the assertion in `place`.
        unsafe { AtomicU32::from_ptr(place.cast()) }
    }

    pub(crate) fn u64(&self, offset: usize) -> &AtomicU64 {
        let place = self.place(offset, 8);
        // SAFETY: as for `u32`.
        unsafe { AtomicU64::from_ptr(place.cast()) }
    }

    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(self.writable);
        for (at, &byte) in bytes.iter().enumerate() {
            self.u8(offset + at).store(byte, Ordering::Relaxed);
        }
    }

    pub(crate) fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        (offset..offset + length).map(|at| self.u8(at).load(Ordering::Relaxed)).collect()
    }
}
