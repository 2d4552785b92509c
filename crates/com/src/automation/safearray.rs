//! SAFEARRAY: elements of one type in several dimensions, each with a lower bound.

use super::variant::Variant;
use super::vt;
use crate::agile::sealed;
use crate::error::{Error, Result, code};
use crate::memory::{allocate_zeroed, release, slice};
use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of bytes before the descriptor. The last four contain the elements' type.
const PREFIX: usize = 16;
/// The greatest number of dimensions.
pub(crate) const DIMENSIONS_MAX: usize = 64;
/// The greatest size of an array's elements, in bytes.
pub(crate) const BYTES_MAX: usize = i32::MAX as usize;

/// The elements are strings.
const FADF_BSTR: u16 = 0x100;
/// The elements are objects.
const FADF_UNKNOWN: u16 = 0x200;
/// The elements are objects with IDispatch.
const FADF_DISPATCH: u16 = 0x400;
/// The elements are VARIANTs.
const FADF_VARIANT: u16 = 0x800;
/// The type of the elements lies before the descriptor.
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

/// The descriptor of an array, in C's layout. The bounds follow it, those of the last dimension
/// first.
#[repr(C)]
struct Descriptor {
    dimensions: u16,
    features: u16,
    element_size: u32,
    locks: AtomicU32,
    data: *mut u8,
    bounds: [Bound; 0],
}

/// An array of Automation, or null.
///
/// An array stays on its thread, since objects in it may belong to the thread.
/// [`Agile`](crate::Agile) makes one available to all threads.
#[repr(transparent)]
pub struct SafeArray(
    // Invariant: null, or from `with_bounds` and owned; the elements are values of the array's
    // type.
    *mut Descriptor,
);

/// A Rust type with the same representation as elements of an array.
///
/// # Safety
///
/// The elements of an array of type [`VT`](Self::VT) must be values of `Self` in memory, and own
/// nothing.
pub unsafe trait Element: Copy {
    /// The type of the elements.
    const VT: u16;
}

macro_rules! elements {
    ($($ty:ty = $vt:ident,)*) => {$(
        // SAFETY: the type is a number in C's representation.
        unsafe impl Element for $ty {
            const VT: u16 = vt::$vt;
        }
    )*};
}

elements! { i8 = I1, i16 = I2, i32 = I4, i64 = I8, u8 = UI1, u16 = UI2, u32 = UI4, u64 = UI8, f32 = R4, f64 = R8, }

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

fn bad_index() -> Error {
    Error::new(code::DISP_E_BADINDEX, "an index is outside of its array")
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
    /// with too many; E_OUTOFMEMORY.
    pub fn with_bounds(vt: u16, bounds: &[Bound]) -> Result<Self> {
        let size = vt::size(vt).filter(|_| vt & (vt::ARRAY | vt::BYREF) == 0).ok_or_else(|| vt::unknown(vt))?;
        if bounds.is_empty() || bounds.len() > DIMENSIONS_MAX {
            return Err(Error::new(code::E_INVALIDARG, "an array has at least one dimension, and at most 64"));
        }
        let count = bounds.iter().try_fold(1_usize, |count, bound| count.checked_mul(bound.count as usize));
        let bytes = count.and_then(|count| count.checked_mul(size)).filter(|bytes| *bytes <= BYTES_MAX);
        let bytes = bytes.ok_or_else(|| Error::new(code::E_OUTOFMEMORY, "no array is that long"))?;
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

    /// Makes an array of one dimension with lower bound 0.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY.
    pub fn of<T: Element>(elements: &[T]) -> Result<Self> {
        let mut made = Self::vector(T::VT, elements.len())?;
        // SAFETY: there are as many elements of that type in fresh memory.
        unsafe { made.data_mut().cast::<T>().copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        Ok(made)
    }

    /// Makes an array of one dimension with lower bound 0 from these values.
    ///
    /// # Errors
    ///
    /// As for [`Self::with_bounds`]; DISP_E_TYPEMISMATCH for a value that cannot be converted.
    pub fn of_variants(vt: u16, elements: &[Variant]) -> Result<Self> {
        let mut made = Self::vector(vt, elements.len())?;
        for (at, element) in elements.iter().enumerate() {
            made.put(at, element)?;
        }
        Ok(made)
    }

    pub(crate) fn vector(vt: u16, count: usize) -> Result<Self> {
        let count = u32::try_from(count).map_err(|_| Error::new(code::E_OUTOFMEMORY, "no array is that long"))?;
        Self::with_bounds(vt, &[Bound { count, lower: 0 }])
    }

    fn descriptor(&self) -> Option<&Descriptor> {
        // SAFETY: by the invariant.
        unsafe { self.0.as_ref() }
    }

    /// Whether the array is null.
    pub const fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Returns the type of the elements.
    pub fn vt(&self) -> u16 {
        if self.is_null() {
            return vt::EMPTY;
        }
        // SAFETY: by the invariant: the type precedes the descriptor.
        unsafe { self.0.cast::<u32>().wrapping_sub(1).read() as u16 }
    }

    /// Returns the dimensions in the order of the indices. The elements of the first one are
    /// adjacent in memory.
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
        if self.is_null() { 0 } else { self.stored().iter().map(|bound| bound.count as usize).product() }
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

    /// Returns the position in memory of the element with these indices.
    fn position(&self, indices: &[i32]) -> Result<usize> {
        let bounds = self.stored();
        if indices.len() != bounds.len() {
            return Err(bad_index());
        }
        let (mut at, mut stride) = (0, 1);
        for (index, bound) in indices.iter().zip(bounds.iter().rev()) {
            let from_lower = i64::from(*index) - i64::from(bound.lower);
            let within = usize::try_from(from_lower).ok().filter(|within| *within < bound.count as usize);
            at += within.ok_or_else(bad_index)? * stride;
            stride *= bound.count as usize;
        }
        Ok(at)
    }

    /// Returns a copy of the element with these indices, one for each dimension.
    ///
    /// # Errors
    ///
    /// DISP_E_BADINDEX; E_OUTOFMEMORY.
    pub fn get(&self, indices: &[i32]) -> Result<Variant> {
        self.element(self.position(indices)?)
    }

    /// Replaces an element.
    ///
    /// # Errors
    ///
    /// DISP_E_BADINDEX; DISP_E_TYPEMISMATCH or DISP_E_OVERFLOW where the value cannot be converted
    /// to the elements' type.
    pub fn set(&mut self, indices: &[i32], value: &Variant) -> Result<()> {
        self.put(self.position(indices)?, value)
    }

    /// Returns a copy of the element at a position in memory.
    pub(crate) fn element(&self, at: usize) -> Result<Variant> {
        if at >= self.len() {
            return Err(bad_index());
        }
        // SAFETY: the position is within the elements.
        unsafe { vt::read(self.vt(), self.data().wrapping_add(at * self.element_size())) }
    }

    fn put(&mut self, at: usize, value: &Variant) -> Result<()> {
        if at >= self.len() {
            return Err(bad_index());
        }
        let vt = self.vt();
        let value = value.change_type(vt)?;
        let to = self.data_mut().wrapping_add(at * self.element_size());
        // SAFETY: the place contains an element that the array owns.
        unsafe { vt::clear(vt, to) };
        // SAFETY: as above.
        unsafe { vt::write(vt, to, value) }
    }

    /// Returns copies of the elements, in the order in memory.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY.
    pub fn to_variants(&self) -> Result<Vec<Variant>> {
        (0..self.len()).map(|at| self.element(at)).collect()
    }

    /// Returns the elements, in the order in memory; `None` where they have another type.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        // SAFETY: by the invariant and the promise of `Element`.
        (self.vt() == T::VT).then(|| unsafe { slice(self.data().cast(), self.len()) })
    }

    /// Returns a copy.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY.
    pub fn copy(&self) -> Result<Self> {
        if self.is_null() {
            return Ok(Self::null());
        }
        let vt = self.vt();
        if !vt::owns(vt) {
            let mut made = Self::with_bounds(vt, &self.bounds())?;
            let bytes = self.len() * self.element_size();
            // SAFETY: there are as many elements of the same type in fresh memory.
            unsafe { made.data_mut().copy_from_nonoverlapping(self.data(), bytes) };
            return Ok(made);
        }
        self.of_type(vt)
    }

    /// Returns an array with the elements converted to another type.
    pub(crate) fn of_type(&self, vt: u16) -> Result<Self> {
        let mut made = Self::with_bounds(vt, &self.bounds())?;
        for at in 0..self.len() {
            made.put(at, &self.element(at)?)?;
        }
        Ok(made)
    }

    /// Verifies that no element is an object that belongs to a thread.
    pub(crate) fn check_objects(&self) -> Result<()> {
        if !matches!(self.vt(), vt::UNKNOWN | vt::DISPATCH | vt::VARIANT) {
            return Ok(());
        }
        (0..self.len()).try_for_each(|at| self.element(at)?.check_objects())
    }

    /// Locks the array, so that C code cannot free or resize it.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG for a null array; E_UNEXPECTED when the lock count is exhausted.
    pub fn lock(&self) -> Result<()> {
        let locks = &self.descriptor().ok_or(code::E_INVALIDARG)?.locks;
        let counted =
            locks.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| (count < 0xffff).then(|| count + 1));
        counted.map(drop).map_err(|_| Error::new(code::E_UNEXPECTED, "an array is locked too often"))
    }

    /// Reverts one [`Self::lock`].
    ///
    /// # Errors
    ///
    /// E_INVALIDARG for a null array; E_UNEXPECTED when the array is not locked.
    pub fn unlock(&self) -> Result<()> {
        let locks = &self.descriptor().ok_or(code::E_INVALIDARG)?.locks;
        let counted = locks.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| count.checked_sub(1));
        counted.map(drop).map_err(|_| Error::new(code::E_UNEXPECTED, "an array is not locked"))
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
}

impl Drop for SafeArray {
    fn drop(&mut self) {
        if self.is_null() {
            return;
        }
        let (vt, size, count, data) = (self.vt(), self.element_size(), self.len(), self.data_mut());
        if vt::owns(vt) {
            for at in 0..count {
                // SAFETY: by the invariant.
                unsafe { vt::clear(vt, data.wrapping_add(at * size)) };
            }
        }
        // SAFETY: by the invariant.
        unsafe { release(data.cast()) };
        // SAFETY: by the invariant: the allocation begins there.
        unsafe { release(self.0.cast::<u8>().wrapping_sub(PREFIX).cast()) };
    }
}

impl Default for SafeArray {
    fn default() -> Self {
        Self::null()
    }
}

/// # Panics
///
/// If memory is exhausted.
impl Clone for SafeArray {
    fn clone(&self) -> Self {
        self.copy().expect("memory for an array")
    }
}

impl PartialEq for SafeArray {
    fn eq(&self, other: &Self) -> bool {
        self.vt() == other.vt()
            && self.stored() == other.stored()
            && (0..self.len())
                .all(|at| matches!((self.element(at), other.element(at)), (Ok(own), Ok(other)) if own == other))
    }
}

impl fmt::Debug for SafeArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SafeArray({:#x}, {:?}, ", self.vt(), self.bounds())?;
        f.debug_list().entries((0..self.len()).map_while(|at| self.element(at).ok())).finish()?;
        f.write_str(")")
    }
}

impl sealed::Sealed for SafeArray {
    fn shared(&self) -> Result<Self> {
        let copy = self.copy()?;
        copy.check_objects()?;
        Ok(copy)
    }
}
