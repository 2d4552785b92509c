//! Regions that one side opened to the other: the conditions of direct access, and the packet that
//! opens a region.
//!
//! A region is opened to a peer that has just requested an RDMA on it, which the region's owner has
//! checked and performed. So the peer knows the handle, its VI has the region's tag, and the region
//! gives the right. The peer gets the region's file. With that file, even a hostile peer
//!
//! - can read and write the bytes of that region as long as it keeps the mapping, even after the
//!   registration ended, but no bytes of another region. No other data ever lie in that file, so
//!   the peer had the right to these bytes already;
//! - can only read these bytes if the region does not allow RDMA write: the file is sealed against
//!   further writing;
//! - can read these bytes even if the region allows only RDMA write: memory cannot be mapped for
//!   writing only. Bytes to be hidden from a hostile peer belong in another region;
//! - cannot change the file's size or its seals.
//!
//! A peer that keeps the rules looks at the owner's table of registrations before it touches the
//! region, stays inside the region, and leaves every doubtful case to the owner.

use super::mapping::{self, Mapping};
use super::packet::{self, Sent};
use super::table::{self, Entry};
use crate::memory::{MemoryHandle, Region};
use crate::spi::Intent;
use crate::{Descriptor, RemoteAddress, Violation};
use rustix::fd::OwnedFd;
use rustix::fs::SealFlags;

/// The length of the packet that opens a region, in bytes: u8 2, u8 rights (1: read, 2: write), u16
/// zero, u32 index, u32 value of its word in the table, u32 zero, the handle, u64 length.
const LENGTH: usize = 40;
/// The first byte of the packet that opens a region.
pub(super) const OPENING: u8 = 2;
/// The maximum number of regions kept mapped for a connection.
const KEPT_MAX: usize = 256;
/// The maximum number of recently used handles whose regions the peer may open.
const WANTED_MAX: usize = 16;
/// The maximum number of bytes that are copied before the owner's table of registrations is checked
/// again.
const STRIDE: u64 = 256 << 10;

/// Seals a region's file according to the peers' rights. Returns whether the region may be opened
/// to peers.
pub(super) fn seal(region: &Region) -> bool {
    let Some(file) = region.memory().file().filter(|_| !region.memory().is_empty()) else { return false };
    let mut seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    if !region.access().write {
        seals |= SealFlags::FUTURE_WRITE;
    }
    let has_them = |seals| rustix::fs::fcntl_get_seals(file).is_ok_and(|found| found.contains(seals));
    rustix::fs::fcntl_add_seals(file, seals).is_ok() || has_them(seals)
}

/// Sends the packet that opens a region to the peer, if that is possible without waiting. Returns
/// whether it was sent.
pub(super) fn send(socket: &OwnedFd, kind: u8, region: &Region, handle: MemoryHandle) -> bool {
    let entry = region.provider.get().and_then(|own| own.downcast_ref::<Entry>());
    let (Some(entry), Some(file)) = (entry, region.memory().file()) else { return false };
    // A peer refuses a region whose file lacks pages. If the region is not passed, the caller's
    // bytes go through the ring instead.
    if mapping::provide_region(region.memory()).is_err() {
        return false;
    }
    let access = region.access();
    let mut bytes = [0; LENGTH];
    bytes[0] = kind;
    bytes[1] = u8::from(access.read) | u8::from(access.write) << 1;
    bytes[4..12].copy_from_slice(&entry.to_bytes());
    bytes[16..32].copy_from_slice(&handle.to_bytes());
    bytes[32..40].copy_from_slice(&(region.memory().len() as u64).to_le_bytes());
    matches!(packet::send(socket, &bytes, &[file]), Ok(Sent::Done))
}

/// The content of a packet with a region.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) entry: Entry,
    pub(super) read: bool,
    pub(super) write: bool,
    pub(super) handle: MemoryHandle,
    pub(super) length: usize,
    pub(super) file: OwnedFd,
}

impl Opening {
    /// Reads a packet. Rejects a region without rights or without bytes.
    pub(super) fn from_packet(packet: &[u8], files: Vec<OwnedFd>) -> Result<Self, Violation> {
        let packet: &[u8; LENGTH] = packet.try_into().map_err(|_| Violation::BadGreeting)?;
        let [file]: [OwnedFd; 1] = files.try_into().map_err(|_| Violation::NoSegment)?;
        let eight = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&packet[at..at + 8]);
            bytes
        };
        let entry = Entry::from_bytes(eight(4));
        let handle = MemoryHandle([u64::from_le_bytes(eight(16)), u64::from_le_bytes(eight(24))]);
        let length = usize::try_from(u64::from_le_bytes(eight(32))).map_err(|_| Violation::ShortSegment)?;
        let (read, write) = (packet[1] & 1 != 0, packet[1] & 2 != 0);
        if length == 0 || !(read || write) {
            return Err(Violation::ShortSegment);
        }
        Ok(Self { entry, read, write, handle, length, file })
    }
}

/// The peer's regions that this side may access directly. The most recently used region comes
/// first.
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
    /// Notes that an RDMA on a region was left to the peer, which may then open the region to this
    /// side.
    pub(super) fn want(&mut self, handle: MemoryHandle) {
        if !self.wanted.contains(&handle) {
            if self.wanted.len() == WANTED_MAX {
                self.wanted.remove(0);
            }
            self.wanted.push(handle);
        }
    }

    /// Takes a region that the peer opened. The peer may open only regions whose handles
    /// [`Self::want`] has noted. A region that cannot be mapped is left out.
    pub(super) fn admit(&mut self, packet: &[u8], files: Vec<OwnedFd>, table: &Mapping) -> Result<(), Violation> {
        let Opening { entry, read, write, handle, length, file } = Opening::from_packet(packet, files)?;
        let wanted =
            self.wanted.iter().position(|other| *other == handle).ok_or(Violation::UnknownArea(entry.index))?;
        self.wanted.swap_remove(wanted);
        self.sweep(table);
        self.regions.retain(|other| other.handle != handle);
        self.regions.truncate(KEPT_MAX - 1);
        if let Ok(mapping) = mapping::open_region(&file, length, write) {
            self.regions.insert(0, Reach { handle, entry, read, write, mapping });
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }

    /// Unmaps regions whose registration ended.
    pub(super) fn sweep(&mut self, table: &Mapping) {
        self.regions.retain(|region| table::holds(table, region.entry));
    }

    /// Whether this side has mapped the range of the peer's memory with the right to access it. The
    /// region's registration may have ended nevertheless.
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

    /// Copies between a descriptor's segments and the range that [`Self::has`] has just checked.
    /// Returns `None` if the registration ended during the copy, or `go_on` returned `false`. The
    /// RDMA is then left to the region's owner, which decides on the outcome.
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
            // The range is in bounds by the check of `has`, which the mapping repeats.
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
