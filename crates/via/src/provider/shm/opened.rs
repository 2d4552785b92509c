//! Regions that one side opened to the other: who may reach in by itself, and the packet that says so.
//!
//! A region is opened to a peer that has just performed an RDMA on it, which its owner has checked and done for it. So the
//! peer knows the handle, its VI has the region's tag, and the region gives the right. What the peer gets is the region's file.
//! With that, whatever it intends, it can
//!
//! - read and write the bytes of that region and of no other, as long as it keeps the mapping, also after the registration ended;
//!   nothing else ever lies in that file, so these are bytes that it had the right to already;
//! - only read them, where the region does not allow RDMA write: the file is sealed against any new way to write it;
//! - read them, too, where the region allows RDMA write alone: memory cannot be mapped for writing only. Whoever must hide bytes from a
//!   hostile peer keeps them in another region;
//! - not change the file's size or its seals.
//!
//! A peer that keeps to the rules looks at the owner's table of registrations before it touches anything, reaches only as far
//! as the region goes, and leaves every doubtful case to the owner.

use super::mapping::{self, Mapping};
use super::packet::{self, Sent};
use super::table::{self, Entry};
use crate::memory::{MemoryHandle, Region};
use crate::spi::Intent;
use crate::{Descriptor, RemoteAddress, Violation};
use rustix::fd::OwnedFd;
use rustix::fs::SealFlags;

/// The packet that opens a region: u8 2, u8 rights (1: read, 2: write), u16 zero, u32 index, u32 value of its word in the table, u32 zero,
/// the handle, u64 length.
const LENGTH: usize = 40;
/// The first byte of such a packet.
pub(super) const OPENING: u8 = 2;
/// Regions that are kept mapped for a connection.
const KEPT_MAX: usize = 256;
/// Handles that were used lately, whose regions the peer may open.
const WANTED_MAX: usize = 16;
/// Bytes between two looks at the table.
const STRIDE: u64 = 256 << 10;

/// Seals a region's file by what peers may do with it. Returns whether it may be opened to them.
pub(super) fn seal(region: &Region) -> bool {
    let Some(file) = region.memory().file().filter(|_| !region.memory().is_empty()) else { return false };
    let mut seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    if !region.access().write {
        seals |= SealFlags::FUTURE_WRITE;
    }
    let has_them = |seals| rustix::fs::fcntl_get_seals(file).is_ok_and(|found| found.contains(seals));
    rustix::fs::fcntl_add_seals(file, seals).is_ok() || has_them(seals)
}

/// Opens a region to the peer, if that is possible without waiting. Returns whether it was done.
pub(super) fn open(socket: &OwnedFd, region: &Region, handle: MemoryHandle) -> bool {
    let entry = region.provider.get().and_then(|own| own.downcast_ref::<Entry>());
    let (Some(entry), Some(file)) = (entry, region.memory().file()) else { return false };
    let access = region.access();
    let mut bytes = [0; LENGTH];
    bytes[0] = OPENING;
    bytes[1] = u8::from(access.read) | u8::from(access.write) << 1;
    bytes[4..8].copy_from_slice(&entry.index.to_le_bytes());
    bytes[8..12].copy_from_slice(&entry.value.to_le_bytes());
    bytes[16..32].copy_from_slice(&handle.to_bytes());
    bytes[32..40].copy_from_slice(&(region.memory().len() as u64).to_le_bytes());
    matches!(packet::send(socket, &bytes, &[file]), Ok(Sent::Done))
}

/// The peer's regions that this side may reach into, the one used last first.
#[derive(Debug, Default)]
pub(super) struct Opened {
    regions: Vec<Reach>,
    wanted: Vec<MemoryHandle>,
}

#[derive(Debug)]
struct Reach {
    handle: MemoryHandle,
    entry: Entry,
    read: bool,
    write: bool,
    mapping: Mapping,
}

impl Opened {
    /// Notes that an RDMA on this region was asked for.
    pub(super) fn want(&mut self, handle: MemoryHandle) {
        if !self.wanted.contains(&handle) {
            if self.wanted.len() == WANTED_MAX {
                self.wanted.remove(0);
            }
            self.wanted.push(handle);
        }
    }

    /// The peer opened a region. One that nobody asked for breaks the rules; one that cannot be mapped is done without.
    pub(super) fn admit(&mut self, packet: &[u8], files: Vec<OwnedFd>, table: &Mapping) -> Result<(), Violation> {
        let packet: &[u8; LENGTH] = packet.try_into().map_err(|_| Violation::BadGreeting)?;
        let [file]: [OwnedFd; 1] = files.try_into().map_err(|_| Violation::NoSegment)?;
        let word = |at: usize| u32::from_le_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]]);
        let entry = Entry { index: word(4), value: word(8) };
        let mut handle = [0; 16];
        handle.copy_from_slice(&packet[16..32]);
        let handle = MemoryHandle::from_bytes(handle);
        let length = u64::from(word(32)) | u64::from(word(36)) << 32;
        let wanted =
            self.wanted.iter().position(|other| *other == handle).ok_or(Violation::UnknownArea(entry.index))?;
        self.wanted.swap_remove(wanted);
        let (read, write) = (packet[1] & 1 != 0, packet[1] & 2 != 0);
        let Some(length) = usize::try_from(length).ok().filter(|length| *length > 0 && (read || write)) else {
            return Ok(());
        };
        self.sweep(table);
        self.regions.retain(|other| other.handle != handle);
        self.regions.truncate(KEPT_MAX - 1);
        if let Ok(mapping) = mapping::open_region(&file, length, write) {
            self.regions.insert(0, Reach { handle, entry, read, write, mapping });
        }
        Ok(())
    }

    /// Lets go of regions whose registration ended.
    pub(super) fn sweep(&mut self, table: &Mapping) {
        self.regions.retain(|region| table::holds(table, region.entry));
    }

    /// Whether this side can reach the place, by what is known now.
    pub(super) fn has(&mut self, place: RemoteAddress, length: u64, intent: Intent) -> bool {
        let Some(at) = self.regions.iter().position(|region| region.handle == place.handle) else { return false };
        self.regions.swap(0, at);
        let region = &self.regions[0];
        let allowed = match intent {
            Intent::Write => region.write,
            Intent::Read => region.read,
        };
        let inside = place.offset.checked_add(length).is_some_and(|end| end <= region.mapping.length() as u64);
        allowed && inside
    }

    /// Copies between a descriptor's segments and the place that [`Self::has`] has just found. `None` when the registration ended
    /// meanwhile, or `go_on` says no: then the owner is to say what that means.
    pub(super) fn copy(
        &self,
        descriptor: &Descriptor,
        place: RemoteAddress,
        intent: Intent,
        table: &Mapping,
        go_on: impl Fn() -> bool,
    ) -> Option<()> {
        let region = self.regions.first().filter(|region| region.handle == place.handle)?;
        let (whole, mut done) = (descriptor.total(), 0);
        loop {
            if !table::holds(table, region.entry) || !go_on() {
                return None;
            }
            let some = (whole - done).min(STRIDE);
            // In bounds, as `has` found out, and as the mapping finds out again.
            let at = usize::try_from(place.offset.checked_add(done)?).ok()?;
            descriptor.stretches(done, some, |memory, offset, before, length| match intent {
                Intent::Write => region.mapping.fill(at.checked_add(before)?, memory, offset, length),
                Intent::Read => memory.write_view(offset, region.mapping.view(), at.checked_add(before)?, length),
            })?;
            done += some;
            if done == whole {
                return Some(());
            }
        }
    }
}
