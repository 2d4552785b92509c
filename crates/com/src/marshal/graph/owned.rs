//! Structures with pointers in memory of the C library, which is freed when their owner is dropped.

use super::pointers::{Text, Wide};
use super::survey::Survey;
use crate::server::ContextHandle;
use crate::types::error::Result;
use obvia_ndr::flat::shape::{Class, Element, ElementType, Extent, Iid, Part, Shape, What};
use std::marker::PhantomData;
use std::ptr::NonNull;
use windows_core::{GUID, HRESULT, Interface};

/// A type whose values can be owned with everything that they reach. The compiler implements the
/// trait for structures with pointers.
///
/// # Safety
///
/// The element type must describe the memory of an `Item`, including its pointers.
pub unsafe trait Graph {
    /// The Rust type of the structure while it is borrowed.
    type Item<'a>;
    /// The table of element types that contains this type.
    const TYPES: &'static [ElementType];
    /// The index of the type in `TYPES`.
    const ELEMENT: Element;
    /// Whether safe code can set pointers in the structure or in anything that it reaches.
    const CAN_CHANGE: bool;
}

/// The full pointers of a structure, which are restored on drop. Code can set these pointers to
/// targets that the owner must not free.
struct Unchanged(Vec<(*mut *const u8, *const u8)>);

impl Unchanged {
    /// # Safety
    /// There must be `count` items at `first` for as long as this value lives.
    unsafe fn note<T: Graph>(first: *const u8, count: usize) -> Option<Self> {
        if !T::CAN_CHANGE {
            return None;
        }
        // SAFETY: the caller promises `count` items at `first`.
        let survey = unsafe { Survey::elements_to_free(first, T::ELEMENT, count, T::TYPES) };
        Some(Self(survey.full))
    }
}

impl Drop for Unchanged {
    fn drop(&mut self) {
        for (place, pointer) in &self.0 {
            // SAFETY: the pointer is in an owned object, by the promise to `note`.
            if unsafe { place.read() } != *pointer {
                // SAFETY: the pointer is in an owned object, by the promise to `note`. It is in a
                // `Cell`, so it may be written despite shared references.
                unsafe { place.write(*pointer) };
            }
        }
    }
}

/// A structure and everything that it reaches.
///
/// On the client, a method that returns a structure returns it in this form. A server makes a value
/// with [`Owned::new`]. The drop frees the structure with everything that it reaches.
pub struct Owned<T: Graph> {
    // Invariant: an object by COM's rules: one allocation for each structure, all of them owned.
    first: NonNull<u8>,
    what: PhantomData<T>,
}

/// An array of structures and everything that they reach.
pub struct OwnedSlice<T: Graph> {
    // Invariant: as for `Owned`, with `count` elements; or null.
    first: *mut u8,
    count: usize,
    what: PhantomData<T>,
}

impl<T: Graph> Owned<T> {
    /// Copies a structure with everything that it reaches.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY where the copies exceed a frame or no memory is left; E_POINTER for a null
    /// pointer where null is not allowed; E_INVALIDARG when a union has no arm for its
    /// discriminant, an array has an invalid size, or pointers that must not share objects form a
    /// ring.
    pub fn new(item: &T::Item<'_>) -> Result<Self> {
        let from = std::ptr::from_ref(item).cast();
        // SAFETY: the implementer of `Graph` promises that the type describes an item.
        let first = unsafe { duplicate::<T>(from, 1) }?;
        let first = NonNull::new(first).ok_or(crate::types::error::code::E_OUTOFMEMORY)?;
        Ok(Self { first, what: PhantomData })
    }

    /// Calls `look` with the structure.
    ///
    /// The structure is passed to a closure, since a full pointer in it could be set to a target
    /// that is dropped before the structure. All full pointers are restored when the closure
    /// returns. Code that wants a structure with other targets makes a [new](Self::new) one within
    /// the closure.
    pub fn with<R>(&self, look: impl for<'b> FnOnce(&'b T::Item<'b>) -> R) -> R {
        // SAFETY: by its invariant, `first` leads to an owned structure.
        let _unchanged = unsafe { Unchanged::note::<T>(self.first.as_ptr(), 1) };
        // SAFETY: by its invariant, `first` leads to an owned structure.
        look(unsafe { self.first.cast::<T::Item<'_>>().as_ref() })
    }

    /// Takes ownership of a method's result. `None` for null.
    ///
    /// # Safety
    ///
    /// `first` must be null, or lead to a structure of this type. The caller must own the structure
    /// and everything that it reaches, each an allocation of the C library.
    pub unsafe fn adopt(first: *mut u8) -> Option<Self> {
        Some(Self { first: NonNull::new(first)?, what: PhantomData })
    }

    /// Releases ownership of the structure, which is an allocation of the C library.
    pub fn into_raw(self) -> *mut u8 {
        let first = self.first.as_ptr();
        std::mem::forget(self);
        first
    }

    /// Returns the structure's address.
    pub fn as_ptr(&self) -> *mut u8 {
        self.first.as_ptr()
    }
}

impl<T: Graph> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: by its invariant, `first` leads to an owned structure.
        unsafe { free::<T>(self.first.as_ptr(), 1) };
    }
}

impl<T: Graph> OwnedSlice<T> {
    /// Copies structures with everything that they reach.
    ///
    /// # Errors
    ///
    /// As for [`Owned::new`].
    pub fn new(items: &[T::Item<'_>]) -> Result<Self> {
        // SAFETY: the implementer of `Graph` promises that the type describes an item.
        let first = unsafe { duplicate::<T>(items.as_ptr().cast(), items.len()) }?;
        Ok(Self { first, count: items.len(), what: PhantomData })
    }

    /// Returns the number of structures.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no structures.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Calls `look` with the structures, as [`Owned::with`] does.
    pub fn with<R>(&self, look: impl for<'b> FnOnce(&'b [T::Item<'b>]) -> R) -> R {
        // SAFETY: by its invariant, `first`, which is not null, leads to `count` owned
        // structures.
        let _unchanged = (!self.first.is_null()).then(|| unsafe { Unchanged::note::<T>(self.first, self.count) });
        // SAFETY: by its invariant, `first` is null or leads to `count` owned structures.
        look(unsafe { crate::types::memory::slice(self.first.cast(), self.count) })
    }

    /// Takes ownership of a method's results.
    ///
    /// # Safety
    ///
    /// As for [`Owned::adopt`], with `count` elements.
    pub unsafe fn adopt(first: *mut u8, count: usize) -> Self {
        Self { first, count: if first.is_null() { 0 } else { count }, what: PhantomData }
    }

    /// Releases ownership of the structures.
    pub fn into_raw(self) -> *mut u8 {
        let first = self.first;
        std::mem::forget(self);
        first
    }
}

impl<T: Graph> Drop for OwnedSlice<T> {
    fn drop(&mut self) {
        if !self.first.is_null() {
            // SAFETY: by its invariant, `first` is null or leads to `count` owned structures,
            // which are not used again.
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
/// There must be `count` items at `from`.
unsafe fn duplicate<T: Graph>(from: *const u8, count: usize) -> Result<*mut u8> {
    // SAFETY: the caller promises `count` items at `from`.
    unsafe { copy_elements(from, T::ELEMENT, count, T::TYPES) }
}

/// # Safety
///
/// There must be `count` items at `first`, which the caller owns.
unsafe fn free<T: Graph>(first: *mut u8, count: usize) {
    // SAFETY: the caller promises `count` items at `first`, which the caller owns.
    unsafe { free_elements(first, T::ELEMENT, count, T::TYPES) };
}

/// Copies elements of a type with everything that they reach.
///
/// # Safety
///
/// There must be `count` elements at `from`.
///
/// # Errors
///
/// E_OUTOFMEMORY where the copies exceed a frame or no memory is left; E_POINTER for a null pointer
/// where null is not allowed; E_INVALIDARG when a union has no arm for its discriminant, an array
/// has an invalid size, or pointers that must not share objects form a ring.
pub unsafe fn copy_elements(
    from: *const u8,
    element: Element,
    count: usize,
    types: &'static [ElementType],
) -> Result<*mut u8> {
    // SAFETY: the caller promises `count` elements at `from`.
    let survey = unsafe { Survey::of_elements(from, element, count, types) }?;
    // SAFETY: the elements have just been surveyed and have not changed.
    unsafe { survey.duplicate() }
}

/// Frees elements of a type with everything that they reach.
///
/// # Safety
///
/// There must be `count` elements at `first`, which the caller owns, in allocations of the C
/// library.
pub unsafe fn free_elements(first: *mut u8, element: Element, count: usize, types: &'static [ElementType]) {
    // SAFETY: the caller promises `count` elements at `first`.
    let survey = unsafe { Survey::elements_to_free(first, element, count, types) };
    // SAFETY: the caller promises to own the elements and everything that they reach, in
    // allocations of the C library.
    unsafe { survey.free() };
}

/// Frees everything that elements of a type reach, but not the elements.
///
/// # Safety
///
/// As for [`free_elements`], but the elements themselves may be in any memory.
pub unsafe fn clear_elements(first: *mut u8, element: Element, count: usize, types: &'static [ElementType]) {
    // SAFETY: the caller promises `count` elements at `first`.
    let survey = unsafe { Survey::elements_to_free(first, element, count, types) };
    // SAFETY: the caller promises to own everything that the elements reach. The elements
    // themselves are object 0, which is spared.
    unsafe { survey.free_but(&[], |object| object == 0) };
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

// SAFETY: a value is a pointer to a string, or null, as the element type describes.
unsafe impl Graph for Text<'_> {
    type Item<'a> = Text<'a>;
    const TYPES: &'static [ElementType] = &TEXTS;
    const ELEMENT: Element = Element::Own(0);
    const CAN_CHANGE: bool = false;
}

// SAFETY: a value is a pointer to a string, or null, as the element type describes.
unsafe impl Graph for Wide<'_> {
    type Item<'a> = Wide<'a>;
    const TYPES: &'static [ElementType] = &WIDES;
    const ELEMENT: Element = Element::Own(0);
    const CAN_CHANGE: bool = false;
}

// SAFETY: a value is an interface pointer, or null, as the element type describes.
unsafe impl<I: Interface> Graph for Option<I> {
    type Item<'a> = Self;
    const TYPES: &'static [ElementType] = &OBJECTS;
    const ELEMENT: Element = Element::Own(0);
    const CAN_CHANGE: bool = false;
}

/// Implements `Graph` for values without pointers, with the parts that must be checked.
macro_rules! values {
    ($($ty:ty: $parts:expr),+ $(,)?) => {$(
        // SAFETY: the type has this size and no padding, as the element type describes.
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
