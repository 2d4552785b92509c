//! The state that a NIC shares with its VIs and regions: provider, table of regions, attendant.

use super::attendant::Attendant;
use crate::descriptor::RemoteAddress;
use crate::memory::{HandleHasher, MemoryHandle, Region, Registrar, Tag};
use crate::spi::{Intent, Provider, Refusal};
use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// An opened provider, with the state that its NIC shares with VIs and regions.
pub(crate) struct NicCore {
    pub(crate) id: u64,
    pub(crate) provider: Box<dyn Provider>,
    pub(super) regions: RwLock<HashMap<MemoryHandle, Arc<Region>, BuildHasherDefault<HandleHasher>>>,
    next_region: AtomicU64,
    secret: u64,
    pub(crate) attendant: OnceLock<Attendant>,
}

impl fmt::Debug for NicCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nic").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl NicCore {
    pub(super) fn new(provider: Box<dyn Provider>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut secret = [0; 8];
        // A failure is ignored, because unpredictable handles are only a second protection of
        // regions. Without random numbers, the check of the protection tag still protects the
        // regions.
        let _ = rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty());
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            provider,
            regions: RwLock::default(),
            next_region: AtomicU64::new(1),
            secret: u64::from_le_bytes(secret),
            attendant: OnceLock::new(),
        }
    }

    pub(super) fn new_handle(&self) -> MemoryHandle {
        let number = self.next_region.fetch_add(1, Ordering::Relaxed);
        // A mixing step of splitmix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection that
        // spreads every bit.
        let mut mixed = self.secret ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        MemoryHandle([number, mixed ^ (mixed >> 31)])
    }

    /// Returns the region for an RDMA by the peer of a VI with this tag.
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

    /// Makes the attendant, if there is one, serve all VIs soon.
    pub(crate) fn look_at_all(&self) {
        if let Some(attendant) = self.attendant.get() {
            attendant.ring_for_all();
        }
    }

    pub(crate) fn attend(&self) -> &Attendant {
        self.attendant.get_or_init(Attendant::start)
    }
}

impl Registrar for NicCore {
    fn forget(&self, handle: MemoryHandle, region: &Arc<Region>) {
        self.provider.deregister(region);
        self.regions.write().unwrap_or_else(PoisonError::into_inner).remove(&handle);
    }
}
