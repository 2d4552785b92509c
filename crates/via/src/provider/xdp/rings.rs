//! The four rings that an AF_XDP socket shares with the kernel.
//!
//! Linux, Documentation/networking/af_xdp.rst. A ring has one producer and one consumer. Each of
//! the two has a counter that the other does not write, and that counts on beyond the ring's size.
//! Entries are written before the counter that covers them is stored with release, and read after
//! that counter was loaded with acquire.

use crate::Error;
use rustix::fd::BorrowedFd;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::net::xdp::XdpRingOffset;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The flag of a ring at which the kernel looks only when it is called: `XDP_RING_NEED_WAKEUP`.
const NEED_WAKEUP: u32 = 1;

/// `struct xdp_desc`: a frame in the UMEM.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct FrameDescriptor {
    pub(super) address: u64,
    pub(super) length: u32,
    pub(super) options: u32,
}

const _: () = assert!(size_of::<FrameDescriptor>() == 16);

/// The mapped words and entries of a ring.
#[derive(Debug)]
struct Mapped {
    // Invariant 1: `start..start + length` stays mapped, readable and writable, as long as this
    // value lives.
    start: NonNull<c_void>,
    length: usize,
    // Invariant 2: the three words lie inside the mapping, at multiples of 4.
    producer: usize,
    consumer: usize,
    flags: Option<usize>,
    // Invariant 3: from `first` on, `entries` aligned entries of the ring's type lie inside the
    // mapping; `entries` is a power of 2.
    first: usize,
    entries: u32,
}

// SAFETY: the words are used atomically only; access to entries is controlled by the rings, which
// take `&mut`.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    fn new<T>(socket: BorrowedFd<'_>, what: u64, offsets: &XdpRingOffset, entries: u32) -> Result<Arc<Self>, Error> {
        let place = |offset: u64| {
            usize::try_from(offset).map_err(|_| Error::BadState {
                what: "the offsets of the \
            kernel's rings exceed the address space",
            })
        };
        let (producer, consumer) = (place(offsets.producer)?, place(offsets.consumer)?);
        let (flags, first) = (offsets.flags.map(place).transpose()?, place(offsets.desc)?);
        let length = (entries as usize).checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(first));
        let length = length.unwrap_or(0);
        let word_fits = |word: usize| word.is_multiple_of(4) && word.checked_add(4).is_some_and(|end| end <= length);
        let fits = entries.is_power_of_two()
            && first.is_multiple_of(align_of::<T>())
            && [Some(producer), Some(consumer), flags].into_iter().flatten().all(word_fits);
        if !fits {
            return Err(Error::BadState { what: "the layout of the kernel's rings is invalid" });
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags_of_map = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory in use.
        let start = unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, flags_of_map, socket, what) };
        let start = start.map_err(Error::system("mapping a ring of an AF_XDP socket"))?;
        let start = NonNull::new(start).expect("the kernel does not map memory at address zero unless requested");
        Ok(Arc::new(Self { start, length, producer, consumer, flags, first, entries }))
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: callers pass only the offsets of invariant 2, by which the word is inside the
        // mapping.
        let place = unsafe { self.start.as_ptr().byte_add(offset) };
        // SAFETY: by the invariants, the word is aligned, and mapped as long as self lives. The
        // kernel may store to the word at any time, so the word is atomic.
        unsafe { AtomicU32::from_ptr(place.cast()) }
    }

    fn produced(&self) -> u32 {
        self.word(self.producer).load(Ordering::Acquire)
    }

    fn consumed(&self) -> u32 {
        self.word(self.consumer).load(Ordering::Acquire)
    }

    fn needs_wakeup(&self) -> bool {
        // A kernel without the word of flags has to be woken every time.
        self.flags.is_none_or(|flags| self.word(flags).load(Ordering::Relaxed) & NEED_WAKEUP != 0)
    }

    /// Returns the address of an entry. Counters grow without end, and entries are reused in turn.
    fn entry<T>(&self, counter: u32) -> *mut T {
        let index = (counter & (self.entries - 1)) as usize;
        // SAFETY: `index` is less than `entries`, so the entry is inside the mapping by invariant
        // 3.
        let place = unsafe { self.start.as_ptr().byte_add(self.first + index * size_of::<T>()) };
        place.cast()
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: `new` has mapped the memory with this length, and no borrow of the memory
        // outlives this value.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr(), self.length) };
    }
}

/// A ring that this side fills: with places to receive into, or frames to send.
#[derive(Debug)]
pub(super) struct ProducerRing<T> {
    mapped: Arc<Mapped>,
    produced: u32,
    entry: PhantomData<T>,
}

impl<T: Copy> ProducerRing<T> {
    pub(super) fn new(socket: BorrowedFd<'_>, what: u64, offsets: &XdpRingOffset, entries: u32) -> Result<Self, Error> {
        let mapped = Mapped::new::<T>(socket, what, offsets, entries)?;
        let produced = mapped.produced();
        Ok(Self { mapped, produced, entry: PhantomData })
    }

    /// Returns the number of entries that the kernel has not taken yet.
    pub(super) fn pending(&self) -> u32 {
        self.produced.wrapping_sub(self.mapped.consumed()).min(self.mapped.entries)
    }

    /// Publishes an entry to the kernel. Returns `false` when the ring is full.
    pub(super) fn push(&mut self, value: T) -> bool {
        if self.pending() >= self.mapped.entries {
            return false;
        }
        // SAFETY: the entry is inside the mapping. The kernel does not read the entry before the
        // counter is stored below. By the check above, the kernel has consumed the value that the
        // entry had before.
        unsafe { self.mapped.entry::<T>(self.produced).write(value) };
        self.produced = self.produced.wrapping_add(1);
        self.mapped.word(self.mapped.producer).store(self.produced, Ordering::Release);
        true
    }

    /// Whether the kernel looks at the ring only when it is called.
    pub(super) fn needs_wakeup(&self) -> bool {
        self.mapped.needs_wakeup()
    }
}

/// A ring that the kernel fills: with received frames, or places of sent ones.
#[derive(Debug)]
pub(super) struct ConsumerRing<T> {
    mapped: Arc<Mapped>,
    consumed: u32,
    entry: PhantomData<T>,
}

impl<T: Copy> ConsumerRing<T> {
    pub(super) fn new(socket: BorrowedFd<'_>, what: u64, offsets: &XdpRingOffset, entries: u32) -> Result<Self, Error> {
        let mapped = Mapped::new::<T>(socket, what, offsets, entries)?;
        let consumed = mapped.consumed();
        Ok(Self { mapped, consumed, entry: PhantomData })
    }

    /// Takes the next entry. The kernel may reuse the entry afterwards.
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.mapped.produced() == self.consumed {
            return None;
        }
        // SAFETY: the entry is inside the mapping. The kernel has stored its counter after the
        // entry, and does not write the entry again before the counter below is stored. Entries are
        // plain numbers.
        let value = unsafe { self.mapped.entry::<T>(self.consumed).read() };
        self.consumed = self.consumed.wrapping_add(1);
        self.mapped.word(self.mapped.consumer).store(self.consumed, Ordering::Release);
        Some(value)
    }

    /// Returns a handle that tells without the ring's lock whether the ring has entries.
    pub(super) fn peek(&self) -> Peek {
        Peek(Arc::clone(&self.mapped))
    }
}

/// A handle for checks of a ring that another thread may be emptying.
#[derive(Debug)]
pub(super) struct Peek(Arc<Mapped>);

impl Peek {
    /// Whether the ring had an entry at the time of the check.
    pub(super) fn has_some(&self) -> bool {
        self.0.produced() != self.0.consumed()
    }
}
