//! Structures between the caller's place and memory of their own: where C passes a place, Rust passes an owner.

use super::memory::Allocations;
use super::owned::{Graph, Owned, OwnedSlice};
use crate::error::{Error, Result, code};
use crate::marshal::release;
use obvia_ndr::flat::FRAME_MAX;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use windows_core::HRESULT;

const fn size<T: Graph>() -> usize {
    size_of::<T::Item<'static>>()
}

/// A place for a structure that a method fills: zeros.
///
/// # Errors
///
/// E_OUTOFMEMORY.
pub fn place_for<T: Graph>() -> Result<*mut u8> {
    places_for::<T>(1)
}

/// Places for some structures that a method fills: zeros.
///
/// # Errors
///
/// E_OUTOFMEMORY.
pub fn places_for<T: Graph>(count: usize) -> Result<*mut u8> {
    let bytes = count.checked_mul(size::<T>()).filter(|bytes| *bytes <= FRAME_MAX).ok_or(code::E_OUTOFMEMORY)?;
    let mut memory = Allocations::default();
    let first = memory.add(bytes)?;
    memory.keep();
    Ok(first)
}

/// The structure that a method left in a place; none where it failed.
///
/// # Safety
///
/// The place must come from [`place_for`], and what it leads to belong to the caller.
pub unsafe fn take_place<T: Graph>(place: *mut u8, result: HRESULT) -> Option<Owned<T>> {
    if result.0 < 0 {
        // SAFETY: the caller's promise; a method that failed has left nothing there.
        unsafe { release(place.cast()) };
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe { Owned::adopt(place) }
}

/// The structures that a method left in some places; none where it failed.
///
/// # Safety
///
/// As for [`take_place`], with [`places_for`] for at least as many.
pub unsafe fn take_places<T: Graph>(first: *mut u8, count: usize, result: HRESULT) -> Option<OwnedSlice<T>> {
    if result.0 < 0 {
        // SAFETY: the caller's promise; a method that failed has left nothing there.
        unsafe { release(first.cast()) };
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { OwnedSlice::adopt(first, count) })
}

/// A structure out of the caller's place, for a method that may put another one in its stead: the caller finds there what it is in the end, also after a
/// panic.
pub struct Lifted<T: Graph> {
    // Invariant: whoever made this may write there, and what is there until this is dropped needs no freeing.
    place: *mut u8,
    // Invariant: what is put into `place` when this is dropped.
    owned: ManuallyDrop<Owned<T>>,
}

impl<T: Graph> Lifted<T> {
    /// Takes a structure out of the caller's place.
    ///
    /// # Safety
    ///
    /// A structure of this type must be there, and what it leads to must be the caller's to give. Nobody else may use the place as long as this lives.
    ///
    /// # Errors
    ///
    /// E_POINTER for a null pointer; E_OUTOFMEMORY.
    pub unsafe fn new(place: *mut u8) -> Result<Self> {
        if place.is_null() {
            return Err(Error::new(code::E_POINTER, "a parameter that may not be null is null"));
        }
        let memory = place_for::<T>()?;
        // SAFETY: as many bytes on both sides.
        unsafe { memory.copy_from_nonoverlapping(place, size::<T>()) };
        // SAFETY: moved there.
        let owned = unsafe { Owned::adopt(memory) }.ok_or(code::E_OUTOFMEMORY)?;
        Ok(Self { place, owned: ManuallyDrop::new(owned) })
    }
}

impl<T: Graph> Deref for Lifted<T> {
    type Target = Owned<T>;

    fn deref(&self) -> &Owned<T> {
        &self.owned
    }
}

impl<T: Graph> DerefMut for Lifted<T> {
    fn deref_mut(&mut self) -> &mut Owned<T> {
        &mut self.owned
    }
}

impl<T: Graph> Drop for Lifted<T> {
    fn drop(&mut self) {
        // SAFETY: not used again.
        let owned = unsafe { ManuallyDrop::take(&mut self.owned) };
        // SAFETY: by the invariant.
        unsafe { lower(owned, self.place) };
    }
}

/// Puts a structure into the caller's place.
///
/// # Safety
///
/// The place must be writable, and what is there needs no freeing.
pub unsafe fn lower<T: Graph>(owned: Owned<T>, place: *mut u8) {
    let memory = owned.into_raw();
    // SAFETY: the caller's promise.
    unsafe { place.copy_from_nonoverlapping(memory, size::<T>()) };
    // SAFETY: an allocation of its own, whose content was moved.
    unsafe { release(memory.cast()) };
}

/// Puts some structures into the caller's places.
///
/// # Safety
///
/// As for [`lower`], with `count` places.
///
/// # Errors
///
/// E_INVALIDARG when there are more structures than places.
pub unsafe fn lower_slice<T: Graph>(owned: OwnedSlice<T>, places: *mut u8, count: usize) -> Result<()> {
    if owned.len() > count {
        return Err(Error::new(code::E_INVALIDARG, "the method returned more elements than the caller has room for"));
    }
    let bytes = owned.len() * size::<T>();
    let memory = owned.into_raw();
    if !memory.is_null() {
        // SAFETY: the caller's promise; as many were there.
        unsafe { places.copy_from_nonoverlapping(memory, bytes) };
        // SAFETY: an allocation of its own, whose content was moved.
        unsafe { release(memory.cast()) };
    }
    Ok(())
}
