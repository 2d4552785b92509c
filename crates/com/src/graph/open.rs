//! Structures that end in an open array: members, and elements behind them in the same allocation.
//!
//! A reference to such a structure is one to its members, from which the elements are reached.

use super::memory::Allocations;
use super::owned::{Graph, Owned};
use crate::error::{Result, code};
use obvia_ndr::flat::FRAME_MAX;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// Makes a structure of its members, and of the elements that begin at offset `at`.
///
/// # Safety
///
/// The structure must be one of members and such elements only, and its members say how many there are.
///
/// # Errors
///
/// E_OUTOFMEMORY.
pub unsafe fn open<T: Graph, E: Copy>(members: T, at: usize, elements: &[E]) -> Result<Owned<T>> {
    let bytes = size_of_val(elements).checked_add(at).filter(|bytes| *bytes <= FRAME_MAX).ok_or(code::E_OUTOFMEMORY)?;
    let mut memory = Allocations::default();
    let first = memory.add(bytes.max(size_of::<T>()))?;
    memory.keep();
    // SAFETY: new, and at least as long.
    unsafe { first.cast::<T>().write(members) };
    let to = first.wrapping_add(at).cast::<E>();
    // SAFETY: new, and long enough for both.
    unsafe { to.copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
    // SAFETY: an allocation of the C library's, which leads nowhere.
    unsafe { Owned::adopt(first) }.ok_or_else(|| code::E_OUTOFMEMORY.into())
}

/// The elements of a structure.
///
/// # Safety
///
/// There must be as many from offset `at`, in the same allocation, and nobody write them while the result lives.
pub unsafe fn behind<T, E>(members: &T, at: usize, count: usize) -> &[E] {
    let first = std::ptr::from_ref(members).wrapping_byte_add(at).cast::<E>();
    // SAFETY: the caller's promise; they live as long as the members do.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// What a caller lent to a method, which may put something else in its place: the caller finds there what it is in the end, also after a
/// panic.
pub struct Held<T: Graph> {
    // Invariant: whoever made this may write there.
    place: *mut *mut u8,
    // Invariant: what `place` leads to once this is dropped.
    owned: ManuallyDrop<Owned<T>>,
}

impl<T: Graph> Held<T> {
    /// Holds what a place leads to. `None` for null.
    ///
    /// # Safety
    ///
    /// `place` must be writable as long as this lives and nobody else use it, and lead to null, or to what [`Owned::adopt`] takes.
    pub unsafe fn new(place: *mut *mut u8) -> Option<Self> {
        // SAFETY: the caller's promise.
        let first = unsafe { place.read() };
        // SAFETY: the caller's promise.
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
        // SAFETY: by the invariants.
        unsafe { self.place.write(self.owned.as_ptr()) };
    }
}

/// Takes over what a method left in place of what it was lent.
///
/// # Safety
///
/// As for [`Owned::adopt`]; what `owner` has had is the method's.
pub unsafe fn put_owned<T: Graph>(owner: &mut Owned<T>, first: *mut u8) {
    // SAFETY: the caller's promise.
    match unsafe { Owned::adopt(first) } {
        Some(owned) => std::mem::forget(std::mem::replace(owner, owned)),
        // The object has freed what it was lent, and left nothing: there is no value to go on with.
        None => std::process::abort(),
    }
}
