//! The ends of strings in surveyed memory.

use super::{Place, Survey, bytes, refused};
use crate::types::error::Result;
use obvia_ndr::flat::shape::Element;

impl Survey {
    /// Checks that the array to which the pointer at `place` leads contains a zero, unless it has
    /// no elements. In a shape this check directly follows the pointer, so the pointer's target was
    /// found last.
    ///
    /// # Safety
    ///
    /// The objects that the survey has found must be readable.
    #[inline(never)]
    pub(super) unsafe fn ended(&self, place: Place) -> Result<()> {
        let last = self.slots.last().filter(|(last, _)| (last.holder, last.at) == (place.holder, place.at));
        let Some((_, index)) = last else { return Err(refused("a string's array is missing")) };
        let found = &self.objects[*index];
        // The pointer to an array without elements may be null.
        if found.count == 0 {
            return Ok(());
        }
        let size = bytes(found.element, 1, self.types).unwrap_or(1).max(1);
        // SAFETY: the caller promises a readable object, which has this size.
        let characters = unsafe { std::slice::from_raw_parts(found.from, found.bytes) };
        let has_zero = characters.chunks_exact(size).any(|character| character.iter().all(|byte| *byte == 0));
        if has_zero { Ok(()) } else { Err(refused("the string does not end within its array")) }
    }
}

/// Returns the number of characters of a string, including the terminating zero.
///
/// # Safety
///
/// The string must end in a zero.
pub(super) unsafe fn count(text: *const u8, element: Element) -> usize {
    let counted = if element == Element::Wide {
        // SAFETY: the caller promises that the string ends in a zero.
        unsafe { crate::marshal::parameters::text_count(text.cast::<u16>(), false) }
    } else {
        // SAFETY: the caller promises that the string ends in a zero.
        unsafe { crate::marshal::parameters::text_count(text, false) }
    };
    // The pointer is not null, so there is no error.
    counted.unwrap_or(1)
}
