//! Pointers in structures to strings, arrays and objects. A pointer has eight bytes, and may be
//! null.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use widestring::U16CStr;
use windows_core::Interface;

/// A pointer to a string of 8-bit characters, or null.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text<'a>(*const u8, PhantomData<&'a CStr>);

/// A pointer to a string of 16-bit characters, or null.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Wide<'a>(*const u16, PhantomData<&'a U16CStr>);

impl<'a> Text<'a> {
    /// Returns the string, if there is one.
    pub fn get(self) -> Option<&'a CStr> {
        // SAFETY: the pointer is null or comes from a string that lives for `'a`.
        unsafe { crate::types::memory::text(self.0) }
    }
}

impl<'a> Wide<'a> {
    /// Returns the string, if there is one.
    pub fn get(self) -> Option<&'a U16CStr> {
        // SAFETY: the pointer is null or comes from a string that lives for `'a`.
        unsafe { crate::types::memory::wide(self.0) }
    }
}

macro_rules! texts {
    ($($name:ident, $text:ty;)*) => {$(
        impl<'a> From<&'a $text> for $name<'a> {
            fn from(text: &'a $text) -> Self {
                Self(text.as_ptr().cast(), PhantomData)
            }
        }

        impl<'a> From<Option<&'a $text>> for $name<'a> {
            fn from(text: Option<&'a $text>) -> Self {
                text.map_or(Self(std::ptr::null(), PhantomData), Self::from)
            }
        }

        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool {
                self.get() == other.get()
            }
        }

        impl std::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.get().fmt(f)
            }
        }
    )*};
}
texts! { Text, CStr; Wide, U16CStr; }

/// A pointer to the elements of an array, or null. Another member of the structure contains their
/// number.
#[repr(transparent)]
pub struct Array<'a, T>(*const T, PhantomData<&'a [T]>);

impl<T> Clone for Array<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Array<'_, T> {}

impl<'a, T> Array<'a, T> {
    /// Makes a pointer to these elements.
    pub const fn new(elements: &'a [T]) -> Self {
        Self(elements.as_ptr(), PhantomData)
    }

    /// Makes a pointer to these elements, or null.
    pub fn optional(elements: Option<&'a [T]>) -> Self {
        elements.map_or(Self(std::ptr::null(), PhantomData), Self::new)
    }

    /// Returns the elements, if there are any.
    ///
    /// # Safety
    ///
    /// There must be `count` elements.
    pub unsafe fn get(self, count: usize) -> Option<&'a [T]> {
        // SAFETY: the caller promises `count` elements. If the pointer is not null, they live for
        // `'a`.
        (!self.0.is_null()).then(|| unsafe { crate::types::memory::slice(self.0, count) })
    }
}

/// Returns the interface pointer for a structure that borrows an object.
pub fn object_of<I: Interface>(object: Option<&I>) -> *mut c_void {
    object.map_or(std::ptr::null_mut(), I::as_raw)
}

/// Returns the object of an interface pointer in a structure.
///
/// # Safety
///
/// `pointer` must be null or a live interface pointer of `I`.
pub unsafe fn object_at<I: Interface>(pointer: &*mut c_void) -> Option<&I> {
    // SAFETY: the caller promises null or a live interface pointer of `I`.
    unsafe { I::from_raw_borrowed(pointer) }
}
