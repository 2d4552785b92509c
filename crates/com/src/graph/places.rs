//! Structures between the caller's place and memory of their own: where C passes a place, Rust passes an owner.

use super::memory::Allocations;
use super::owned::{Graph, Owned, OwnedSlice};
use crate::error::{Error, Result, code};
use crate::marshal::release;
use obvia_ndr::flat::FRAME_MAX;
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

/// Takes a structure out of the caller's place, which is zeros then.
///
/// # Safety
///
/// A structure of this type must be there, and what it leads to must be the caller's to give.
///
/// # Errors
///
/// E_POINTER for a null pointer; E_OUTOFMEMORY.
pub unsafe fn lift<T: Graph>(place: *mut u8) -> Result<Owned<T>> {
    if place.is_null() {
        return Err(Error::new(code::E_POINTER, "a parameter that may not be null is null"));
    }
    let memory = place_for::<T>()?;
    // SAFETY: as many bytes on both sides.
    unsafe { memory.copy_from_nonoverlapping(place, size::<T>()) };
    // SAFETY: the caller's promise.
    unsafe { place.write_bytes(0, size::<T>()) };
    // SAFETY: moved there.
    unsafe { Owned::adopt(memory) }.ok_or_else(|| code::E_OUTOFMEMORY.into())
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
