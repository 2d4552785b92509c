//! NICs: an opened provider, with its regions, protection tags, completion queues and VIs.

pub(crate) mod attendant;
mod core;

pub(crate) use self::core::NicCore;

use crate::Error;
use crate::attributes::Attributes;
use crate::completion::CompletionQueue;
use crate::connection::Listener;
use crate::memory::{Access, Hold, Memory, MemoryRegion, ProtectionTag, Region, Registrar, Tag};
use crate::spi::Provider;
use crate::vi::{Vi, ViAttributes};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

/// An opened provider.
#[derive(Clone, Debug)]
pub struct Nic {
    pub(crate) core: Arc<NicCore>,
}

impl Nic {
    /// Opens a provider.
    pub fn open(provider: Box<dyn Provider>) -> Self {
        Self { core: Arc::new(NicCore::new(provider)) }
    }

    /// Returns the capabilities of the NIC.
    pub fn attributes(&self) -> &Attributes {
        self.core.provider.attributes()
    }

    /// Makes memory that suits the provider, for instance memory that peers on the same host can
    /// map.
    ///
    /// # Errors
    ///
    /// An error of the system if there is no memory left.
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
    /// [`Error::BadState`] for another NIC's tag; [`Error::Unsupported`] for a right that the
    /// provider does not support; the provider's error.
    pub fn register(&self, memory: Memory, tag: &ProtectionTag, access: Access) -> Result<MemoryRegion, Error> {
        let can = self.attributes();
        if tag.core.nic != self.core.id {
            return Err(Error::BadState { what: "the protection tag belongs to another NIC" });
        }
        if (access.write && !can.rdma_write) || (access.read && !can.rdma_read) {
            return Err(Error::Unsupported {
                provider: can.provider,
                what: "the RDMA that the region's access rights \
                allow",
            });
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
        let registrar: Arc<dyn Registrar> = Arc::<NicCore>::clone(&self.core);
        Ok(MemoryRegion { core: region, handle, registrar })
    }

    /// Makes a completion queue with room for `capacity` completions.
    pub fn completion_queue(&self, capacity: usize) -> CompletionQueue {
        CompletionQueue::new(self.core.id, capacity)
    }

    /// Makes a VI. The given completion queues, if any, announce the completions of its work
    /// queues.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a reliability level that the provider does not support;
    /// [`Error::BadState`] for a tag or queue of another NIC; [`Error::TooLong`] for a transfer
    /// size above the provider's.
    pub fn vi(
        &self,
        attributes: ViAttributes,
        tag: &ProtectionTag,
        send: Option<&CompletionQueue>,
        receive: Option<&CompletionQueue>,
    ) -> Result<Vi, Error> {
        if tag.core.nic != self.core.id || [send, receive].iter().flatten().any(|queue| queue.nic() != self.core.id) {
            return Err(Error::BadState { what: "the protection tag or a completion queue belongs to another NIC" });
        }
        Vi::new(Arc::clone(&self.core), attributes, Arc::clone(&tag.core), send, receive)
    }

    /// Listens for connections.
    ///
    /// # Errors
    ///
    /// [`Error::BadAddress`] or [`Error::BadName`] when the provider cannot interpret the
    /// discriminator; [`Error::NameInUse`], or an error of the system, when the discriminator is
    /// taken.
    pub fn listen(&self, discriminator: &str) -> Result<Listener, Error> {
        Ok(Listener { inner: self.core.provider.listen(discriminator)? })
    }
}
