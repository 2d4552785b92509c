//! NICs: an opened provider, with its regions, protection tags, completion queues and VIs.

pub(crate) mod attendant;

use crate::completion::CompletionQueue;
use crate::connection::Listener;
use crate::memory::{
    Access, HandleHasher, Hold, InUse, Memory, MemoryHandle, MemoryRegion, ProtectionTag, Region, Tag,
};
use crate::spi::{Intent, Provider, Refusal};
use crate::vi::{Vi, ViAttributes};
use crate::{Error, RemoteAddress};
use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// What two VIs promise each other. VI Architecture 1.0, "Reliability Levels".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reliability {
    /// A message arrives at most once, and intact. Losses are silent.
    Unreliable = 1,
    /// Messages arrive exactly once, intact, and in order; what cannot be delivered breaks the connection. A send is
    /// complete when it will be delivered as long as the connection lasts.
    #[default]
    ReliableDelivery = 2,
    /// The same, and a send is complete only when its data is in the peer's memory.
    ReliableReception = 3,
}

impl Reliability {
    /// Reads the wire value.
    pub const fn from_wire(value: u8) -> Option<Self> {
        Some(match value {
            1 => Self::Unreliable,
            2 => Self::ReliableDelivery,
            3 => Self::ReliableReception,
            _ => return None,
        })
    }

    /// Whether a loss is an error.
    pub const fn is_reliable(self) -> bool {
        !matches!(self, Self::Unreliable)
    }
}

impl fmt::Display for Reliability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreliable => "unreliable delivery",
            Self::ReliableDelivery => "reliable delivery",
            Self::ReliableReception => "reliable reception",
        })
    }
}

/// What a NIC can do.
#[derive(Clone, Debug)]
pub struct Attributes {
    /// The provider's name: `shm`, `udp`.
    pub provider: &'static str,
    /// The longest message or RDMA, in bytes.
    pub max_transfer: u32,
    /// The most data segments of a descriptor.
    pub max_segments: usize,
    /// The most descriptors that a queue holds.
    pub queue_depth: usize,
    /// Whether it has RDMA write.
    pub rdma_write: bool,
    /// Whether it has RDMA read.
    pub rdma_read: bool,
    /// The reliability levels that it has.
    pub reliability: &'static [Reliability],
}

/// An opened provider.
#[derive(Clone, Debug)]
pub struct Nic {
    pub(crate) core: Arc<NicCore>,
}

pub(crate) struct NicCore {
    id: u64,
    pub(crate) provider: Box<dyn Provider>,
    regions: RwLock<HashMap<MemoryHandle, Arc<Region>, BuildHasherDefault<HandleHasher>>>,
    next_region: AtomicU64,
    secret: u64,
    pub(crate) attendant: OnceLock<attendant::Attendant>,
}

impl fmt::Debug for NicCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nic").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl Nic {
    /// Opens a provider.
    pub fn open(provider: Box<dyn Provider>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut secret = [0; 8];
        // Handles that cannot be guessed are a second lock beside the protection tag; without randomness the first holds.
        let _ = rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty());
        let core = NicCore {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            provider,
            regions: RwLock::default(),
            next_region: AtomicU64::new(1),
            secret: u64::from_le_bytes(secret),
            attendant: OnceLock::new(),
        };
        Self { core: Arc::new(core) }
    }

    /// What it can do.
    pub fn attributes(&self) -> &Attributes {
        self.core.provider.attributes()
    }

    /// Memory that suits the provider: what peers on the same host can map, for instance.
    ///
    /// # Errors
    ///
    /// When the system has none.
    pub fn memory(&self, length: usize) -> Result<Memory, Error> {
        self.core.provider.memory(length)
    }

    /// Makes a protection tag.
    pub fn protection_tag(&self) -> ProtectionTag {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        ProtectionTag { core: Arc::new(Tag { nic: self.core.id, number, users: AtomicUsize::new(0) }) }
    }

    /// Registers memory.
    ///
    /// # Errors
    ///
    /// [`Error::BadState`] for another NIC's tag, [`Error::Unsupported`] for a right that the provider does not have, or
    /// what the provider says.
    pub fn register(&self, memory: Memory, tag: &ProtectionTag, access: Access) -> Result<MemoryRegion, Error> {
        let can = self.attributes();
        if tag.core.nic != self.core.id {
            return Err(Error::BadState { what: "the protection tag is of another NIC" });
        }
        if (access.write && !can.rdma_write) || (access.read && !can.rdma_read) {
            return Err(Error::Unsupported { provider: can.provider, what: "the RDMA that the region is to allow" });
        }
        let region = Arc::new(Region {
            memory,
            tag: Arc::clone(&tag.core),
            access,
            handle: OnceLock::new(),
            hold: Hold::default(),
            provider: OnceLock::new(),
        });
        let handle = self.core.provider.register(&region)?.unwrap_or_else(|| self.core.new_handle());
        let _ = region.handle.set(handle);
        tag.core.users.fetch_add(1, Ordering::AcqRel);
        self.core.regions.write().unwrap_or_else(PoisonError::into_inner).insert(handle, Arc::clone(&region));
        Ok(MemoryRegion { core: region, handle, nic: Arc::clone(&self.core) })
    }

    /// Makes a completion queue with room for so many completions.
    pub fn completion_queue(&self, capacity: usize) -> CompletionQueue {
        CompletionQueue::new(Arc::clone(&self.core), capacity)
    }

    /// Makes a VI. Completions of its queues go to the completion queues given, where there are any.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a reliability level that the provider does not have, [`Error::BadState`] for things of
    /// another NIC, [`Error::TooLong`] for a longer transfer size than it has.
    pub fn vi(
        &self,
        attributes: ViAttributes,
        tag: &ProtectionTag,
        send: Option<&CompletionQueue>,
        receive: Option<&CompletionQueue>,
    ) -> Result<Vi, Error> {
        if tag.core.nic != self.core.id || [send, receive].iter().flatten().any(|queue| !queue.is_of(&self.core)) {
            return Err(Error::BadState { what: "the protection tag or completion queue is of another NIC" });
        }
        Vi::new(Arc::clone(&self.core), attributes, Arc::clone(&tag.core), send, receive)
    }

    /// Listens for connections.
    ///
    /// # Errors
    ///
    /// When the discriminator is malformed for this provider, or taken.
    pub fn listen(&self, discriminator: &str) -> Result<Listener, Error> {
        Ok(Listener { inner: self.core.provider.listen(discriminator)? })
    }
}

impl NicCore {
    fn new_handle(&self) -> MemoryHandle {
        let number = self.next_region.fetch_add(1, Ordering::Relaxed);
        // A mixing step of splitmix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection that spreads every bit.
        let mut mixed = self.secret ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        MemoryHandle([number, mixed ^ (mixed >> 31)])
    }

    /// The region of an RDMA by a peer of a VI with this tag.
    pub(crate) fn remote(
        &self,
        tag: &Arc<Tag>,
        place: RemoteAddress,
        length: u64,
        intent: Intent,
    ) -> Result<Arc<Region>, Refusal> {
        let regions = self.regions.read().unwrap_or_else(PoisonError::into_inner);
        let region = regions.get(&place.handle).ok_or(Refusal::Protection)?;
        let allowed = match intent {
            Intent::Write => region.access.write,
            Intent::Read => region.access.read,
        };
        if allowed && Arc::ptr_eq(&region.tag, tag) && region.memory.holds(place.offset, length) {
            return Ok(Arc::clone(region));
        }
        Err(Refusal::Protection)
    }

    fn forget(&self, handle: MemoryHandle, region: &Arc<Region>) {
        region.hold.end();
        self.provider.deregister(region);
        self.regions.write().unwrap_or_else(PoisonError::into_inner).remove(&handle);
        region.tag.users.fetch_sub(1, Ordering::AcqRel);
    }

    pub(crate) fn attend(&self) -> &attendant::Attendant {
        self.attendant.get_or_init(attendant::Attendant::start)
    }
}

impl crate::memory::MemoryRegion {
    /// Takes back the registration: the handle names nothing any more.
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
        self.nic.forget(self.handle, &self.core);
    }
}
