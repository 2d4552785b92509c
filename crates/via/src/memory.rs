//! Registered memory: descriptors point to it, and peers reach it by RDMA.
//!
//! VI Architecture 1.0, "Memory Registration" and "Memory Protection". A region belongs to one
//! protection tag, and only VIs of the same tag reach it. Peers name a region by its handle. The
//! region's [`Access`] says what peers may do with it.

use crate::budget::Reservation;
use crate::{Error, RegionView};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{Advice, MapFlags, ProtFlags};
use std::any::Any;
use std::fmt;
use std::hash::Hasher;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, compiler_fence};
use std::sync::{Arc, OnceLock};

/// Memory that can be registered. Other threads and peers may write the memory at any time. So the
/// functions copy bytes in and out, and return no reference to them.
#[derive(Debug)]
pub struct Memory {
    // Invariant: `start` is the first byte of a mapping that this value owns. `start..start +
    // length` is readable and writable as long as the value lives.
    start: NonNull<u8>,
    length: usize,
    // The file that the memory is a mapping of, if peers can map it as well.
    file: Option<OwnedFd>,
    // The bytes of a budget that the memory takes up, if it is counted.
    reservation: Option<Reservation>,
}

// SAFETY: the memory has plain bytes, which any thread may copy from and to. A read that races with
// a write gets torn bytes, which users of registered memory have to expect.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Makes zeroed memory of this process that begins at a page.
    ///
    /// # Errors
    ///
    /// An error of the system if there is no memory left.
    pub fn new(length: usize) -> Result<Self, Error> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory in use.
        let start =
            unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), length.max(1), protection, MapFlags::PRIVATE) };
        Self::mapped(start, length, None)
    }

    /// Makes memory in a nameless file, which peers of this host can map. The file is sealed
    /// against any change of its size. A provider that passes the file to peers adds the seals that
    /// the region's access asks for.
    ///
    /// # Errors
    ///
    /// An error of the system if there is no memory left.
    pub fn shared(length: usize) -> Result<Self, Error> {
        let fd = rustix::fs::memfd_create("obvia-region", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
            .map_err(Error::system("creating memory"))?;
        rustix::fs::ftruncate(&fd, length.max(1) as u64).map_err(Error::system("sizing memory"))?;
        let seals = SealFlags::SHRINK | SealFlags::GROW;
        rustix::fs::fcntl_add_seals(&fd, seals).map_err(Error::system("sealing memory"))?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory in use;
        // the file cannot shrink.
        let start =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), length.max(1), protection, MapFlags::SHARED, &fd, 0) };
        Self::mapped(start, length, Some(fd))
    }

    /// Tells the kernel to use no huge pages for the memory. Touching a byte then takes up one page
    /// of the usual size.
    pub(crate) fn without_huge_pages(self) -> Self {
        // SAFETY: the advice changes no bytes and no mapping, and the memory is mapped by the
        // invariant. A kernel that has no huge pages refuses the advice.
        let _ = unsafe { rustix::mm::madvise(self.start.as_ptr().cast(), self.length, Advice::LinuxNoHugepage) };
        self
    }

    /// Keeps a reservation for as long as the memory exists.
    pub(crate) fn with_reservation(mut self, reservation: Option<Reservation>) -> Self {
        self.reservation = reservation;
        self
    }

    fn mapped(
        start: rustix::io::Result<*mut std::ffi::c_void>,
        length: usize,
        file: Option<OwnedFd>,
    ) -> Result<Self, Error> {
        let start = start.map_err(Error::system("mapping memory"))?;
        let start =
            NonNull::new(start.cast()).expect("the kernel does not map memory at address zero unless requested");
        Ok(Self { start, length, file, reservation: None })
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the memory has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the start address in this process.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the file that the memory is a mapping of, if peers can map it as well.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    /// Whether `length` bytes from `offset` on lie inside of this memory.
    pub fn holds(&self, offset: u64, length: u64) -> bool {
        offset.checked_add(length).is_some_and(|end| end <= self.length as u64)
    }

    /// Copies bytes of this memory, from `offset` on, to `into`. Returns `None` if some of them lie
    /// outside of this memory. [`RegionView::copy_to`] has the reason for the fence.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Option<()> {
        if !self.holds(offset, into.len() as u64) {
            return None;
        }
        // SAFETY: the address is in bounds by the check above.
        let from = unsafe { self.start.add(offset as usize) };
        // SAFETY: `from` is readable by the invariant. `into` is an exclusive reference, so the two
        // ranges do not overlap. Any bytes are valid.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), into.as_mut_ptr(), into.len()) };
        compiler_fence(Ordering::SeqCst);
        Some(())
    }

    /// Copies bytes into this memory, from `offset` on. Returns `None` if there is no room for all
    /// of them.
    pub fn write(&self, offset: u64, from: &[u8]) -> Option<()> {
        if !self.holds(offset, from.len() as u64) {
            return None;
        }
        // SAFETY: the address is in bounds by the check above.
        let into = unsafe { self.start.add(offset as usize) };
        // SAFETY: `into` is writable by the invariant. `from` is a reference, and no reference
        // points into registered memory, because any thread may write that memory. So the two
        // ranges do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), into.as_ptr(), from.len()) };
        Some(())
    }

    /// Copies `length` bytes of `from`, beginning at `at`, into this memory. The peer may write the
    /// bytes of `from` meanwhile. Returns `None` if some bytes lie outside of this memory or of
    /// `from`.
    pub fn write_view(&self, offset: u64, from: RegionView<'_>, at: usize, length: usize) -> Option<()> {
        if !self.holds(offset, length as u64) {
            return None;
        }
        // SAFETY: the address is in bounds by the check above.
        let into = unsafe { self.start.add(offset as usize) };
        // SAFETY: `into` is writable by the invariant, for `length` bytes by the check.
        unsafe { from.copy_to_raw(at, into.as_ptr(), length) }
    }

    /// Copies bytes of this memory to a mapping that this process shares with others. Returns
    /// `None` if some of them lie outside of this memory.
    ///
    /// # Safety
    ///
    /// `into..into + length` must be writable, and outside of this memory.
    pub(crate) unsafe fn read_to_raw(&self, offset: u64, into: *mut u8, length: usize) -> Option<()> {
        if !self.holds(offset, length as u64) {
            return None;
        }
        // SAFETY: the address is in bounds by the check above.
        let from = unsafe { self.start.add(offset as usize) };
        // SAFETY: `from` is readable by the invariant and the check. By the caller's promise,
        // `into` is writable and outside of this memory. Any bytes are valid.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), into, length) };
        Some(())
    }

    /// Returns a view for checked loads.
    pub fn view(&self) -> RegionView<'_> {
        // SAFETY: the memory is readable as long as self lives, and aligned to a page by the
        // invariant.
        unsafe { RegionView::new(self.start.as_ptr(), self.length) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `new` or `shared` has mapped the memory with this length, and no borrow of the
        // memory outlives this value.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.length.max(1)) };
        // The reservation is given back only now, because the memory was in use until the unmap.
        drop(self.reservation.take());
    }
}

/// The rights of peers to a region, for RDMA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Whether peers may write the region.
    pub write: bool,
    /// Whether peers may read the region.
    pub read: bool,
}

impl Access {
    /// No access for peers.
    pub const LOCAL: Self = Self { write: false, read: false };
    /// Peers may write.
    pub const WRITE: Self = Self { write: true, read: false };
    /// Peers may read.
    pub const READ: Self = Self { write: false, read: true };
    /// Peers may read and write.
    pub const BOTH: Self = Self { write: true, read: true };
}

/// The name by which peers refer to a registered region: an opaque value, which is sent to them
/// unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryHandle(pub [u64; 2]);

/// The hasher for the handles of a NIC's own regions. A simple hash suffices, because the NIC
/// chooses the handles. A peer can look up any handle, but cannot add handles with equal hashes to
/// the table.
#[derive(Debug, Default)]
pub(crate) struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for eight in bytes.as_chunks::<8>().0 {
            // The golden ratio spreads the bits of consecutive numbers over the whole word.
            self.0 = (self.0 ^ u64::from_le_bytes(*eight)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
}

impl MemoryHandle {
    /// Returns the handle as bytes for a peer.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.0[0].to_le_bytes());
        bytes[8..].copy_from_slice(&self.0[1].to_le_bytes());
        bytes
    }

    /// Reads a handle that a peer sent. Only the peer knows whether the handle names a region.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let word = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(eight)
        };
        Self([word(0), word(8)])
    }
}

/// A protection tag: ties VIs to the regions that they may reach.
#[derive(Debug)]
pub struct ProtectionTag {
    pub(crate) core: Arc<Tag>,
}

#[derive(Debug)]
pub(crate) struct Tag {
    /// The number of the tag's NIC.
    pub(crate) nic: u64,
    /// The number of the tag, unique in the process.
    pub(crate) number: u64,
    // The number of registered regions and VIs that use the tag. The reference count cannot replace
    // this number, because completed descriptors and the attendant keep references for a while.
    pub(crate) users: AtomicUsize,
}

impl ProtectionTag {
    /// Destroys the tag.
    ///
    /// # Errors
    ///
    /// The tag itself, unchanged, while a region or a VI uses it.
    pub fn destroy(self) -> Result<(), InUse<Self>> {
        if self.core.users.load(Ordering::Acquire) == 0 { Ok(()) } else { Err(InUse(self)) }
    }
}

/// An object that cannot be destroyed yet, handed back unchanged.
#[derive(Debug)]
pub struct InUse<T>(pub T);

impl<T> std::fmt::Display for InUse<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the object is still in use")
    }
}

impl<T: std::fmt::Debug> std::error::Error for InUse<T> {}

/// A registered region, as providers see it.
#[derive(Debug)]
pub struct Region {
    /// The provider's own registration of the region, which ends before the memory does.
    pub provider: OnceLock<Box<dyn Any + Send + Sync>>,
    pub(crate) memory: Memory,
    pub(crate) tag: Arc<Tag>,
    pub(crate) access: Access,
    pub(crate) handle: OnceLock<MemoryHandle>,
    pub(crate) hold: Hold,
}

impl Region {
    /// Returns the region's memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the rights of peers.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Returns the number of the region's protection tag, unique in the process.
    pub fn tag(&self) -> u64 {
        self.tag.number
    }

    pub(crate) fn is_registered(&self) -> bool {
        self.hold.0.load(Ordering::Acquire) & Hold::ENDED == 0
    }
}

/// The number of segments of posted descriptors that point to a region, and whether the region's
/// registration has ended. The count and the flag are in one word, so that no descriptor is posted
/// while another thread deregisters the region.
#[derive(Debug, Default)]
pub(crate) struct Hold(AtomicU32);

impl Hold {
    const ENDED: u32 = 1 << 31;

    /// Counts one more posted segment. Returns `false` when the registration has ended, or when
    /// there are as many posted segments as can be counted.
    pub(crate) fn claim(&self) -> bool {
        // The bound keeps the count out of the highest bit.
        let more = |word: u32| (word & Self::ENDED == 0 && word < Self::ENDED - 1).then(|| word + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Ends a claim.
    pub(crate) fn release(&self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }

    /// Ends the registration, unless a posted descriptor points to the region. Returns whether the
    /// registration was ended.
    pub(crate) fn end_unused(&self) -> bool {
        self.0.compare_exchange(0, Self::ENDED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Ends the registration.
    pub(crate) fn end(&self) {
        self.0.fetch_or(Self::ENDED, Ordering::AcqRel);
    }
}

/// A NIC, as its regions see it.
pub(crate) trait Registrar: Send + Sync + fmt::Debug {
    /// Removes from the NIC a region whose registration has ended.
    fn forget(&self, handle: MemoryHandle, region: &Arc<Region>);
}

/// Registered memory. Dropping the region ends the registration. Posted descriptors keep the bytes
/// until they complete.
#[derive(Debug)]
pub struct MemoryRegion {
    pub(crate) core: Arc<Region>,
    pub(crate) handle: MemoryHandle,
    pub(crate) registrar: Arc<dyn Registrar>,
}

impl MemoryRegion {
    /// Returns the handle by which peers name the region.
    pub fn handle(&self) -> MemoryHandle {
        self.handle
    }

    /// Returns the region's memory.
    pub fn memory(&self) -> &Memory {
        &self.core.memory
    }

    /// Ends the registration: the handle names no region any more.
    ///
    /// # Errors
    ///
    /// The region itself, unchanged, while a posted descriptor points to it.
    pub fn deregister(self) -> Result<(), InUse<Self>> {
        if self.core.hold.end_unused() { Ok(()) } else { Err(InUse(self)) }
    }
}

impl Drop for MemoryRegion {
    fn drop(&mut self) {
        self.core.hold.end();
        self.registrar.forget(self.handle, &self.core);
        self.core.tag.users.fetch_sub(1, Ordering::AcqRel);
    }
}
