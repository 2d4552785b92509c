//! Structures that somebody else made, and that are freed when they are no longer needed.

use super::pointers::{Text, Wide};
use super::survey::Survey;
use crate::context::ContextHandle;
use crate::error::Result;
use obvia_ndr::flat::shape::{Class, Element, ElementType, Extent, Iid, Part, Shape, What};
use std::marker::PhantomData;
use std::ptr::NonNull;
use windows_core::{GUID, HRESULT, Interface};

/// What can be owned with everything that it points to: generated for structures with pointers in them.
///
/// # Safety
///
/// The element type must be what lies at the address of an `Item`, pointers included.
pub unsafe trait Graph {
    /// The structure while it is borrowed.
    type Item<'a>;
    /// The types among which it is.
    const TYPES: &'static [ElementType];
    /// Which of them it is.
    const ELEMENT: Element;
    /// Whether whoever looks at it can set pointers in it, or in what it leads to.
    const CAN_CHANGE: bool;
}

/// Full pointers as they were, and are again when this is dropped: what was set meanwhile may lead to what is not the owner's to free.
struct Unchanged(Vec<(*mut *const u8, *const u8)>);

impl Unchanged {
    /// # Safety
    ///
    /// `count` items must be at `first`, for as long as this lives.
    unsafe fn note<T: Graph>(first: *const u8, count: usize) -> Option<Self> {
        if !T::CAN_CHANGE {
            return None;
        }
        // SAFETY: the caller's promise.
        let survey = unsafe { Survey::elements_to_free(first, T::ELEMENT, count, T::TYPES) };
        Some(Self(survey.full))
    }
}

impl Drop for Unchanged {
    fn drop(&mut self) {
        for (place, pointer) in &self.0 {
            // SAFETY: of an owned object, by the promise to `note`.
            if unsafe { place.read() } != *pointer {
                // SAFETY: as above; what has been set lies in a `Cell`, so it may be set beside references to it.
                unsafe { place.write(*pointer) };
            }
        }
    }
}

/// A structure and everything that it points to.
///
/// Made by a method that returns it; freed when it is dropped. A server makes one with [`Owned::new`].
pub struct Owned<T: Graph> {
    // Invariant: an object as COM has it: one allocation for each structure, all of them owned.
    first: NonNull<u8>,
    what: PhantomData<T>,
}

/// Some structures in an array, and everything that they point to.
pub struct OwnedSlice<T: Graph> {
    // Invariant: as for `Owned`, with `count` elements; or null.
    first: *mut u8,
    count: usize,
    what: PhantomData<T>,
}

impl<T: Graph> Owned<T> {
    /// Copies a structure with everything that it points to.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY; E_INVALIDARG when a union has no arm for its discriminant.
    pub fn new(item: &T::Item<'_>) -> Result<Self> {
        let from = std::ptr::from_ref(item).cast();
        // SAFETY: an item is what the implementer of Graph says it is.
        let first = unsafe { duplicate::<T>(from, 1) }?;
        let first = NonNull::new(first).ok_or(crate::error::code::E_OUTOFMEMORY)?;
        Ok(Self { first, what: PhantomData })
    }

    /// Looks at the structure.
    ///
    /// A closure, since a structure with full pointers could be made to point at what does not live as long as it does. Those that are set in it
    /// lead where they did before when it returns: who wants a structure that leads elsewhere makes a [new](Self::new) one within.
    pub fn with<R>(&self, look: impl for<'b> FnOnce(&'b T::Item<'b>) -> R) -> R {
        // SAFETY: by the invariant.
        let _unchanged = unsafe { Unchanged::note::<T>(self.first.as_ptr(), 1) };
        // SAFETY: by the invariant.
        look(unsafe { self.first.cast::<T::Item<'_>>().as_ref() })
    }

    /// Takes over what a method returned. `None` for null.
    ///
    /// # Safety
    ///
    /// `first` must be null, or lead to a structure of this type that belongs to the caller with everything it points to, each
    /// an allocation of the C library's.
    pub unsafe fn adopt(first: *mut u8) -> Option<Self> {
        Some(Self { first: NonNull::new(first)?, what: PhantomData })
    }

    /// Hands the structure over: the pointer leads to an allocation of the C library's.
    pub fn into_raw(self) -> *mut u8 {
        let first = self.first.as_ptr();
        std::mem::forget(self);
        first
    }

    /// The structure's address.
    pub fn as_ptr(&self) -> *mut u8 {
        self.first.as_ptr()
    }
}

impl<T: Graph> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: by the invariant.
        unsafe { free::<T>(self.first.as_ptr(), 1) };
    }
}

impl<T: Graph> OwnedSlice<T> {
    /// Copies some structures with everything that they point to.
    ///
    /// # Errors
    ///
    /// As for [`Owned::new`].
    pub fn new(items: &[T::Item<'_>]) -> Result<Self> {
        // SAFETY: items are what the implementer of Graph says they are.
        let first = unsafe { duplicate::<T>(items.as_ptr().cast(), items.len()) }?;
        Ok(Self { first, count: items.len(), what: PhantomData })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Looks at the structures, as [`Owned::with`] does.
    pub fn with<R>(&self, look: impl for<'b> FnOnce(&'b [T::Item<'b>]) -> R) -> R {
        // SAFETY: by the invariant.
        let _unchanged = (!self.first.is_null()).then(|| unsafe { Unchanged::note::<T>(self.first, self.count) });
        // SAFETY: by the invariant.
        look(unsafe { crate::rt::slice(self.first.cast(), self.count) })
    }

    /// Takes over what a method returned.
    ///
    /// # Safety
    ///
    /// As for [`Owned::adopt`], with `count` elements.
    pub unsafe fn adopt(first: *mut u8, count: usize) -> Self {
        Self { first, count: if first.is_null() { 0 } else { count }, what: PhantomData }
    }

    /// Hands the structures over.
    pub fn into_raw(self) -> *mut u8 {
        let first = self.first;
        std::mem::forget(self);
        first
    }
}

impl<T: Graph> Drop for OwnedSlice<T> {
    fn drop(&mut self) {
        if !self.first.is_null() {
            // SAFETY: by the invariant.
            unsafe { free::<T>(self.first, self.count) };
        }
    }
}

impl<T: Graph> std::fmt::Debug for Owned<T>
where
    for<'a> T::Item<'a>: std::fmt::Debug,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.with(|item| item.fmt(f))
    }
}

impl<T: Graph> std::fmt::Debug for OwnedSlice<T>
where
    for<'a> T::Item<'a>: std::fmt::Debug,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.with(|items| items.fmt(f))
    }
}

/// # Safety
///
/// `count` items must be at `from`.
unsafe fn duplicate<T: Graph>(from: *const u8, count: usize) -> Result<*mut u8> {
    // SAFETY: the caller's promise.
    unsafe { copy_elements(from, T::ELEMENT, count, T::TYPES) }
}

/// # Safety
///
/// `count` items must be at `first`, owned by the caller.
unsafe fn free<T: Graph>(first: *mut u8, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { free_elements(first, T::ELEMENT, count, T::TYPES) };
}

/// Copies elements of a type with everything that they lead to.
///
/// # Safety
///
/// `count` elements must be at `from`.
///
/// # Errors
///
/// E_OUTOFMEMORY; E_INVALIDARG when a union has no arm for its discriminant, and when an array has no possible size.
pub unsafe fn copy_elements(
    from: *const u8,
    element: Element,
    count: usize,
    types: &'static [ElementType],
) -> Result<*mut u8> {
    // SAFETY: the caller's promise.
    let survey = unsafe { Survey::of_elements(from, element, count, types) }?;
    // SAFETY: just surveyed.
    unsafe { survey.duplicate() }
}

/// Frees elements of a type with everything that they lead to.
///
/// # Safety
///
/// `count` elements must be at `first`, owned by the caller: allocations of the C library's.
pub unsafe fn free_elements(first: *mut u8, element: Element, count: usize, types: &'static [ElementType]) {
    // SAFETY: the caller's promise.
    let survey = unsafe { Survey::elements_to_free(first, element, count, types) };
    // SAFETY: the caller's promise.
    unsafe { survey.free() };
}

/// Frees what elements of a type lead to, but not the elements.
///
/// # Safety
///
/// As for [`free_elements`], wherever the elements are themselves.
pub unsafe fn clear_elements(first: *mut u8, element: Element, count: usize, types: &'static [ElementType]) {
    // SAFETY: the caller's promise.
    let survey = unsafe { Survey::elements_to_free(first, element, count, types) };
    // SAFETY: the caller's promise. The elements are the first object.
    unsafe { survey.free_but(|object| object == 0) };
}

const fn pointers(parts: &'static [Part]) -> ElementType {
    ElementType { size: 8, shape: Shape { runs: &[], parts }, tail: None }
}

static TEXTS: [ElementType; 1] = [pointers(&[Part {
    at: 0,
    what: What::Pointer { class: Class::Unique, to: Element::Char, extent: Extent::Text },
}])];
static WIDES: [ElementType; 1] = [pointers(&[Part {
    at: 0,
    what: What::Pointer { class: Class::Unique, to: Element::Wide, extent: Extent::Text },
}])];
static OBJECTS: [ElementType; 1] = [pointers(&[Part { at: 0, what: What::Object(Iid::Known(0)) }])];

// SAFETY: a pointer to a string, or null.
unsafe impl Graph for Text<'_> {
    type Item<'a> = Text<'a>;
    const TYPES: &'static [ElementType] = &TEXTS;
    const ELEMENT: Element = Element::Own(0);
    const CAN_CHANGE: bool = false;
}

// SAFETY: a pointer to a string, or null.
unsafe impl Graph for Wide<'_> {
    type Item<'a> = Wide<'a>;
    const TYPES: &'static [ElementType] = &WIDES;
    const ELEMENT: Element = Element::Own(0);
    const CAN_CHANGE: bool = false;
}

// SAFETY: an interface pointer, or null.
unsafe impl<I: Interface> Graph for Option<I> {
    type Item<'a> = Self;
    const TYPES: &'static [ElementType] = &OBJECTS;
    const ELEMENT: Element = Element::Own(0);
    const CAN_CHANGE: bool = false;
}

/// Values that have no pointers in them: their bytes, and what has to be looked at.
macro_rules! values {
    ($($ty:ty: $parts:expr),+ $(,)?) => {$(
        // SAFETY: a value of this size, all of whose bytes are its own.
        unsafe impl Graph for $ty {
            type Item<'a> = Self;
            const TYPES: &'static [ElementType] = &[ElementType {
                size: size_of::<$ty>() as u32,
                shape: Shape { runs: &[(0, size_of::<$ty>() as u32)], parts: $parts },
                tail: None,
            }];
            const ELEMENT: Element = Element::Own(0);
            const CAN_CHANGE: bool = false;
        }
    )+};
}

values! {
    bool: &[Part { at: 0, what: What::Boolean }],
    u8: &[],
    u16: &[],
    u32: &[],
    u64: &[],
    i8: &[],
    i16: &[],
    i32: &[],
    i64: &[],
    f32: &[],
    f64: &[],
    HRESULT: &[],
    GUID: &[],
    ContextHandle: &[],
}
