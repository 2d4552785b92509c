//! Registrations of regions with libfabric, and the page to which the peer's provider writes.

use super::endpoint::Piece;
use super::ffi::{Handle, Iovec};
use super::handle;
use super::objects::{Domain, Registration};
use crate::random::random;
use crate::sync::lock;
use crate::{Access, Error, Memory, MemoryHandle, Region};
use std::sync::{Arc, Mutex};

/// The registrations of a region.
#[derive(Debug)]
struct Keys {
    // The registration for this side's own operations, if the provider requires their memory to be
    // registered. It lasts as long as descriptors point to the region.
    local: Option<Registration>,
    // The registration for RDMA by peers. It ends when the region is deregistered.
    remote: Mutex<Option<Registration>>,
    tag: Arc<TagDomain>,
}

/// Returns a key that cannot be guessed, for providers that let the application choose keys.
fn random_key() -> Result<u64, Error> {
    let key = u64::from_le_bytes(random()?);
    Ok(if key == PAGE_KEY { !key } else { key })
}

/// Registers a region. Returns the region's handle, or `None` for a region that peers cannot reach.
pub(super) fn register(
    tag: &Arc<TagDomain>,
    region: &Region,
    is_local: bool,
    is_addressed: bool,
) -> Result<Option<MemoryHandle>, Error> {
    let (memory, access) = (region.memory(), region.access());
    let is_empty = memory.is_empty();
    let new = |access: Access| {
        // SAFETY: the region keeps the registration in a field that is dropped before the memory.
        // `retire` keeps the region until all endpoints that may be running an operation on it are
        // closed.
        unsafe { Registration::new(&tag.domain, memory, access, random_key()?) }
    };
    let local = (is_local && !is_empty).then(|| new(Access::LOCAL)).transpose()?;
    let remote = ((access.write || access.read) && !is_empty).then(|| new(access)).transpose()?;
    let made = remote.as_ref().map(|remote| {
        let (base, length) = (memory.start().as_ptr().addr() as u64, memory.len() as u64);
        let made =
            if is_addressed { handle::addressed(remote.key, base) } else { handle::offset(remote.key, length, access) };
        made.ok_or(Error::Unsupported { provider: "fabric", what: "addresses of more than 48 bits" })
    });
    let handle = made.transpose()?;
    // The set succeeds, because a region is registered once.
    let _ = region.provider.set(Box::new(Keys { local, remote: Mutex::new(remote), tag: Arc::clone(tag) }));
    Ok(handle)
}

fn keys(region: &Region) -> Option<&Keys> {
    region.provider.get()?.downcast_ref()
}

/// Ends the peers' access to a region.
pub(super) fn deregister(region: &Arc<Region>) {
    let Some(keys) = keys(region) else { return };
    let remote = lock(&keys.remote).take();
    if remote.is_some() {
        keys.tag.domain.retire(region);
    }
}

/// Returns libfabric's descriptor of a region, for operations of this side.
pub(super) fn piece_descriptor(region: &Region) -> Handle {
    let local = keys(region).and_then(|keys| keys.local.as_ref());
    local.map_or(std::ptr::null_mut(), Registration::descriptor)
}

/// The key of the page, the same in all processes. It need not be secret: only connected peers can
/// write the page, and no side reads it.
pub(super) const PAGE_KEY: u64 = 0x6f62_7669_615f_7067;
/// The size of the word that peers write, in bytes.
const PAGE_WORD: usize = 8;

/// The memory that the peer's provider writes. Only the completion data of such a write carry
/// information: see [`super::side_channel`].
#[derive(Debug)]
pub(super) struct Page {
    // Declared before the memory, so that the registration ends before the memory is unmapped.
    registration: Registration,
    memory: Memory,
}

impl Page {
    fn open(domain: &Arc<Domain>) -> Result<Self, Error> {
        let memory = Memory::new(PAGE_WORD)?;
        // SAFETY: the memory is unmapped after the registration has ended, and every connection of
        // the domain holds the page.
        let registration = unsafe { Registration::new(domain, &memory, Access::WRITE, PAGE_KEY)? };
        Ok(Self { registration, memory })
    }

    /// Returns the source of this side's writes to the peer's page.
    pub(super) fn piece(&self) -> Piece {
        let iovec = Iovec { start: self.memory.start().as_ptr().cast(), length: PAGE_WORD };
        (iovec, self.registration.descriptor())
    }
}

/// The objects of a protection tag: a domain of its own, so that peers reach no region of another
/// tag.
#[derive(Debug)]
pub(super) struct TagDomain {
    // Declared before the domain, so that the page's registration ends before the domain is closed.
    pub(super) page: Option<Page>,
    overflow: Overflow,
    pub(super) domain: Arc<Domain>,
}

/// Memory for the excess of a message that is too long for its receive. This memory is the last
/// piece of every receive. Providers never write beyond a receive, but without this memory they
/// would break the connection without a reason (`tcp`) or hang (`shm`). No code reads this memory,
/// and the system allocates its pages only when they are written.
#[derive(Debug)]
struct Overflow {
    // Declared before the memory, so that the registration ends before the memory is unmapped.
    registration: Option<Registration>,
    memory: Memory,
}

impl TagDomain {
    /// Makes the objects of a tag: its domain, page and overflow.
    pub(super) fn open(domain: Arc<Domain>, has_page: bool, is_local: bool, longest: u32) -> Result<Self, Error> {
        let page = has_page.then(|| Page::open(&domain)).transpose()?;
        let memory = Memory::new(longest as usize)?;
        // SAFETY: the memory is unmapped after the registration has ended, and every connection of
        // the domain holds the registration and the memory.
        let register = || unsafe { Registration::new(&domain, &memory, Access::LOCAL, random_key()?) };
        let registration = is_local.then(register).transpose()?;
        Ok(Self { page, overflow: Overflow { registration, memory }, domain })
    }

    /// Returns the overflow memory, as the last piece of a receive.
    pub(super) fn overflow(&self) -> Piece {
        let memory = &self.overflow.memory;
        let iovec = Iovec { start: memory.start().as_ptr().cast(), length: memory.len() };
        let descriptor = self.overflow.registration.as_ref().map(Registration::descriptor);
        (iovec, descriptor.unwrap_or(std::ptr::null_mut()))
    }
}
