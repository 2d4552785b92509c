//! Structures that end in an open array: members, followed by elements in the same allocation.
//!
//! A Rust reference to such a structure covers only the members. [`elements_after`] returns the
//! elements that follow the members.

use super::memory::Allocations;
use super::owned::{Graph, Owned};
use crate::types::error::{Result, code};
use obvia_ndr::flat::FRAME_MAX;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// Makes a structure from its members and from elements that begin at offset `at`.
///
/// # Safety
///
/// The structure must consist of members and such elements only, and its members must contain the
/// number of elements.
///
/// # Errors
///
/// E_OUTOFMEMORY where the structure exceeds a frame or no memory is left.
pub unsafe fn open<T: Graph, E: Copy>(members: T, at: usize, elements: &[E]) -> Result<Owned<T>> {
    let bytes = size_of_val(elements).checked_add(at).filter(|bytes| *bytes <= FRAME_MAX).ok_or(code::E_OUTOFMEMORY)?;
    let mut memory = Allocations::default();
    let first = memory.add(bytes.max(size_of::<T>()))?;
    memory.keep();
    // SAFETY: the memory is fresh and large enough for the members.
    unsafe { first.cast::<T>().write(members) };
    let to = first.wrapping_add(at).cast::<E>();
    // SAFETY: the memory is fresh and large enough for the members and the elements.
    unsafe { to.copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
    // SAFETY: the structure is an allocation of the C library without pointers.
    unsafe { Owned::adopt(first) }.ok_or_else(|| code::E_OUTOFMEMORY.into())
}

/// Returns the elements of a structure.
///
/// # Safety
///
/// There must be `count` elements from offset `at` in the same allocation, and no code may write
/// them while the result lives.
pub unsafe fn elements_after<T, E>(members: &T, at: usize, count: usize) -> &[E] {
    let first = std::ptr::from_ref(members).wrapping_byte_add(at).cast::<E>();
    // SAFETY: the caller promises `count` elements after the members in the same allocation, so
    // they live as long as the members.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// An argument that a caller lent to a method. The method may replace the argument. The drop stores
/// the final pointer at the caller's address, even after a panic.
pub struct Held<T: Graph> {
    // Invariant: writable, as the caller of `new` promises.
    place: *mut *mut u8,
    // Invariant: the value whose pointer is stored in `place` on drop.
    owned: ManuallyDrop<Owned<T>>,
}

impl<T: Graph> Held<T> {
    /// Holds the value whose address is stored at `place`. `None` for a null address.
    ///
    /// # Safety
    ///
    /// `place` must be writable and not used otherwise while this value lives. It must contain null
    /// or a pointer that [`Owned::adopt`] accepts.
    pub unsafe fn new(place: *mut *mut u8) -> Option<Self> {
        // SAFETY: the caller promises that `place` contains null or a pointer.
        let first = unsafe { place.read() };
        // SAFETY: the caller promises that `place` contains null or a pointer that `adopt` accepts.
        let owned = unsafe { Owned::adopt(first) }?;
        Some(Self { place, owned: ManuallyDrop::new(owned) })
    }
}

impl<T: Graph> Deref for Held<T> {
    type Target = Owned<T>;

    fn deref(&self) -> &Owned<T> {
        &self.owned
    }
}

impl<T: Graph> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut Owned<T> {
        &mut self.owned
    }
}

impl<T: Graph> Drop for Held<T> {
    fn drop(&mut self) {
        // SAFETY: by its invariant, `place` is writable.
        unsafe { self.place.write(self.owned.as_ptr()) };
    }
}

/// Stores the value at `first` in `owner`. Before, `owner` had lent its former value to a method,
/// which replaced that value by the value at `first`.
///
/// # Safety
///
/// As for [`Owned::adopt`]; the method must have taken over the former value of `owner`.
pub unsafe fn put_owned<T: Graph>(owner: &mut Owned<T>, first: *mut u8) {
    // SAFETY: the caller promises that `adopt` accepts `first`.
    match unsafe { Owned::adopt(first) } {
        Some(owned) => std::mem::forget(std::mem::replace(owner, owned)),
        // The method has freed the lent value and stored null. `owner` would be left without a
        // value.
        None => std::process::abort(),
    }
}
