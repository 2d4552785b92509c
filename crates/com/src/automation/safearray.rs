//! SAFEARRAY: elements of one type in several dimensions, each with a lower bound.

use super::variant::Variant;
use super::vt;
use crate::error::{Error, Result, code};
use crate::marshal::{allocate_zeroed, release};
use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes before the descriptor: the last four have the elements' type.
const PREFIX: usize = 16;
/// Dimensions that an array may have.
pub(crate) const DIMENSIONS_MAX: usize = 64;
/// Bytes that an array's elements may have.
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

/// A dimension.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// How many elements it has.
    pub count: u32,
    /// The index of the first.
    pub lower: i32,
}

/// An array's descriptor, as C has it. Behind it lie the bounds, the last dimension's first.
#[repr(C)]
struct Descriptor {
    dimensions: u16,
    features: u16,
    element_size: u32,
    locks: AtomicU32,
    data: *mut u8,
    bounds: [Bound; 0],
}

/// An array of Automation's, or none.
///
/// An array stays with its thread, as objects in it may: [`Agile`](crate::Agile) keeps one for all threads.
#[repr(transparent)]
pub struct SafeArray(
    // Invariant: null, or from `with_bounds` and owned; the elements are values of its type.
    *mut Descriptor,
);

/// A type of Rust's whose values are elements as they are.
///
/// # Safety
///
/// The elements of an array of type [`VT`](Self::VT) must be `Self`s in memory, and own nothing.
pub unsafe trait Element: Copy {
    /// The elements' type.
    const VT: u16;
}

macro_rules! elements {
    ($($ty:ty = $vt:ident,)*) => {$(
        // SAFETY: a number as C has it.
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
    /// No array.
    pub const fn null() -> Self {
        Self(std::ptr::null_mut())
    }

    /// An array of zeros: numbers that are 0, no strings, no objects.
    ///
    /// # Errors
    ///
    /// DISP_E_BADVARTYPE for what no element is; E_INVALIDARG without dimensions, or with too many; E_OUTOFMEMORY.
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
        // SAFETY: as many bytes were allocated before the descriptor.
        unsafe { descriptor.cast::<u32>().wrapping_sub(1).write(vt.into()) };
        let data = match allocate_zeroed(bytes) {
            Ok(data) => data.cast(),
            Err(error) => {
                // SAFETY: just allocated.
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
        // SAFETY: as many bytes were allocated; aligned.
        unsafe { descriptor.write(made) };
        let to = descriptor.wrapping_add(1).cast::<Bound>();
        for (at, bound) in bounds.iter().rev().enumerate() {
            // SAFETY: room for as many.
            unsafe { to.wrapping_add(at).write(*bound) };
        }
        Ok(Self(descriptor))
    }

    /// An array of one dimension, from 0.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY.
    pub fn of<T: Element>(elements: &[T]) -> Result<Self> {
        let mut made = Self::vector(T::VT, elements.len())?;
        // SAFETY: as many elements of that type; fresh memory.
        unsafe { made.data_mut().cast::<T>().copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        Ok(made)
    }

    /// An array of one dimension, from 0, of these values.
    ///
    /// # Errors
    ///
    /// As for [`Self::with_bounds`]; DISP_E_TYPEMISMATCH for a value that does not become an element.
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

    /// Whether there is no array.
    pub const fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The type of its elements.
    pub fn vt(&self) -> u16 {
        if self.is_null() {
            return vt::EMPTY;
        }
        // SAFETY: by the invariant: it lies before the descriptor.
        unsafe { self.0.cast::<u32>().wrapping_sub(1).read() as u16 }
    }

    /// The dimensions, as they are indexed: the first is the one whose elements lie beside one another.
    pub fn bounds(&self) -> Vec<Bound> {
        self.stored().iter().rev().copied().collect()
    }

    /// The dimensions as they are stored, the last one first.
    pub(crate) fn stored(&self) -> &[Bound] {
        let Some(descriptor) = self.descriptor() else { return &[] };
        let first = self.0.wrapping_add(1).cast::<Bound>();
        // SAFETY: by the invariant: behind the descriptor, in the same allocation.
        unsafe { std::slice::from_raw_parts(first, descriptor.dimensions.into()) }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        if self.is_null() { 0 } else { self.stored().iter().map(|bound| bound.count as usize).product() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of an element.
    pub(crate) fn element_size(&self) -> usize {
        self.descriptor().map_or(0, |descriptor| descriptor.element_size as usize)
    }

    pub(crate) fn features(&self) -> u16 {
        self.descriptor().map_or(0, |descriptor| descriptor.features)
    }

    /// Where the elements lie.
    pub(crate) fn data(&self) -> *const u8 {
        self.descriptor().map_or(std::ptr::null(), |descriptor| descriptor.data.cast_const())
    }

    pub(crate) fn data_mut(&mut self) -> *mut u8 {
        self.descriptor().map_or(std::ptr::null_mut(), |descriptor| descriptor.data)
    }

    /// Which element one with these indices is, in the order in which they lie.
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

    /// A copy of the element with these indices, one for each dimension.
    ///
    /// # Errors
    ///
    /// DISP_E_BADINDEX; E_OUTOFMEMORY.
    pub fn get(&self, indices: &[i32]) -> Result<Variant> {
        self.element(self.position(indices)?)
    }

    /// Puts a value in an element's place.
    ///
    /// # Errors
    ///
    /// DISP_E_BADINDEX; DISP_E_TYPEMISMATCH or DISP_E_OVERFLOW where it does not become one of the elements' type.
    pub fn set(&mut self, indices: &[i32], value: &Variant) -> Result<()> {
        self.put(self.position(indices)?, value)
    }

    /// A copy of an element, by its place in memory.
    pub(crate) fn element(&self, at: usize) -> Result<Variant> {
        if at >= self.len() {
            return Err(bad_index());
        }
        // SAFETY: within the elements.
        unsafe { vt::read(self.vt(), self.data().wrapping_add(at * self.element_size())) }
    }

    fn put(&mut self, at: usize, value: &Variant) -> Result<()> {
        if at >= self.len() {
            return Err(bad_index());
        }
        let vt = self.vt();
        let value = value.change_type(vt)?;
        let to = self.data_mut().wrapping_add(at * self.element_size());
        // SAFETY: an element, which nobody else has.
        unsafe { vt::clear(vt, to) };
        // SAFETY: as above.
        unsafe { vt::write(vt, to, value) }
    }

    /// Copies of the elements, in the order in which they lie.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY.
    pub fn to_variants(&self) -> Result<Vec<Variant>> {
        (0..self.len()).map(|at| self.element(at)).collect()
    }

    /// The elements, in the order in which they lie. `None` where they are of another type.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        // SAFETY: by the invariant, and what Element promises.
        (self.vt() == T::VT).then(|| unsafe { crate::rt::slice(self.data().cast(), self.len()) })
    }

    /// A copy.
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
            // SAFETY: as many elements of the same type; fresh memory.
            unsafe { made.data_mut().copy_from_nonoverlapping(self.data(), bytes) };
            return Ok(made);
        }
        self.of_type(vt)
    }

    /// The same array with elements of another type.
    pub(crate) fn of_type(&self, vt: u16) -> Result<Self> {
        let mut made = Self::with_bounds(vt, &self.bounds())?;
        for at in 0..self.len() {
            made.put(at, &self.element(at)?)?;
        }
        Ok(made)
    }

    /// Refuses objects that belong to a thread.
    pub(crate) fn check_objects(&self) -> Result<()> {
        if !matches!(self.vt(), vt::UNKNOWN | vt::DISPATCH | vt::VARIANT) {
            return Ok(());
        }
        (0..self.len()).try_for_each(|at| self.element(at)?.check_objects())
    }

    /// Keeps the elements where they are: while it is locked C cannot free or resize the array.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG where there is no array; E_UNEXPECTED when it is locked too often.
    pub fn lock(&self) -> Result<()> {
        let locks = &self.descriptor().ok_or(code::E_INVALIDARG)?.locks;
        let counted =
            locks.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| (count < 0xffff).then(|| count + 1));
        counted.map(drop).map_err(|_| Error::new(code::E_UNEXPECTED, "an array is locked too often"))
    }

    /// Undoes a [`Self::lock`].
    ///
    /// # Errors
    ///
    /// E_INVALIDARG where there is no array; E_UNEXPECTED when it is not locked.
    pub fn unlock(&self) -> Result<()> {
        let locks = &self.descriptor().ok_or(code::E_INVALIDARG)?.locks;
        let counted = locks.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| count.checked_sub(1));
        counted.map(drop).map_err(|_| Error::new(code::E_UNEXPECTED, "an array is not locked"))
    }

    /// Takes over an array.
    ///
    /// # Safety
    ///
    /// It must be null, or made by this library, and the caller's.
    pub const unsafe fn from_raw(array: *mut c_void) -> Self {
        Self(array.cast())
    }

    /// Hands the array over to whoever frees it.
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
/// When there is no memory, as with every clone.
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
