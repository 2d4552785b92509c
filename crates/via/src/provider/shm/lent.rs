//! Messages that lie in the sender's region until the receiver copies them: one copy instead of
//! two.
//!
//! A long message whose segments are all in regions that peers may read by RDMA is not copied into
//! the area: its record has references to the bytes. The regions are *lent* to the peer, which gets
//! their files as if it had opened them by RDMA (see [`super::opened`] for the consequences). The
//! peer learns no handle this way. When the registration of a lent region ends, the lender
//! withdraws the region by a record in the ring, after the messages that refer to the region.
//! Regions that peers may not read are never passed.

use super::mapping::{self, Mapping};
use super::opened::{self, Opening};
use super::record::{Kind, NOWHERE, Record};
use super::table::Entry;
use super::wire::{Fault, Wire};
use crate::memory::{MemoryHandle, Region};
use crate::spi::Sink;
use crate::{Descriptor, RegionView, Violation};
use rustix::fd::OwnedFd;
use std::sync::{Arc, Weak};

/// The first byte of a packet that lends a region.
pub(super) const LENDING: u8 = 3;
/// The minimum length of a lent message, in bytes: copying a shorter one is faster.
const LENGTH_MIN: u64 = 32 << 10;
/// The length of a reference to a segment, in bytes: u32 index and u32 value of the region's word
/// in the table, u64 offset, u32 length.
const REFERENCE: usize = 20;
/// The maximum number of references in a record.
const REFERENCES_MAX: usize = 5;
/// The length of a withdrawal, in bytes: u32 index and u32 value of the region's word in the table.
const WITHDRAWAL: usize = 8;
/// The maximum number of regions lent on a connection at a time.
const LENT_MAX: usize = 128;

const _: () = assert!(REFERENCE * REFERENCES_MAX <= super::record::SLOT - 24);

fn entry_of(region: &Region) -> Option<Entry> {
    region.provider.get()?.downcast_ref::<Entry>().copied()
}

/// The regions that this side has lent to the peer.
#[derive(Debug, Default)]
pub(super) struct Lender {
    lent: Vec<(Entry, Weak<Region>)>,
}

impl Lender {
    pub(super) fn is_empty(&self) -> bool {
        self.lent.is_empty()
    }

    /// Publishes a message by reference, if that is possible, and returns whether it was published.
    /// The ring must have a free slot.
    pub(super) fn publish(&mut self, wire: &mut Wire, descriptor: &Descriptor) -> bool {
        let segments = descriptor.segments();
        let is_fit = |region: &Region| region.access().read && region.is_registered() && entry_of(region).is_some();
        if descriptor.total() < LENGTH_MIN
            || segments.len() > REFERENCES_MAX
            || !segments.iter().all(|segment| is_fit(segment.region()) && self.lend(wire, segment.region()))
        {
            return false;
        }
        let mut references = [0; REFERENCE * REFERENCES_MAX];
        for (reference, segment) in references.chunks_exact_mut(REFERENCE).zip(segments) {
            let Some(entry) = entry_of(segment.region()) else { return false };
            reference[0..8].copy_from_slice(&entry.to_bytes());
            reference[8..16].copy_from_slice(&segment.offset.to_le_bytes());
            reference[16..20].copy_from_slice(&segment.length.to_le_bytes());
        }
        let references = &references[..segments.len() * REFERENCE];
        let record = Record {
            kind: Kind::Lent,
            immediate: descriptor.immediate(),
            whole: descriptor.total() as u32,
            piece: references.len() as u32,
            area: None,
            place: NOWHERE,
        };
        wire.publish(record, |bytes| {
            bytes.copy_from_slice(references);
            Some(())
        });
        true
    }

    /// Lends a region, unless it is lent already. Returns whether the region is lent.
    fn lend(&mut self, wire: &mut Wire, region: &Arc<Region>) -> bool {
        if self.lent.iter().any(|(_, lent)| std::ptr::eq(lent.as_ptr(), Arc::as_ptr(region))) {
            return true;
        }
        let Some(entry) = entry_of(region).filter(|_| self.lent.len() < LENT_MAX) else { return false };
        let is_lent = opened::send(&wire.socket, LENDING, region, MemoryHandle([0; 2]));
        if is_lent {
            wire.publish_opened();
            self.lent.push((entry, Arc::downgrade(region)));
        }
        is_lent
    }

    /// Withdraws the regions whose registration ended, as many as the ring has free slots for.
    pub(super) fn withdraw(&mut self, wire: &mut Wire) {
        self.lent.retain(|(entry, region)| {
            if region.upgrade().is_some_and(|region| region.is_registered()) || !wire.out.has_slot() {
                return true;
            }
            let length = WITHDRAWAL as u32;
            let record = Record {
                kind: Kind::Withdrawn,
                immediate: None,
                whole: length,
                piece: length,
                area: None,
                place: NOWHERE,
            };
            wire.publish(record, |bytes| {
                bytes.copy_from_slice(&entry.to_bytes());
                Some(())
            });
            false
        });
    }
}

/// The regions that the peer has lent to this side.
#[derive(Debug, Default)]
pub(super) struct Borrower {
    lent: Vec<(Entry, Mapping)>,
}

impl Borrower {
    pub(super) fn is_empty(&self) -> bool {
        self.lent.is_empty()
    }

    /// Takes a region that the peer lends.
    pub(super) fn admit(&mut self, packet: &[u8], files: Vec<OwnedFd>) -> Result<(), Fault> {
        let Opening { entry, length, file, .. } = Opening::from_packet(packet, files)?;
        if self.lent.len() == LENT_MAX || self.find(entry).is_some() {
            return Err(Fault::Violation);
        }
        // Messages will lie in the region, so it must be mapped.
        let mapping = mapping::open_region(&file, length, false).map_err(|_| Fault::Violation)?;
        self.lent.push((entry, mapping));
        Ok(())
    }

    fn find(&self, entry: Entry) -> Option<&Mapping> {
        self.lent.iter().find(|(lent, _)| *lent == entry).map(|(_, mapping)| mapping)
    }

    /// Releases a region that the peer withdraws.
    pub(super) fn give_back(&mut self, view: RegionView<'_>, at: usize, length: u32) -> Result<(), Violation> {
        let mut bytes = [0; WITHDRAWAL];
        view.copy_to(at, &mut bytes);
        let entry = Entry::from_bytes(bytes);
        let known = self.lent.iter().position(|(lent, _)| *lent == entry);
        match known {
            Some(known) if length as usize == WITHDRAWAL => {
                self.lent.swap_remove(known);
                Ok(())
            }
            _ => Err(Violation::UnknownArea(entry.index)),
        }
    }

    /// Copies the bytes of a message from the lent regions. The references were loaded once. Each
    /// is checked before the first of its bytes is copied.
    pub(super) fn fill(&self, references: References, whole: u32, sink: &mut dyn Sink) -> Result<(), Violation> {
        let mut done = 0_u32;
        for reference in references.iter() {
            let mapping = self.find(reference.entry).ok_or(Violation::UnknownArea(reference.entry.index))?;
            let at = usize::try_from(reference.offset).ok();
            let is_inside =
                at.and_then(|at| at.checked_add(reference.length as usize)).is_some_and(|end| end <= mapping.length());
            let end = done.checked_add(reference.length).filter(|end| is_inside && *end <= whole);
            let (Some(at), Some(end)) = (at, end) else {
                return Err(Violation::BadAreaRange { offset: reference.offset as u32, length: reference.length });
            };
            sink.fill_message_from(done, mapping.view(), at, reference.length as usize);
            done = end;
        }
        if done == whole { Ok(()) } else { Err(Violation::BadAreaRange { offset: done, length: whole }) }
    }
}

/// The references of a message, in private memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct References {
    bytes: [u8; REFERENCE * REFERENCES_MAX],
    count: usize,
}

#[derive(Clone, Copy, Debug)]
struct Reference {
    entry: Entry,
    offset: u64,
    length: u32,
}

impl References {
    /// Loads the references from a record's bytes.
    pub(super) fn load(view: RegionView<'_>, at: usize, length: u32) -> Result<Self, Violation> {
        let mut bytes = [0; REFERENCE * REFERENCES_MAX];
        let count = length as usize / REFERENCE;
        if !(length as usize).is_multiple_of(REFERENCE) || !(1..=REFERENCES_MAX).contains(&count) {
            return Err(Violation::BadInlineLength(length as u8));
        }
        view.copy_to(at, &mut bytes[..length as usize]).ok_or(Violation::BadInlineLength(length as u8))?;
        Ok(Self { bytes, count })
    }

    fn iter(&self) -> impl Iterator<Item = Reference> {
        self.bytes.chunks_exact(REFERENCE).take(self.count).map(|bytes| {
            let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            Reference {
                entry: Entry { index: word(0), value: word(4) },
                offset: u64::from(word(8)) | u64::from(word(12)) << 32,
                length: word(16),
            }
        })
    }
}
