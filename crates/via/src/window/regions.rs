//! Regions: memory that calls pass by reference, mapped on both sides of a connection.
//!
//! A region's owner makes the region, and decides whether peers may only read it or also write it.
//! The kernel enforces this decision. A reference is a word: its upper 16 bits are the region's
//! number, which is never 0, and its lower 48 bits are an offset.

use super::addresses::{self, Addresses, CONNECTION_MAX};
use super::{Mapping, Peer, Wire};
use crate::{Error, Violation};
use rustix::fd::OwnedFd;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The maximum number of a peer's regions that a connection keeps mapped.
pub const REGIONS_MAX: usize = 64;
/// The maximum length of a region, in bytes: offsets have 48 bits, and element counts are added to
/// them.
pub const REGION_MAX: u64 = 1 << 46;
/// The number of caches for regions that are read. There are as many separate caches for regions
/// that are written.
pub const REGION_CACHES: usize = 4;
/// The position of the region's number in a reference.
const NUMBER_SHIFT: u32 = 48;

/// Returns the index of the cache for a method's array number `at`. There are separate caches for
/// arrays that are read and arrays that are written.
#[inline(always)]
pub const fn cache_at(at: usize, is_written: bool) -> usize {
    (at % REGION_CACHES) + if is_written { REGION_CACHES } else { 0 }
}

/// A region of this process, which can be passed to peers.
#[derive(Debug)]
pub struct OwnRegion {
    pub(crate) mapping: Mapping,
    pub(crate) file: OwnedFd,
    is_writable: bool,
}

impl OwnRegion {
    /// Makes a zeroed region of `bytes` bytes. Peers may read it, and also write it if
    /// `is_writable`. Pages take up memory once they are first touched.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] for more than [`REGION_MAX`] bytes; an error of the system if there is no
    /// memory left.
    pub fn new(bytes: usize, is_writable: bool) -> Result<Self, Error> {
        if bytes as u64 > REGION_MAX {
            return Err(Error::TooLong { length: bytes as u64, limit: REGION_MAX });
        }
        let (mapping, file) = crate::provider::shm::create_region(bytes.max(1), is_writable)?;
        Ok(Self { mapping, file, is_writable })
    }

    /// Returns the start of the region's memory, which lives as long as the value. Peers can write
    /// the memory if the region is writable.
    pub fn start(&self) -> NonNull<u8> {
        self.mapping.start()
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> usize {
        self.mapping.length()
    }

    /// Whether peers may write the region.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }
}

/// The region that an array used last: translates addresses to references. C code reads this
/// structure.
///
/// A length of 0 means that the cache is empty.
#[derive(Debug)]
#[repr(C)]
pub struct RegionCache {
    base: AtomicUsize,
    length: AtomicU64,
    tag: AtomicU64,
}

impl RegionCache {
    /// Makes an empty cache.
    #[expect(clippy::new_without_default, reason = "a const one is needed, and one way to make it is enough")]
    pub const fn new() -> Self {
        Self { base: AtomicUsize::new(0), length: AtomicU64::new(0), tag: AtomicU64::new(0) }
    }

    /// Puts a region into the cache. `number` is the number by which the peer knows the region.
    pub fn fill(&self, base: usize, length: usize, number: u16) {
        // Other threads only clear the cache, so no reader sees words of two regions.
        self.clear();
        self.base.store(base, Ordering::Relaxed);
        self.tag.store(u64::from(number) << NUMBER_SHIFT, Ordering::Relaxed);
        self.length.store(length as u64, Ordering::Relaxed);
    }

    /// Clears the cache.
    pub fn clear(&self) {
        self.length.store(0, Ordering::Relaxed);
    }

    /// Whether the region in the cache begins at `base`.
    pub fn begins_at(&self, base: usize) -> bool {
        self.length.load(Ordering::Relaxed) != 0 && self.base.load(Ordering::Relaxed) == base
    }

    /// Whether the cache has the region with this number.
    pub fn has(&self, number: u16) -> bool {
        let tag = u64::from(number) << NUMBER_SHIFT;
        self.length.load(Ordering::Relaxed) != 0 && self.tag.load(Ordering::Relaxed) == tag
    }

    /// Returns the reference to an address, or `None` if the address lies outside of the region.
    #[inline(always)]
    pub fn reference(&self, address: usize) -> Option<u64> {
        let offset = address.wrapping_sub(self.base.load(Ordering::Relaxed)) as u64;
        (offset < self.length.load(Ordering::Relaxed)).then(|| offset + self.tag.load(Ordering::Relaxed))
    }
}

/// The peer's region that an array used last: translates references to addresses. C code reads this
/// structure.
///
/// A length of 0 means that the cache is empty; only arrays without bytes can then match.
#[derive(Debug, Default)]
#[repr(C)]
pub struct PeerRegionCache {
    /// The difference between an address and its reference.
    bias: Cell<u64>,
    length: Cell<u64>,
    /// The reference to the region's end.
    end: Cell<u64>,
}

impl PeerRegionCache {
    fn fill(&self, base: usize, length: usize, number: u16) {
        let tag = u64::from(number) << NUMBER_SHIFT;
        self.bias.set((base as u64).wrapping_sub(tag));
        self.length.set(length as u64);
        self.end.set(tag + length as u64);
    }

    fn clear(&self) {
        self.fill(0, 0, 0);
    }

    fn begins_at(&self, base: usize) -> bool {
        let tag = self.end.get() - self.length.get();
        self.length.get() != 0 && self.bias.get().wrapping_add(tag) == base as u64
    }

    /// Returns the address of `count` elements. Returns `None` if the reference is to another
    /// region or not aligned, or some elements lie outside of the region.
    #[inline(always)]
    pub fn address(&self, reference: u64, count: u64, size: u64, align: u64) -> Option<usize> {
        // The bytes from the reference to the region's end. A reference to another region yields
        // more than the region's length.
        let left = self.end.get().wrapping_sub(reference);
        let is_in = left <= self.length.get() && count <= left / size && reference.is_multiple_of(align);
        is_in.then(|| self.bias.get().wrapping_add(reference) as usize)
    }
}

/// A region that the peer passed to this side.
#[derive(Debug)]
pub(crate) struct PeerRegion {
    number: u16,
    is_writable: bool,
    mapping: Mapping,
    _addresses: Addresses,
}

impl PeerRegion {
    /// Calls `map` to map the region, if the address space for the peer has room for the region.
    pub(crate) fn new(
        peer: Peer,
        number: u16,
        length: usize,
        is_writable: bool,
        map: impl FnOnce() -> Result<Mapping, Error>,
    ) -> Result<Self, Error> {
        let addresses = addresses::take(peer, length)?;
        Ok(Self { number, is_writable, mapping: map()?, _addresses: addresses })
    }
}

/// The peer's regions that this side has mapped.
#[derive(Debug)]
#[repr(C)]
pub struct PeerRegions {
    // Invariant: each cache is empty or holds a region of `mapped`, and the caches of the second
    // half hold only writable regions. C code reads the caches here.
    caches: [PeerRegionCache; 2 * REGION_CACHES],
    mapped: Vec<PeerRegion>,
}

impl PeerRegions {
    pub(super) fn new() -> Self {
        Self { caches: Default::default(), mapped: Vec::new() }
    }

    /// Returns the cache for a method's array number `at`. There are separate caches for arrays
    /// that are read and arrays that are written.
    #[inline(always)]
    pub fn cache(&self, at: usize, is_written: bool) -> &PeerRegionCache {
        &self.caches[cache_at(at, is_written)]
    }

    /// Puts the region of a reference into the cache for the array `at`. Returns `false` if the
    /// region is not mapped, if `is_written` but the region is read-only, or if the cache holds the
    /// region already.
    pub fn select(&self, at: usize, is_written: bool, reference: u64) -> bool {
        let number = reference >> NUMBER_SHIFT;
        let is_it = |region: &&PeerRegion| u64::from(region.number) == number && (region.is_writable || !is_written);
        let Some(region) = self.mapped.iter().find(is_it) else { return false };
        let (cache, base) = (self.cache(at, is_written), region.mapping.start().as_ptr().addr());
        let is_new = !cache.begins_at(base);
        if is_new {
            // Exposed, so that C code and `address` can make pointers to the mapping.
            region.mapping.start().as_ptr().expose_provenance();
            cache.fill(base, region.mapping.length(), region.number);
        }
        is_new
    }

    /// Maps a region that the peer has just passed.
    pub(crate) fn admit(&mut self, wire: &Wire, number: u16) -> Result<(), Error> {
        let mapped: u64 = self.mapped.iter().map(|region| region.mapping.length() as u64).sum();
        let is_free =
            number != 0 && self.mapped.len() < REGIONS_MAX && self.mapped.iter().all(|known| known.number != number);
        // If the number is refused, the region's file is still taken, because it would otherwise
        // wait to be taken for ever. With a maximum of 0 bytes, the file is not mapped.
        let most = if is_free { CONNECTION_MAX.saturating_sub(mapped) } else { 0 };
        let region = wire.carrier.take_region(number, most);
        if !is_free {
            return Err(Violation::UnknownArea(u32::from(number)).into());
        }
        self.mapped.push(region?);
        Ok(())
    }

    /// Unmaps a region that its owner, the peer, has ended.
    pub fn forget(&mut self, number: u16) {
        self.caches.iter().for_each(PeerRegionCache::clear);
        self.mapped.retain(|region| region.number != number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caches() -> (RegionCache, PeerRegionCache) {
        let (own, peers) = (RegionCache::new(), PeerRegionCache::default());
        own.fill(0x1000, 64, 7);
        peers.fill(0x20_0000, 64, 7);
        (own, peers)
    }

    #[test]
    fn region_references_translate_to_the_peers_address() {
        let (own, peers) = caches();
        let reference = own.reference(0x1010).expect("inside");
        assert_eq!(reference, 7 << 48 | 0x10);
        assert_eq!(peers.address(reference, 12, 4, 4), Some(0x20_0010));
        assert_eq!(peers.address(reference, 13, 4, 4), None);
        assert_eq!(peers.address(reference, u64::MAX, 4, 4), None);
        assert_eq!(peers.address(reference, 0, 4, 32), None);
        assert_eq!(own.reference(0xfff), None);
        assert_eq!(own.reference(0x1040), None);
    }

    #[test]
    fn only_references_into_known_regions_translate() {
        let (own, peers) = caches();
        for reference in [0, 8, 6 << 48, 8 << 48, 7 << 48 | 65, u64::MAX, (7 << 48) - 1] {
            assert_eq!(peers.address(reference, 0, 1, 1), None, "{reference:x}");
        }
        assert!(peers.begins_at(0x20_0000) && !peers.begins_at(0x20_0040));
        peers.clear();
        own.clear();
        assert_eq!(peers.address(7 << 48, 0, 1, 1), None);
        assert_eq!(own.reference(0x1000), None);
        assert!(!peers.begins_at(0));
    }
}
