//! Memory that a peer may write at any time, readable only through checked loads.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence};

/// A stretch of a peer's segment.
///
/// No reference to the bytes is ever handed out, since another process may change the bytes at any
/// time. Each load is bounds-checked and happens once: the value that was checked is the value that
/// is used. A second load may return another value.
///
/// The layout is an address and a length (`repr(C)`), because calls pass views to C code.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RegionView<'a> {
    // Invariant 1: `start..start + length` lies inside a mapping that outlives 'a.
    // Invariant 2: `start` is aligned to 8 bytes.
    start: *const u8,
    length: usize,
    mapping: PhantomData<&'a ()>,
}

// SAFETY: a view only reads its memory, which stays mapped for 'a. The reads are atomic loads, or
// raw copies that make no reference to the memory. So several threads can use the view at once.
unsafe impl Send for RegionView<'_> {}
// SAFETY: as above.
unsafe impl Sync for RegionView<'_> {}

macro_rules! load {
    ($(#[$doc:meta])* $name:ident, $int:ty, $atomic:ty) => {
        $(#[$doc])*
        ///
        /// Returns `None` when the integer does not lie inside the view, or `offset` is not a
        /// multiple of its size.
        #[inline]
        pub fn $name(self, offset: usize) -> Option<$int> {
            let end = offset.checked_add(size_of::<$int>())?;
            if end > self.length || !offset.is_multiple_of(size_of::<$int>()) {
                return None;
            }
            // SAFETY: the address is in bounds by the check above, so it is inside the mapping by
            // invariant 1.
            let place = unsafe { self.start.add(offset) };
            // SAFETY: the word is aligned by the check above and invariant 2, and mapped for 'a. An
            // atomic load may race with the peer's stores.
            let word = unsafe { <$atomic>::from_ptr(place.cast_mut().cast()) };
            Some(word.load(Ordering::Relaxed))
        }
    };
}

impl<'a> RegionView<'a> {
    /// Makes a view.
    ///
    /// # Safety
    ///
    /// `start..start + length` must stay mapped for `'a`, and `start` must be a multiple of 8.
    #[inline]
    pub unsafe fn new(start: *const u8, length: usize) -> Self {
        debug_assert!(start.addr().is_multiple_of(8));
        Self { start, length, mapping: PhantomData }
    }

    /// Returns the address of the first byte.
    #[inline]
    pub const fn as_ptr(self) -> *const u8 {
        self.start
    }

    /// Returns the length in bytes.
    #[inline]
    pub const fn len(self) -> usize {
        self.length
    }

    /// Whether the view has no bytes.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.length == 0
    }

    load!(
        /// Loads the byte at `offset`.
        load_u8, u8, AtomicU8
    );
    load!(
        /// Loads the 16-bit integer at `offset`.
        load_u16, u16, AtomicU16
    );
    load!(
        /// Loads the 32-bit integer at `offset`.
        load_u32, u32, AtomicU32
    );
    load!(
        /// Loads the 64-bit integer at `offset`.
        load_u64, u64, AtomicU64
    );

    /// Copies bytes, beginning at `offset`, into private memory. Returns `None` if some of them lie
    /// outside of the view.
    ///
    /// Bytes that the peer changes meanwhile may arrive torn, so check the copy, never the view.
    /// The fence keeps the compiler from reading the peer's bytes a second time instead of the
    /// copy. A second load could return bytes that were not checked.
    #[inline]
    pub fn copy_to(self, offset: usize, into: &mut [u8]) -> Option<()> {
        let end = offset.checked_add(into.len())?;
        if end > self.length {
            return None;
        }
        // SAFETY: the address is in bounds by the check above, so it is inside the mapping by
        // invariant 1.
        let from = unsafe { self.start.add(offset) };
        // SAFETY: `from` is readable for `into.len()` bytes. `into` is exclusive private memory, so
        // the two ranges do not overlap. No reference to the peer's bytes is made. Any value of a
        // byte is valid.
        unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        compiler_fence(Ordering::SeqCst);
        Some(())
    }

    /// Copies `length` bytes, beginning at `offset`, to memory that other processes may write. So
    /// no reference to that memory may exist. Returns `None` if some of the bytes lie outside of
    /// the view.
    ///
    /// # Safety
    ///
    /// `into..into + length` must be writable.
    #[inline]
    pub unsafe fn copy_to_raw(self, offset: usize, into: *mut u8, length: usize) -> Option<()> {
        let end = offset.checked_add(length)?;
        if end > self.length {
            return None;
        }
        // SAFETY: the address is in bounds by the check above, so it is inside the mapping by
        // invariant 1.
        let from = unsafe { self.start.add(offset) };
        // SAFETY: `from` is readable for `length` bytes, and by the caller's promise `into` is
        // writable. Any bytes are valid. The two ranges may overlap, since a view can cover memory
        // to which `into` also points.
        unsafe { std::ptr::copy(from, into, length) };
        compiler_fence(Ordering::SeqCst);
        Some(())
    }

    /// Returns the `length` bytes from `offset` on as a view. Returns `None` if some of them lie
    /// outside of this view, or `offset` is not a multiple of 8.
    #[inline]
    pub fn part(self, offset: usize, length: usize) -> Option<Self> {
        let end = offset.checked_add(length)?;
        if end > self.length || !offset.is_multiple_of(8) {
            return None;
        }
        // SAFETY: the address is in bounds by the check above.
        let start = unsafe { self.start.add(offset) };
        // SAFETY: the range is inside this view, so it is mapped for 'a. Its start is aligned,
        // because it is a multiple of 8 bytes behind an aligned start.
        Some(unsafe { Self::new(start, length) })
    }
}
