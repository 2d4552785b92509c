//! Memory that programs share with other processes.

use crate::client::shared::{Access, Known, end, make};
use crate::marshal::elements::{Elements, ElementsMut};
use crate::protocol::frame::Scalar;
use crate::types::error::Result;
use std::sync::Arc;

/// Memory from which arrays of `zero_copy` parameters are passed by reference instead of being
/// copied.
///
/// The memory is page-aligned and zeroed, and untouched pages cost no memory. A process that
/// receives an array in this memory maps the whole memory, and can therefore see all arrays in it.
/// The process may keep the mapping after this value was dropped, until a later call.
#[derive(Debug)]
pub struct SharedMemory {
    region: Arc<Known>,
}

impl SharedMemory {
    /// Allocates memory.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY when memory is exhausted, and for more than 64 TiB.
    pub fn new(bytes: usize, access: Access) -> Result<Self> {
        Ok(Self { region: make(bytes, access)? })
    }

    /// Returns the start address. If peers have write access, they may write while this process
    /// reads, so accesses must be atomic or volatile.
    pub fn as_ptr(&self) -> *mut u8 {
        self.region.start().as_ptr()
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.region.region.length()
    }

    /// Returns false, because the length is never 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `count` elements from the byte at `offset` on; `None` where the range is out of
    /// bounds or not aligned.
    pub fn elements<T: Scalar>(&self, offset: usize, count: usize) -> Option<Elements<'_, T>> {
        let first = self.place::<T>(offset, count)?;
        // SAFETY: the elements are in bounds and aligned; the memory lives as long as the value.
        Some(unsafe { Elements::from_raw(first, count) })
    }

    /// Returns `count` elements for writing, under the conditions of [`elements`](Self::elements).
    /// While the elements live, no other code of this process can use this value.
    pub fn elements_mut<T: Scalar>(&mut self, offset: usize, count: usize) -> Option<ElementsMut<'_, T>> {
        let first = self.place::<T>(offset, count)?;
        // SAFETY: the elements are in bounds and aligned; the memory lives as long as the value,
        // and access is exclusive through `&mut self`.
        Some(unsafe { ElementsMut::from_raw(first, count) })
    }

    fn place<T>(&self, offset: usize, count: usize) -> Option<*mut T> {
        let end = count.checked_mul(size_of::<T>())?.checked_add(offset)?;
        if end > self.len() || !offset.is_multiple_of(align_of::<T>()) {
            return None;
        }
        // SAFETY: the offset is in bounds by the check.
        Some(unsafe { self.as_ptr().add(offset) }.cast())
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        end(self.as_ptr());
    }
}
