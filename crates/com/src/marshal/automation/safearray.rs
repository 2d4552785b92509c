//! SAFEARRAY: elements of one type in several dimensions, each with a lower bound.

use super::value::{SafeArray, Variant, bad_index};
use super::vt;
use crate::types::agile::sealed;
use crate::types::error::{Error, Result, code};
use crate::types::memory::slice;
use std::fmt;
use std::sync::atomic::Ordering;

/// A Rust type with the same representation as elements of an array.
///
/// # Safety
///
/// The elements of an array of type [`VT`](Self::VT) must have the representation of `Self` in
/// memory, and must own no resources.
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

impl SafeArray {
    /// Makes an array of one dimension with lower bound 0.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY where the array is too large or no memory is left.
    pub fn of<T: Element>(elements: &[T]) -> Result<Self> {
        let mut made = Self::vector(T::VT, elements.len())?;
        // SAFETY: the fresh memory has room for the same number of elements of that type.
        unsafe { made.data_mut().cast::<T>().copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        Ok(made)
    }

    /// Returns the position in memory of the element with these indices: the number of elements
    /// before it.
    pub(super) fn position(&self, indices: &[i32]) -> Result<usize> {
        let bounds = self.stored();
        // An array without elements has no position, and the product of its other dimensions may
        // overflow.
        if indices.len() != bounds.len() || self.is_empty() {
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

    /// Returns a copy of the element with these indices. Each dimension has one index.
    ///
    /// # Errors
    ///
    /// DISP_E_BADINDEX for indices out of bounds; E_OUTOFMEMORY where no memory is left for the
    /// copy.
    pub fn get(&self, indices: &[i32]) -> Result<Variant> {
        self.element(self.position(indices)?)
    }

    /// Returns copies of the elements, in the order in memory.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY where no memory is left for the copies.
    pub fn to_variants(&self) -> Result<Vec<Variant>> {
        (0..self.len()).map(|at| self.element(at)).collect()
    }

    /// Returns the elements, in the order in memory; `None` where they have another type.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        // SAFETY: by the invariant of the array, its elements are values of type `T::VT`. The
        // implementer of `Element` promises that these are represented as `T`.
        (self.vt() == T::VT).then(|| unsafe { slice(self.data().cast(), self.len()) })
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
        counted.map(drop).map_err(|_| Error::new(code::E_UNEXPECTED, "the array has too many locks"))
    }

    /// Reverts one [`Self::lock`].
    ///
    /// # Errors
    ///
    /// E_INVALIDARG for a null array; E_UNEXPECTED when the array is not locked.
    pub fn unlock(&self) -> Result<()> {
        let locks = &self.descriptor().ok_or(code::E_INVALIDARG)?.locks;
        let counted = locks.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| count.checked_sub(1));
        counted.map(drop).map_err(|_| Error::new(code::E_UNEXPECTED, "the array is not locked"))
    }
}

/// Verifies that the variant owns its value and that no object in it belongs to a thread.
pub(super) fn check_value(value: &Variant) -> Result<()> {
    if value.target().is_some() {
        return Err(Error::new(code::E_INVALIDARG, "a VARIANT by reference does not own its value"));
    }
    match (value.object(), value.as_array()) {
        (Some(object), _) => crate::types::agile::check(&object),
        (None, Some(array)) => check_elements(array),
        (None, None) => Ok(()),
    }
}

/// Verifies that no element is an object that belongs to a thread.
fn check_elements(array: &SafeArray) -> Result<()> {
    if !matches!(array.vt(), vt::UNKNOWN | vt::DISPATCH | vt::VARIANT) {
        return Ok(());
    }
    (0..array.len()).try_for_each(|at| check_value(&array.element(at)?))
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
        check_elements(&copy)?;
        Ok(copy)
    }
}
