//! Moves structures between the memory that a C caller provides for them, and the owned allocations
//! that Rust code passes.

use super::memory::Allocations;
use super::owned::{Graph, Owned, OwnedSlice};
use super::survey::Survey;
use crate::types::error::{Error, Result, code};
use crate::types::memory::release;
use obvia_ndr::flat::FRAME_MAX;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use windows_core::HRESULT;

const fn size<T: Graph>() -> usize {
    size_of::<T::Item<'static>>()
}

/// Allocates zeroed memory for a structure that a method fills.
///
/// # Errors
///
/// E_OUTOFMEMORY where no memory is left.
pub fn place_for<T: Graph>() -> Result<*mut u8> {
    places_for::<T>(1)
}

/// Checks and returns the number of structures that a method fills. `count` is `None` if the number
/// could not be computed, for example after an overflow.
///
/// # Errors
///
/// E_INVALIDARG for `None`, and E_OUTOFMEMORY for more structures than a reply has room for.
pub fn place_count<T: Graph>(count: Option<usize>) -> Result<usize> {
    let count = count.ok_or(code::E_INVALIDARG)?;
    let bytes = count.checked_mul(size::<T>()).filter(|bytes| *bytes <= FRAME_MAX);
    bytes.map(|_| count).ok_or_else(|| code::E_OUTOFMEMORY.into())
}

/// Allocates zeroed memory for `count` structures that a method fills.
///
/// # Errors
///
/// As for [`place_count`], and E_OUTOFMEMORY if memory is exhausted.
pub fn places_for<T: Graph>(count: usize) -> Result<*mut u8> {
    let bytes = place_count::<T>(Some(count))? * size::<T>();
    let mut memory = Allocations::default();
    let first = memory.add(bytes)?;
    memory.keep();
    Ok(first)
}

/// Returns the structure that a method stored at `place`; `None` if the method failed.
///
/// # Safety
///
/// The place must come from [`place_for`], and the caller must own everything that the structure
/// reaches.
pub unsafe fn take_place<T: Graph>(place: *mut u8, result: HRESULT) -> Option<Owned<T>> {
    if result.0 < 0 {
        // SAFETY: the caller promises a place from `place_for`, and a failed method has stored
        // nothing there.
        unsafe { release(place.cast()) };
        return None;
    }
    // SAFETY: the caller promises a place from `place_for`, and ownership of everything that the
    // structure reaches.
    unsafe { Owned::adopt(place) }
}

/// Returns the structures that a method stored from `first` on; `None` if the method failed.
///
/// # Safety
///
/// As for [`take_place`], with at least `count` places from [`places_for`].
pub unsafe fn take_places<T: Graph>(first: *mut u8, count: usize, result: HRESULT) -> Option<OwnedSlice<T>> {
    if result.0 < 0 {
        // SAFETY: the caller promises places from `places_for`, and a failed method has stored
        // nothing there.
        unsafe { release(first.cast()) };
        return None;
    }
    // SAFETY: the caller promises `count` places from `places_for`, and ownership of everything
    // that the structures reach.
    Some(unsafe { OwnedSlice::adopt(first, count) })
}

/// A structure taken from the caller's memory, for a method that may replace the structure. The
/// drop moves the final structure back, even after a panic.
pub struct Lifted<T: Graph> {
    // Invariant: writable, as the caller of `new` promises. The structure has been moved out of the
    // place, so the bytes there need no freeing.
    place: *mut u8,
    // Invariant: the structure that is moved to `place` on drop.
    owned: ManuallyDrop<Owned<T>>,
}

impl<T: Graph> Lifted<T> {
    /// Moves a structure out of the caller's memory at `place`.
    ///
    /// # Safety
    ///
    /// There must be a structure of this type at `place`, and the caller must own everything that
    /// it reaches. No other code may use the place while this value lives.
    ///
    /// # Errors
    ///
    /// E_POINTER for a null pointer; E_OUTOFMEMORY where no memory is left.
    pub unsafe fn new(place: *mut u8) -> Result<Self> {
        if place.is_null() {
            return Err(Error::new(code::E_POINTER, "a parameter that must not be null is null"));
        }
        let memory = place_for::<T>()?;
        // SAFETY: the caller promises a structure at `place`, and `memory` has room for one
        // structure.
        unsafe { move_elements::<T>(place, memory, 1) };
        // SAFETY: the structure has been moved to `memory`.
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
        // SAFETY: the field is not used again.
        let owned = unsafe { ManuallyDrop::take(&mut self.owned) };
        // SAFETY: by its invariant, `place` is writable, and its bytes need no freeing.
        unsafe { lower(owned, self.place) };
    }
}

/// Moves a structure to the caller's memory at `place`.
///
/// # Safety
///
/// The place must be writable, and its bytes must need no freeing.
pub unsafe fn lower<T: Graph>(owned: Owned<T>, place: *mut u8) {
    let memory = owned.into_raw();
    // SAFETY: the caller promises that the place is writable, and `memory` leads to the owned
    // structure.
    unsafe { move_elements::<T>(memory, place, 1) };
    // SAFETY: the memory is an allocation of its own whose content has been moved.
    unsafe { release(memory.cast()) };
}

/// Moves structures to the caller's memory at `places`.
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
        return Err(Error::new(
            code::E_INVALIDARG,
            "the method returned more elements than the caller's array can hold",
        ));
    }
    let used = owned.len();
    let memory = owned.into_raw();
    if !memory.is_null() {
        // SAFETY: the caller promises that the places are writable. Both arrays have at least
        // `used` structures.
        unsafe { move_elements::<T>(memory, places, used) };
        // SAFETY: the memory is an allocation of its own whose content has been moved.
        unsafe { release(memory.cast()) };
    }
    Ok(())
}

/// Moves `count` structures to other memory. Afterwards, full pointers that led back to the
/// structures lead to the new memory.
///
/// # Safety
///
/// There must be `count` structures at `from`, and everything that they reach must be writable.
/// `to` must be writable for as many structures, and must not overlap `from`.
unsafe fn move_elements<T: Graph>(from: *mut u8, to: *mut u8, count: usize) {
    if T::CAN_CHANGE {
        // SAFETY: the caller promises `count` structures at `from`.
        let survey = unsafe { Survey::elements_to_free(from, T::ELEMENT, count, T::TYPES) };
        // The structures are object 0.
        for (place, _) in survey.slots.iter().filter(|(_, object)| *object == 0) {
            let holder = place.holder.map_or(from, |holder| survey.objects[holder].from.cast_mut());
            let slot = holder.wrapping_add(place.at).cast::<*mut u8>();
            // SAFETY: the pointer is in a reached object, which is writable.
            unsafe { slot.write(to) };
        }
    }
    // SAFETY: the caller promises `count` structures at `from`, and room for them at `to`, which
    // does not overlap.
    unsafe { to.copy_from_nonoverlapping(from, count * size::<T>()) };
}
