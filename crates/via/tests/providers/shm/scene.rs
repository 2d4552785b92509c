//! Shared parts of the tests: a directory, NICs, pairs of connected VIs, and bytes to send.

use ground::Folder;
use obvia_via::provider::shm::{Directory, NicOptions, open};
use obvia_via::{
    Access, Deadline, Descriptor, MemoryRegion, Nic, ProtectionTag, Reliability, RemoteAddress, Status, Vi,
    ViAttributes, Waiting,
};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// The deadline of waits that should end soon.
pub(crate) const SOON: Deadline = Deadline::Within(ground::LATEST);

/// A directory for names that is removed with the test.
pub(crate) struct Place(Folder);

impl Place {
    pub(crate) fn new() -> Self {
        Self(Folder::new("via-shm"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn directory(&self) -> Directory {
        Directory::at(self.path()).unwrap()
    }

    pub(crate) fn nic(&self) -> Nic {
        open(&NicOptions { directory: Some(self.directory()), ..NicOptions::default() }).unwrap()
    }

    /// Opens a NIC with the smallest possible ring and area.
    pub(crate) fn tiny_nic(&self) -> Nic {
        let options = NicOptions { directory: Some(self.directory()), slots: 2, area: 1, max_transfer: 16 << 20 };
        open(&options).unwrap()
    }
}

/// One end: a VI, and memory for it.
pub(crate) struct End {
    pub(crate) vi: Vi,
    pub(crate) tag: ProtectionTag,
    pub(crate) nic: Nic,
    pub(crate) region: MemoryRegion,
}

impl End {
    pub(crate) fn new(nic: &Nic, attributes: ViAttributes, length: usize, access: Access) -> Self {
        let tag = nic.protection_tag();
        let region = nic.register(nic.memory(length).unwrap(), &tag, access).unwrap();
        let vi = nic.vi(attributes, &tag, None, None).unwrap();
        Self { vi, tag, nic: nic.clone(), region }
    }

    /// Returns the address by which the peer reaches an offset in this end's memory.
    pub(crate) fn place(&self, offset: u64) -> RemoteAddress {
        RemoteAddress { handle: self.region.handle(), offset }
    }

    pub(crate) fn fill(&self, offset: u64, bytes: &[u8]) {
        self.region.memory().write(offset, bytes).unwrap();
    }

    pub(crate) fn bytes(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.region.memory().read(offset, &mut bytes).unwrap();
        bytes
    }

    pub(crate) fn post_receive(&mut self, offset: u64, length: u32) {
        let descriptor = Descriptor::receive().with_segment(&self.region, offset, length);
        self.vi.receive.post(descriptor).unwrap();
    }

    pub(crate) fn post_send(&mut self, offset: u64, length: u32) {
        self.vi.send.post(Descriptor::send().with_segment(&self.region, offset, length)).unwrap();
    }

    /// Waits for the oldest send, and returns its outcome.
    #[track_caller]
    pub(crate) fn sent(&mut self) -> (Status, u32) {
        let done = self.vi.send.wait(SOON).unwrap();
        (done.status(), done.length())
    }

    #[track_caller]
    pub(crate) fn received(&mut self) -> (Status, u32, Option<u32>) {
        let done = self.vi.receive.wait(SOON).unwrap();
        (done.status(), done.length(), done.immediate())
    }
}

pub(crate) fn attributes(reliability: Reliability, waiting: Waiting) -> ViAttributes {
    ViAttributes { reliability, waiting, ..ViAttributes::default() }
}

/// Connects two VIs of one process.
pub(crate) fn connect(one: &mut Vi, nic: &Nic, other: &mut Vi) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("pair{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let mut listener = nic.listen(&name).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| listener.wait(SOON).unwrap().accept(other, b"", SOON).unwrap());
        one.request(&name, b"", SOON).unwrap();
    });
}

/// Makes two connected ends of a NIC, each with `length` bytes of memory that peers may read and
/// write.
pub(crate) fn pair(nic: &Nic, attributes: &ViAttributes, length: usize) -> (End, End) {
    let mut one = End::new(nic, attributes.clone(), length, Access::BOTH);
    let mut other = End::new(nic, attributes.clone(), length, Access::BOTH);
    connect(&mut one.vi, nic, &mut other.vi);
    (one, other)
}

/// Returns bytes that differ by their position and by `seed`.
pub(crate) fn pattern(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed | 1);
    let mut bytes = vec![0; length.next_multiple_of(8)];
    for eight in bytes.as_chunks_mut().0 {
        *eight = random.next().to_le_bytes();
    }
    bytes.truncate(length);
    bytes
}

/// A small random number generator: xorshift64* (Vigna, 2016).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Every level of reliability.
pub(crate) const LEVELS: [Reliability; 3] =
    [Reliability::Unreliable, Reliability::ReliableDelivery, Reliability::ReliableReception];

/// Returns the number of this process's mappings of region memory.
pub(crate) fn mapped_regions() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains("obvia-region")).count()
}
