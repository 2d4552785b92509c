//! The values of VARIANT and SAFEARRAY in memory. A VARIANT may own a SAFEARRAY, and the elements
//! of a SAFEARRAY may be VARIANTs.

use super::bstr::Bstr;
use super::vt;
use super::vt::{ARRAY, BSTR, BYREF, DISPATCH, UNKNOWN, VARIANT, size, unknown};
use crate::types::error::{Error, Result, code};
use crate::types::memory::{allocate_zeroed, release};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::atomic::AtomicU32;
use windows_core::{IUnknown, Interface};

/// A value of one of Automation's types, in C's layout.
///
/// [`Self::value`] reads the value, [`Self::change_type`] converts it. A variant by reference leads
/// to a value that it does not own; a copy of such a variant is a copy of the value.
///
/// A VARIANT stays on its thread, since an object in it may belong to the thread.
/// [`Agile`](crate::Agile) makes a VARIANT available to all threads.
#[repr(C, align(8))]
pub struct Variant {
    // Invariant: `data` holds a value of this type that the variant owns, or, if the variant is by
    // reference, the address of a value.
    pub(super) vt: u16,
    pub(super) reserved: [u16; 3],
    /// The value, or its address. The field consists of pointers, so that addresses keep their
    /// provenance; any other value is stored as an address without provenance.
    pub(super) data: [*mut c_void; 2],
}

const _: () = assert!(size_of::<Variant>() == vt::VARIANT_SIZE);

impl Variant {
    /// Returns an empty variant.
    pub const fn new() -> Self {
        Self { vt: vt::EMPTY, reserved: [0; 3], data: [null_mut(); 2] }
    }

    /// Returns the zero of a type: 0, a null string, or a null object.
    pub(crate) const fn zero(vt: u16) -> Self {
        Self { vt, reserved: [0; 3], data: [null_mut(); 2] }
    }

    /// Makes a variant from the bits of a value. Values of this type must own no resources.
    pub(crate) const fn of_bits(vt: u16, bits: u64) -> Self {
        Self::of_pointer(vt, without_provenance_mut(bits as usize))
    }

    /// Makes a value of a pointer type.
    pub(crate) const fn of_pointer(vt: u16, pointer: *mut c_void) -> Self {
        Self { vt, reserved: [0; 3], data: [pointer, null_mut()] }
    }

    /// Makes a reference to a value outside of the variant. The receiver may change this value.
    ///
    /// # Safety
    ///
    /// While the reference lives, there must be a value of type `vt` at `to`, and no other code may
    /// use that value. `vt` may be [`vt::VARIANT`].
    pub unsafe fn by_reference(vt: u16, to: *mut c_void) -> Self {
        Self::of_pointer(vt | vt::BYREF, to)
    }

    /// Returns the type: a constant of [`vt`], to which [`vt::ARRAY`] and [`vt::BYREF`] may be
    /// added.
    pub const fn vt(&self) -> u16 {
        self.vt
    }

    pub(crate) const fn set_type(&mut self, vt: u16) {
        self.vt = vt;
    }

    /// Returns the address within the variant at which a value of type `vt` lies.
    pub(crate) const fn place(&mut self, vt: u16) -> *mut u8 {
        // A DECIMAL covers the whole variant, and its first two bytes are the variant's type.
        if vt == vt::DECIMAL { (&raw mut *self).cast() } else { (&raw mut self.data).cast() }
    }

    /// Returns the address within the variant at which a value of type `vt` lies, for reading.
    pub(crate) const fn data(&self, vt: u16) -> *const u8 {
        if vt == vt::DECIMAL { (&raw const *self).cast() } else { (&raw const self.data).cast() }
    }

    /// Returns the bits of a value of up to 8 bytes.
    pub(crate) fn bits(&self) -> u64 {
        self.data[0].addr() as u64
    }

    /// Returns the type and address of the target, where the variant is by reference.
    pub(crate) fn target(&self) -> Option<(u16, *mut u8)> {
        (self.vt & vt::BYREF != 0).then_some((self.vt & !vt::BYREF, self.data[0].cast()))
    }

    /// Returns a copy of the value, or of the target if the variant is by reference.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY where no memory is left; DISP_E_BADVARTYPE for an invalid type; E_POINTER for
    /// a null reference.
    pub fn copy(&self) -> Result<Self> {
        if let Some((vt, from)) = self.target() {
            if from.is_null() {
                return Err(Error::new(code::E_POINTER, "a VARIANT by reference has a null pointer"));
            }
            if !vt::is_known(self.vt) {
                return Err(vt::unknown(self.vt));
            }
            // SAFETY: the creator of the reference promises a valid value at its target.
            return unsafe { read(vt, from) };
        }
        let data = match self.vt {
            vt::BSTR => self.as_bstr().map_or(Ok(Bstr::new()), Bstr::copy)?.into_raw().cast(),
            vt::UNKNOWN | vt::DISPATCH => into_raw(self.object()),
            _ if self.vt & vt::ARRAY != 0 => self.as_array().map_or(Ok(SafeArray::null()), SafeArray::copy)?.into_raw(),
            _ if vt::is_known(self.vt) => self.data[0],
            _ => return Err(vt::unknown(self.vt)),
        };
        Ok(Self { vt: self.vt, reserved: self.reserved, data: [data, null_mut()] })
    }

    /// Returns the string, if the value is one.
    pub fn as_bstr(&self) -> Option<&Bstr> {
        // SAFETY: by the invariant, the data is a string, which is a pointer.
        (self.vt == vt::BSTR).then(|| unsafe { &*(&raw const self.data).cast::<Bstr>() })
    }

    /// Returns the array, if the value is one.
    pub fn as_array(&self) -> Option<&SafeArray> {
        let is_array = self.vt & vt::ARRAY != 0 && self.vt & vt::BYREF == 0;
        // SAFETY: by the invariant, the data is an array, which is a pointer.
        is_array.then(|| unsafe { &*(&raw const self.data).cast::<SafeArray>() })
    }

    /// Returns the object, if the value is one.
    pub fn object(&self) -> Option<IUnknown> {
        let is_object = matches!(self.vt, vt::UNKNOWN | vt::DISPATCH);
        // SAFETY: by the invariant, the data is an interface pointer or null.
        is_object.then(|| unsafe { &*(&raw const self.data).cast::<Option<IUnknown>>() }).cloned().flatten()
    }
}

impl Drop for Variant {
    fn drop(&mut self) {
        if vt::owns(self.vt) {
            let vt = self.vt;
            // SAFETY: by the invariant, the variant owns a value of type `vt` at its place.
            unsafe { clear(vt, self.place(vt)) };
        }
    }
}

/// The number of bytes before the descriptor. The last four contain the elements' type.
const PREFIX: usize = 16;
/// The greatest number of an array's dimensions.
pub(crate) const DIMENSIONS_MAX: usize = 64;
/// The greatest size of an array's elements, in bytes.
pub(crate) const BYTES_MAX: usize = i32::MAX as usize;

/// The flag of an array whose elements are strings.
const FADF_BSTR: u16 = 0x100;
/// The flag of an array whose elements are objects.
const FADF_UNKNOWN: u16 = 0x200;
/// The flag of an array whose elements are objects with IDispatch.
const FADF_DISPATCH: u16 = 0x400;
/// The flag of an array whose elements are VARIANTs.
const FADF_VARIANT: u16 = 0x800;
/// The flag of an array with the type of its elements before the descriptor.
pub(crate) const FADF_HAVEVARTYPE: u16 = 0x80;

/// The bounds of a dimension.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The number of elements.
    pub count: u32,
    /// The index of the first element.
    pub lower: i32,
}

/// The descriptor of an array, in C's layout. The bounds of the dimensions follow the descriptor,
/// the last dimension first.
#[repr(C)]
pub(super) struct Descriptor {
    dimensions: u16,
    features: u16,
    element_size: u32,
    pub(super) locks: AtomicU32,
    data: *mut u8,
    bounds: [Bound; 0],
}

/// An array of Automation, or null.
///
/// An array stays on its thread, since objects in it may belong to the thread.
/// [`Agile`](crate::Agile) makes an array available to all threads.
#[repr(transparent)]
pub struct SafeArray(
    // Invariant: null, or from `with_bounds` and owned; the elements are values of the array's
    // type.
    *mut Descriptor,
);

fn features(vt: u16) -> u16 {
    let kind = match vt {
        vt::BSTR => FADF_BSTR,
        vt::UNKNOWN => FADF_UNKNOWN,
        vt::DISPATCH => FADF_DISPATCH,
        vt::VARIANT => FADF_VARIANT,
        _ => 0,
    };
    kind | FADF_HAVEVARTYPE
}

pub(super) fn bad_index() -> Error {
    Error::new(code::DISP_E_BADINDEX, "the index is outside of the array")
}

/// Returns the number of elements of an array with these dimensions. `None` if the number exceeds
/// `usize::MAX`.
pub(super) fn number_of_elements(bounds: &[Bound]) -> Option<usize> {
    // An empty dimension makes the array empty, even if the other dimensions overflow.
    if bounds.iter().any(|bound| bound.count == 0) {
        return Some(0);
    }
    bounds.iter().try_fold(1_usize, |number, bound| number.checked_mul(bound.count as usize))
}

impl SafeArray {
    /// Returns a null array.
    pub const fn null() -> Self {
        Self(std::ptr::null_mut())
    }

    /// Makes an array of zeros: the number 0, null strings, or null objects.
    ///
    /// # Errors
    ///
    /// DISP_E_BADVARTYPE for a type that elements cannot have; E_INVALIDARG without dimensions, or
    /// with too many; E_OUTOFMEMORY where the array is too long or no memory is left.
    pub fn with_bounds(vt: u16, bounds: &[Bound]) -> Result<Self> {
        let size = vt::size(vt).filter(|_| vt & (vt::ARRAY | vt::BYREF) == 0).ok_or_else(|| vt::unknown(vt))?;
        if bounds.is_empty() || bounds.len() > DIMENSIONS_MAX {
            return Err(Error::new(code::E_INVALIDARG, "an array has at least one dimension, and at most 64"));
        }
        let count = number_of_elements(bounds);
        let bytes = count.and_then(|count| count.checked_mul(size)).filter(|bytes| *bytes <= BYTES_MAX);
        let bytes = bytes.ok_or_else(|| Error::new(code::E_OUTOFMEMORY, "the array is too long"))?;
        let start = allocate_zeroed(PREFIX + size_of::<Descriptor>() + size_of_val(bounds))?.cast::<u8>();
        let descriptor = start.wrapping_add(PREFIX).cast::<Descriptor>();
        // SAFETY: the allocation has `PREFIX` bytes before the descriptor.
        unsafe { descriptor.cast::<u32>().wrapping_sub(1).write(vt.into()) };
        let data = match allocate_zeroed(bytes) {
            Ok(data) => data.cast(),
            Err(error) => {
                // SAFETY: the memory was just allocated.
                unsafe { release(start.cast()) };
                return Err(error);
            }
        };
        let made = Descriptor {
            dimensions: bounds.len() as u16,
            features: features(vt),
            element_size: size as u32,
            locks: AtomicU32::new(0),
            data,
            bounds: [],
        };
        // SAFETY: the allocation has room for the descriptor at an aligned address.
        unsafe { descriptor.write(made) };
        let to = descriptor.wrapping_add(1).cast::<Bound>();
        for (at, bound) in bounds.iter().rev().enumerate() {
            // SAFETY: the allocation has room for all bounds.
            unsafe { to.wrapping_add(at).write(*bound) };
        }
        Ok(Self(descriptor))
    }

    pub(crate) fn vector(vt: u16, count: usize) -> Result<Self> {
        let count = u32::try_from(count).map_err(|_| Error::new(code::E_OUTOFMEMORY, "the array is too long"))?;
        Self::with_bounds(vt, &[Bound { count, lower: 0 }])
    }

    pub(super) fn descriptor(&self) -> Option<&Descriptor> {
        // SAFETY: by the invariant, the pointer is null or leads to a descriptor.
        unsafe { self.0.as_ref() }
    }

    /// Whether the array is null.
    pub const fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Returns the type of the elements; [`vt::EMPTY`] for a null array.
    pub fn vt(&self) -> u16 {
        if self.is_null() {
            return vt::EMPTY;
        }
        // SAFETY: by the invariant, `with_bounds` has stored the type before the descriptor.
        unsafe { self.0.cast::<u32>().wrapping_sub(1).read() as u16 }
    }

    /// Returns the dimensions in the order of the indices. Elements that differ by 1 in the first
    /// index are adjacent in memory.
    pub fn bounds(&self) -> Vec<Bound> {
        self.stored().iter().rev().copied().collect()
    }

    /// Returns the dimensions in the stored order, the last one first.
    pub(crate) fn stored(&self) -> &[Bound] {
        let Some(descriptor) = self.descriptor() else { return &[] };
        let first = self.0.wrapping_add(1).cast::<Bound>();
        // SAFETY: by the invariant: the bounds follow the descriptor in the same allocation.
        unsafe { std::slice::from_raw_parts(first, descriptor.dimensions.into()) }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        // The product saturates, because if one dimension is empty, the others can be of any size.
        let count = |number: usize, bound: &Bound| number.saturating_mul(bound.count as usize);
        if self.is_null() { 0 } else { self.stored().iter().fold(1, count) }
    }

    /// Whether the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size of an element in bytes.
    pub(crate) fn element_size(&self) -> usize {
        self.descriptor().map_or(0, |descriptor| descriptor.element_size as usize)
    }

    pub(crate) fn features(&self) -> u16 {
        self.descriptor().map_or(0, |descriptor| descriptor.features)
    }

    /// Returns the address of the elements.
    pub(crate) fn data(&self) -> *const u8 {
        self.descriptor().map_or(std::ptr::null(), |descriptor| descriptor.data.cast_const())
    }

    pub(crate) fn data_mut(&mut self) -> *mut u8 {
        self.descriptor().map_or(std::ptr::null_mut(), |descriptor| descriptor.data)
    }

    /// Returns a copy of the element at a position in memory.
    pub(crate) fn element(&self, at: usize) -> Result<Variant> {
        if at >= self.len() {
            return Err(bad_index());
        }
        // SAFETY: the position is within the elements.
        unsafe { read(self.vt(), self.data().wrapping_add(at * self.element_size())) }
    }

    /// Returns a copy of the array.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY where no memory is left.
    pub fn copy(&self) -> Result<Self> {
        if self.is_null() {
            return Ok(Self::null());
        }
        let vt = self.vt();
        let mut made = Self::with_bounds(vt, &self.bounds())?;
        if !vt::owns(vt) {
            let bytes = self.len() * self.element_size();
            // SAFETY: the fresh memory has room for the same number of elements of the same type.
            unsafe { made.data_mut().copy_from_nonoverlapping(self.data(), bytes) };
            return Ok(made);
        }
        for at in 0..self.len() {
            made.replace(at, self.element(at)?)?;
        }
        Ok(made)
    }

    /// Takes ownership of an array.
    ///
    /// # Safety
    ///
    /// `array` must be null, or made by this library and owned by the caller.
    pub const unsafe fn from_raw(array: *mut c_void) -> Self {
        Self(array.cast())
    }

    /// Releases ownership of the array to the caller.
    pub fn into_raw(self) -> *mut c_void {
        std::mem::ManuallyDrop::new(self).0.cast()
    }

    /// Replaces the element at a position in memory by a value of the elements' type.
    pub(super) fn replace(&mut self, at: usize, value: Variant) -> Result<()> {
        if at >= self.len() {
            return Err(bad_index());
        }
        let (vt, to) = (self.vt(), self.data_mut().wrapping_add(at * self.element_size()));
        // SAFETY: the place contains an element that the array owns.
        unsafe { clear(vt, to) };
        // SAFETY: the place has room for an element, and contains a zero, which owns nothing.
        unsafe { write(vt, to, value) }
    }
}

impl Drop for SafeArray {
    fn drop(&mut self) {
        if self.is_null() {
            return;
        }
        let (vt, size, count, data) = (self.vt(), self.element_size(), self.len(), self.data_mut());
        if vt::owns(vt) {
            for at in 0..count {
                // SAFETY: by the invariant, the array owns an element of this type at this
                // position.
                unsafe { clear(vt, data.wrapping_add(at * size)) };
            }
        }
        // SAFETY: by the invariant, the array owns its elements' memory, which is not used again.
        unsafe { release(data.cast()) };
        // SAFETY: by the invariant, the array owns this allocation, which begins with the prefix.
        unsafe { release(self.0.cast::<u8>().wrapping_sub(PREFIX).cast()) };
    }
}

/// Returns a copy of a value in memory.
///
/// # Safety
///
/// There must be an aligned value of type `vt` at `from`.
pub(crate) unsafe fn read(vt: u16, from: *const u8) -> Result<Variant> {
    if vt == VARIANT {
        // SAFETY: the caller promises an aligned VARIANT at `from`.
        return unsafe { (*from.cast::<Variant>()).copy() };
    }
    let mut made = Variant::zero(vt);
    let bytes = size(vt).ok_or_else(|| unknown(vt))?;
    // SAFETY: a variant has room for every value except another variant, and `made` owns nothing
    // yet.
    unsafe { made.place(vt).copy_from_nonoverlapping(from, bytes) };
    // The copy of a DECIMAL overwrote the variant's type with the DECIMAL's unused first two bytes.
    made.set_type(vt);
    // The variant is a view of a value that it does not own, so it must not be dropped.
    let borrowed = ManuallyDrop::new(made);
    borrowed.copy()
}

/// Stores a value in uninitialised memory.
///
/// # Safety
///
/// `to` must be aligned and writable for as many bytes as the type has.
///
/// # Errors
///
/// DISP_E_TYPEMISMATCH when the value has another type; DISP_E_BADVARTYPE for an invalid type.
pub(crate) unsafe fn write(vt: u16, to: *mut u8, value: Variant) -> Result<()> {
    if vt == VARIANT {
        // SAFETY: the caller promises that `to` is aligned and writable for a VARIANT.
        unsafe { to.cast::<Variant>().write(value) };
        return Ok(());
    }
    if value.vt() != vt {
        return Err(Error::new(code::DISP_E_TYPEMISMATCH, "the value has another type than its place"));
    }
    let bytes = size(vt).ok_or_else(|| unknown(vt))?;
    let mut value = ManuallyDrop::new(value);
    // SAFETY: the caller promises `bytes` bytes at `to`, and the variant has as many at `place`.
    unsafe { to.copy_from_nonoverlapping(value.place(vt), bytes) };
    Ok(())
}

/// Frees the resources of a value, and leaves zeros.
///
/// # Safety
///
/// There must be an aligned value of type `vt` at `at`, which the caller owns.
pub(crate) unsafe fn clear(vt: u16, at: *mut u8) {
    match vt {
        VARIANT => {
            // SAFETY: the caller promises an aligned VARIANT at `at`, which the caller owns.
            drop(unsafe { at.cast::<Variant>().read() });
        }
        BSTR => {
            // SAFETY: the caller promises an aligned string at `at`, which the caller owns.
            drop(unsafe { at.cast::<Bstr>().read() });
        }
        UNKNOWN | DISPATCH => {
            // SAFETY: the caller promises an interface pointer at `at`, or null, which the caller
            // owns.
            drop(unsafe { at.cast::<Option<IUnknown>>().read() });
        }
        _ if vt & BYREF == 0 && vt & ARRAY != 0 => {
            // SAFETY: the caller promises an aligned array at `at`, which the caller owns.
            drop(unsafe { at.cast::<SafeArray>().read() });
        }
        _ => {}
    }
    // SAFETY: the caller promises a value of type `vt` at `at`, which has `size(vt)` bytes.
    unsafe { at.write_bytes(0, size(vt).unwrap_or(0)) };
}

/// Returns the address of an object, and transfers its reference to the holder of the address. The
/// address is null for `None`.
pub(crate) fn into_raw(object: Option<IUnknown>) -> *mut c_void {
    object.map_or(std::ptr::null_mut(), Interface::into_raw)
}
