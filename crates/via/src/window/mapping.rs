//! Mapped memory of a window's segments.

use crate::sync::AtomicU32;
use crate::{Error, Memory, RegionView, Violation};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// A mapped stretch of shared memory, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    // Invariant: `start..start + length` is mapped and readable (and writable if `writable`) as
    // long as this value lives. `start` is a multiple of 8: mappings begin at pages, and the parts
    // that `behind` returns begin at multiples of 8.
    start: NonNull<u8>,
    length: usize,
    writable: bool,
    // Whether this value unmaps the memory when it is dropped. Otherwise another value owns the
    // memory.
    owned: bool,
}

// SAFETY: the mapping belongs to the process, not to a thread. The bytes are accessed as atomics,
// by copies without references, or by their only writer, such as `Tx`.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(crate) fn new(fd: BorrowedFd<'_>, length: usize, writable: bool) -> Result<Self, Error> {
        let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory in use.
        // This process has sealed the file against shrinking, or has checked that the file is
        // sealed, so the pages stay.
        let start = unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, fd, 0) };
        let start = start.map_err(Error::system("mapping a segment"))?;
        let start = NonNull::new(start.cast()).ok_or(Violation::ShortSegment)?;
        Ok(Self { start, length, writable, owned: true })
    }

    /// Makes a private, zeroed mapping, for example for the image of a peer's segment.
    pub(crate) fn zeroed(length: usize) -> Result<Self, Error> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory in use.
        let start = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), length, protection, MapFlags::PRIVATE) };
        let start = start.map_err(Error::system("mapping memory"))?;
        let start = NonNull::new(start.cast()).ok_or(Violation::ShortSegment)?;
        Ok(Self { start, length, writable: true, owned: true })
    }

    /// Wraps memory that another value owns.
    ///
    /// # Safety
    ///
    /// The memory must outlive the value.
    pub(crate) unsafe fn of(memory: &Memory) -> Self {
        Self { start: memory.start(), length: memory.len(), writable: true, owned: false }
    }

    /// Returns the part of this mapping from `offset` on. The part does not own its memory.
    ///
    /// # Safety
    ///
    /// The memory of this mapping must outlive the returned value. The mapping must be longer than
    /// `offset`. `offset` must be a multiple of 8.
    pub(crate) unsafe fn behind(&self, offset: usize) -> Self {
        debug_assert!(offset < self.length && offset.is_multiple_of(8));
        // SAFETY: `offset` is inside the mapping by the caller's promise.
        let start = unsafe { self.start.add(offset) };
        Self { start, length: self.length - offset, writable: self.writable, owned: false }
    }

    /// Gives memory of a private mapping back to the system: all bytes from `offset` on, which
    /// become zero. `offset` must be a multiple of the page size.
    pub(crate) fn discard(&self, offset: usize) {
        if self.length <= offset || cfg!(miri) {
            return;
        }
        // SAFETY: `offset` is inside the mapping by the check above.
        let start = unsafe { self.start.add(offset) };
        let length = self.length - offset;
        // If the system refuses, the memory merely stays in use.
        // SAFETY: the range stays mapped, and its bytes change as by a write of zeros. The owner of
        // private memory calls this function between two messages, when no reference points there.
        let _ = unsafe { rustix::mm::madvise(start.as_ptr().cast(), length, Advice::LinuxDontNeed) };
    }

    /// Makes the system provide all pages now, so that a lack of memory is an error of this
    /// function. Without this call, a thread that first touches a page gets a bus error if memory
    /// is lacking. On Linux before 5.14, the function has no effect.
    ///
    /// # Errors
    ///
    /// An error of the system if it cannot provide a page.
    pub(crate) fn provide(&self) -> Result<(), Error> {
        let advice = if self.writable { Advice::LinuxPopulateWrite } else { Advice::LinuxPopulateRead };
        // SAFETY: the range stays mapped, and its bytes stay the same.
        match unsafe { rustix::mm::madvise(self.start.as_ptr().cast(), self.length, advice) } {
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(errno) => Err(Error::system("providing the pages of a segment")(errno)),
        }
    }

    /// Whether the kernel knows the advice that [`Self::provide`] gives it: Linux 5.14 or later.
    pub(crate) fn can_provide() -> bool {
        // SAFETY: an empty range contains no memory. The kernel still checks the advice.
        unsafe { rustix::mm::madvise(std::ptr::null_mut(), 0, Advice::LinuxPopulateRead) }.is_ok()
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }

    /// Whether the mapping contains a word of `size` bytes, 4 or 8, at `offset`, and `offset` is a
    /// multiple of `size`. The word is then aligned, because `start` is a multiple of 8.
    fn has(&self, offset: usize, size: usize) -> bool {
        offset.is_multiple_of(size) && offset.checked_add(size).is_some_and(|end| end <= self.length)
    }

    /// Returns the control word at `offset`.
    #[inline]
    pub(crate) fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(self.has(offset, 4), "words lie inside");
        // SAFETY: the assertion checks both conditions.
        unsafe { self.word_unchecked(offset) }
    }

    /// As [`Self::word`], without its checks.
    ///
    /// # Safety
    ///
    /// `offset` must be a multiple of 4, and the mapping must contain the word's four bytes.
    #[inline]
    pub(crate) unsafe fn word_unchecked(&self, offset: usize) -> &AtomicU32 {
        debug_assert!(self.has(offset, 4));
        // SAFETY: `offset` is in bounds by the caller's promise.
        let place = unsafe { self.start.add(offset) };
        // SAFETY: the word is mapped as long as self lives, by the invariant. It is aligned by the
        // caller's promise, because `start` is a multiple of 8. Shared words are accessed as
        // atomics only, and only words of writable mappings are stored to.
        unsafe { place.cast::<AtomicU32>().as_ref() }
    }
}

impl Mapping {
    /// Returns a view for checked loads.
    pub(crate) fn view(&self) -> RegionView<'_> {
        // SAFETY: by the invariant, the memory is mapped as long as self lives, and aligned.
        unsafe { RegionView::new(self.start.as_ptr(), self.length) }
    }

    /// Copies bytes of a region to `at`. Returns `None` if the mapping is not writable, or if one
    /// of the two ranges lies outside of the mapping or the region.
    pub(crate) fn fill(&self, at: usize, memory: &Memory, offset: u64, length: usize) -> Option<()> {
        if !self.writable || at.checked_add(length)? > self.length {
            return None;
        }
        // SAFETY: `at` is in bounds by the check above.
        let into = unsafe { self.start.add(at) };
        // SAFETY: `into` is writable for `length` bytes by the checks. `memory` is no part of this
        // mapping: callers fill mappings of a peer's region, and `memory` is a region of this
        // process, which is mapped separately.
        unsafe { memory.read_to_raw(offset, into.as_ptr(), length) }
    }

    /// Copies bytes to `at`. `None` when the mapping is not writable, or is too short.
    pub(crate) fn store(&self, at: usize, bytes: &[u8]) -> Option<()> {
        if !self.writable || at.checked_add(bytes.len())? > self.length {
            return None;
        }
        // SAFETY: `at` is in bounds by the check above.
        let into = unsafe { self.start.add(at) };
        // SAFETY: `into` is writable for the length of `bytes` by the checks. `bytes` are no part
        // of this mapping, because no caller passes a slice of the mapping that it writes to.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), into.as_ptr(), bytes.len()) };
        Some(())
    }

    /// Returns the bytes from `at` on. `None` where the mapping is too short.
    ///
    /// # Safety
    ///
    /// The memory must belong to this process alone; for `'a`, no code may write the bytes, and the
    /// mapping must not end.
    pub(crate) unsafe fn bytes<'a>(&self, at: usize, length: usize) -> Option<&'a [u8]> {
        if at.checked_add(length)? > self.length {
            return None;
        }
        // SAFETY: `at` is in bounds by the check above.
        let start = unsafe { self.start.add(at) };
        // SAFETY: the bytes are mapped, and initialised, because fresh memory is zero. The other
        // conditions are the caller's promise.
        Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), length) })
    }

    /// Returns the control word of eight bytes at `offset`.
    #[inline]
    pub(crate) fn word64(&self, offset: usize) -> &AtomicU64 {
        assert!(self.has(offset, 8), "words lie inside");
        // SAFETY: `offset` is in bounds by the assertion.
        let place = unsafe { self.start.add(offset) };
        // SAFETY: the word is mapped as long as self lives, by the invariant. It is aligned,
        // because `start` is a multiple of 8 and, by the assertion, `offset` is one, too. Shared
        // words are accessed as atomics only, and only words of writable mappings are stored to.
        unsafe { place.cast::<AtomicU64>().as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        // SAFETY: `new` or `zeroed` mapped the memory with this length, and no borrow of the memory
        // outlives the value. Unmapping a whole mapping cannot fail.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::Mapping;

    #[test]
    #[should_panic(expected = "words lie inside")]
    fn words_at_offsets_whose_end_overflows_lie_outside() {
        Mapping::zeroed(4096).unwrap().word(usize::MAX - 3);
    }

    #[test]
    #[should_panic(expected = "words lie inside")]
    fn long_words_at_offsets_whose_end_overflows_lie_outside() {
        Mapping::zeroed(4096).unwrap().word64(usize::MAX - 7);
    }
}
