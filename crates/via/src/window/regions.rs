//! Regions: memory that calls pass by reference, mapped on both sides of a connection.
//!
//! Its owner makes it and says what peers may do with it: read, or write as well; the kernel sees to that. A reference is a word:
//! the region's number in its upper 16 bits, which is never 0, and an offset in the lower 48.

use super::{Mapping, Wire};
use crate::{Error, Violation};
use rustix::fd::OwnedFd;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Regions of a peer that a connection keeps mapped.
pub const REGIONS_MAX: usize = 64;
/// The longest region, in bytes: its offsets have 48 bits, and counts of elements are added to them.
pub const REGION_MAX: u64 = 1 << 46;
/// Bytes of peers' regions that a process keeps mapped: half of its addresses, whatever is in them. The rest is for everything else.
const MAPPED_MAX: u64 = 1 << 46;
/// Hands for regions that are read; there are as many for those that are written.
pub const HANDS: usize = 4;
/// Where a reference has its region's number.
const NUMBER_SHIFT: u32 = 48;

/// Which hand is for the array `at` of a method, among those that are read or those that are written.
#[inline(always)]
pub const fn hand_at(at: usize, is_written: bool) -> usize {
    (at % HANDS) + if is_written { HANDS } else { 0 }
}

/// A region of this process, which peers can be given.
#[derive(Debug)]
pub struct OwnRegion {
    pub(crate) mapping: Mapping,
    pub(crate) file: OwnedFd,
    is_writable: bool,
}

impl OwnRegion {
    /// Makes a region of so many bytes, zeroed, which peers may read, or write as well. Memory is used as it is touched.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] for more than [`REGION_MAX`] bytes; and when the kernel has no such memory.
    pub fn new(bytes: usize, is_writable: bool) -> Result<Self, Error> {
        if bytes as u64 > REGION_MAX {
            return Err(Error::TooLong { length: bytes as u64, limit: REGION_MAX });
        }
        let (mapping, file) = crate::provider::shm::create_region(bytes.max(1), is_writable)?;
        Ok(Self { mapping, file, is_writable })
    }

    /// Its memory: there as long as the value, and written by peers where they may.
    pub fn start(&self) -> NonNull<u8> {
        self.mapping.start()
    }

    /// How many bytes it has.
    pub fn length(&self) -> usize {
        self.mapping.length()
    }

    /// Whether peers may write it.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }
}

/// The region used last in its place: what an address becomes a reference by, or a reference an address. C code sees it.
///
/// While its length is 0 nothing lies in it.
#[derive(Debug)]
#[repr(C)]
pub struct Hand {
    base: AtomicUsize,
    length: AtomicU64,
    tag: AtomicU64,
}

impl Hand {
    /// One with nothing in it.
    #[expect(clippy::new_without_default, reason = "a const one is needed, and one way to make it is enough")]
    pub const fn new() -> Self {
        Self { base: AtomicUsize::new(0), length: AtomicU64::new(0), tag: AtomicU64::new(0) }
    }

    /// Takes a region in hand, by the number that the peer knows it by.
    pub fn take(&self, base: usize, length: usize, number: u16) {
        // Never a mixture of two: whoever else writes it only empties it.
        self.empty();
        self.base.store(base, Ordering::Relaxed);
        self.tag.store(u64::from(number) << NUMBER_SHIFT, Ordering::Relaxed);
        self.length.store(length as u64, Ordering::Relaxed);
    }

    /// Lets go of the region.
    pub fn empty(&self) {
        self.length.store(0, Ordering::Relaxed);
    }

    /// Whether the region in hand begins there.
    pub fn begins_at(&self, base: usize) -> bool {
        self.length.load(Ordering::Relaxed) != 0 && self.base.load(Ordering::Relaxed) == base
    }

    /// The reference to an address, if it lies in the region.
    #[inline(always)]
    pub fn reference(&self, address: usize) -> Option<u64> {
        let offset = address.wrapping_sub(self.base.load(Ordering::Relaxed)) as u64;
        (offset < self.length.load(Ordering::Relaxed)).then(|| offset + self.tag.load(Ordering::Relaxed))
    }
}

/// The peer's region used last in its place: what a reference becomes an address by. C code sees it.
///
/// While its length is 0 nothing lies in it, but for what has no bytes.
#[derive(Debug, Default)]
#[repr(C)]
pub struct PeerHand {
    /// What is added to a reference.
    bias: Cell<u64>,
    length: Cell<u64>,
    /// The reference to its end.
    end: Cell<u64>,
}

impl PeerHand {
    fn take(&self, base: usize, length: usize, number: u16) {
        let tag = u64::from(number) << NUMBER_SHIFT;
        self.bias.set((base as u64).wrapping_sub(tag));
        self.length.set(length as u64);
        self.end.set(tag + length as u64);
    }

    fn empty(&self) {
        self.take(0, 0, 0);
    }

    fn begins_at(&self, base: usize) -> bool {
        let tag = self.end.get() - self.length.get();
        self.length.get() != 0 && self.bias.get().wrapping_add(tag) == base as u64
    }

    /// The address of so many elements, if a reference is to this region and they lie in it, aligned.
    #[inline(always)]
    pub fn address(&self, reference: u64, count: u64, size: u64, align: u64) -> Option<usize> {
        // What the region has from there on; more than it has where the reference is to another one.
        let left = self.end.get().wrapping_sub(reference);
        let is_in = left <= self.length.get() && count <= left / size && reference.is_multiple_of(align);
        is_in.then(|| self.bias.get().wrapping_add(reference) as usize)
    }
}

/// A region that the peer gave to this side.
#[derive(Debug)]
pub(crate) struct PeerRegion {
    number: u16,
    is_writable: bool,
    mapping: Mapping,
    _addresses: Addresses,
}

impl PeerRegion {
    /// Has it mapped, if there are addresses for so many bytes.
    pub(crate) fn new(
        number: u16,
        length: usize,
        is_writable: bool,
        map: impl FnOnce() -> Result<Mapping, Error>,
    ) -> Result<Self, Error> {
        let addresses = Addresses::take(length as u64)?;
        Ok(Self { number, is_writable, mapping: map()?, _addresses: addresses })
    }
}

/// Addresses that regions of peers take, as long as the value is there.
#[derive(Debug)]
struct Addresses(u64);

/// How many all of them take.
static TAKEN: AtomicU64 = AtomicU64::new(0);

impl Addresses {
    fn take(length: u64) -> Result<Self, Error> {
        // A mapping takes whole pages; no processor's are larger than this.
        let length = length.next_multiple_of(64 << 10);
        let more = |taken: u64| taken.checked_add(length).filter(|&taken| taken <= MAPPED_MAX);
        let took = TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        took.map(|_| Self(length)).map_err(|taken| Error::TooLong { length, limit: MAPPED_MAX - taken })
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// The peer's regions that this side has mapped.
#[derive(Debug)]
#[repr(C)]
pub struct PeerRegions {
    // C code finds them here. Invariant: each is empty or of a region of `mapped`; those of the second half of a writable one.
    hands: [PeerHand; 2 * HANDS],
    mapped: Vec<PeerRegion>,
}

impl PeerRegions {
    pub(super) fn new() -> Self {
        Self { hands: Default::default(), mapped: Vec::new() }
    }

    /// The hand for the array `at` of a method, among those that are read or those that are written.
    #[inline(always)]
    pub fn hand(&self, at: usize, is_written: bool) -> &PeerHand {
        &self.hands[hand_at(at, is_written)]
    }

    /// Takes the region of a reference in hand. False where there is none, or it is in hand already.
    pub fn turn(&self, at: usize, is_written: bool, reference: u64) -> bool {
        let number = reference >> NUMBER_SHIFT;
        let is_it = |region: &&PeerRegion| u64::from(region.number) == number && (region.is_writable || !is_written);
        let Some(region) = self.mapped.iter().find(is_it) else { return false };
        let (hand, base) = (self.hand(at, is_written), region.mapping.start().as_ptr().addr());
        let is_new = !hand.begins_at(base);
        if is_new {
            // So that what is made of it is a pointer to the mapping.
            region.mapping.start().as_ptr().expose_provenance();
            hand.take(base, region.mapping.length(), region.number);
        }
        is_new
    }

    /// Maps a region that the peer has just handed over.
    pub(crate) fn admit(&mut self, wire: &Wire, number: u16) -> Result<(), Error> {
        let region = wire.carrier.take_region(number)?;
        if number == 0 || self.mapped.len() >= REGIONS_MAX || self.mapped.iter().any(|known| known.number == number) {
            return Err(Violation::UnknownArea(u32::from(number)).into());
        }
        self.mapped.push(region);
        Ok(())
    }

    /// Lets go of a region that the peer says it has ended.
    pub fn forget(&mut self, number: u16) {
        self.hands.iter().for_each(PeerHand::empty);
        self.mapped.retain(|region| region.number != number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hands() -> (Hand, PeerHand) {
        let (own, peers) = (Hand::new(), PeerHand::default());
        own.take(0x1000, 64, 7);
        peers.take(0x20_0000, 64, 7);
        (own, peers)
    }

    #[test]
    fn a_reference_leads_to_the_same_place_on_the_other_side() {
        let (own, peers) = hands();
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
    fn peers_get_half_of_the_addresses_at_most() {
        let half = Addresses::take(MAPPED_MAX / 2).expect("nothing is taken");
        let rest = Addresses::take(MAPPED_MAX / 2).expect("nor more than half");
        assert!(matches!(Addresses::take(1), Err(Error::TooLong { limit: 0, .. })));
        drop(rest);
        assert!(Addresses::take(MAPPED_MAX).is_err());
        assert!(Addresses::take(1).is_ok());
        drop(half);
        assert!(Addresses::take(MAPPED_MAX).is_ok());
    }

    #[test]
    fn nothing_else_is_an_address() {
        let (own, peers) = hands();
        for reference in [0, 8, 6 << 48, 8 << 48, 7 << 48 | 65, u64::MAX, (7 << 48) - 1] {
            assert_eq!(peers.address(reference, 0, 1, 1), None, "{reference:x}");
        }
        assert!(peers.begins_at(0x20_0000) && !peers.begins_at(0x20_0040));
        peers.empty();
        own.empty();
        assert_eq!(peers.address(7 << 48, 0, 1, 1), None);
        assert_eq!(own.reference(0x1000), None);
        assert!(!peers.begins_at(0));
    }
}
