//! Frames of plain methods: scalars in a fixed block, followed by arrays of scalars.
//!
//! Where every out-of-line object of a frame is an array whose length the arguments determine, FLAT
//! determines the whole layout: the arrays follow one another in the order of their slots. The
//! offset of each array is thus known before the frame is read, and the check compares the slots
//! with these offsets.

use crate::types::error::code;
use crate::types::guid;
use obvia_ndr::flat::{FRAME_MAX, OBJECT_ALIGN, OBJECT_HEADER};
use obvia_via::RegionView;
use windows_core::{GUID, HRESULT};

mod sealed {
    pub trait Sealed {}
}

/// A type of numbers. Every bit pattern is a value of the type, and the type has no padding.
pub trait Scalar: sealed::Sealed + Value {}

/// A value without pointers. Its form in a frame and its form in memory differ at most in the
/// padding.
///
/// # Safety
///
/// All-zero bytes must be a valid value of the type, and `SIZE` must be its size in memory.
pub unsafe trait Value: Copy {
    /// The size in a frame and in memory, in bytes.
    const SIZE: usize;
    /// Stores the value at the offset `at`, with zeros as padding.
    fn store(&self, frame: &mut [u8], at: usize);
    /// Loads the value from the offset `at`, and reads each part of it from the frame only once.
    /// `None` where the frame is too short, or the bytes are not a valid value.
    fn load(frame: RegionView<'_>, at: usize) -> Option<Self>;
}

/// Whether the last character of a string, and no other, is zero. With a second zero, the string
/// would have another length in other languages.
pub(crate) fn ends_in_its_only_zero<T: Default + PartialEq>(characters: &[T]) -> bool {
    // The loop does not stop at the first zero, so that the compiler can use vector instructions.
    let zeros = characters.iter().filter(|character| **character == T::default()).count();
    zeros == 1 && characters.last() == Some(&T::default())
}

macro_rules! scalar_values {
    ($($type:ty, $load:ident;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Scalar for $type {}
        // SAFETY: all-zero bytes are the number 0.
        unsafe impl Value for $type {
            const SIZE: usize = size_of::<$type>();
            #[inline(always)]
            fn store(&self, frame: &mut [u8], at: usize) {
                frame[at..at + size_of::<$type>()].copy_from_slice(&self.to_le_bytes());
            }
            #[inline(always)]
            fn load(frame: RegionView<'_>, at: usize) -> Option<Self> {
                Some(Self::from_le_bytes(frame.$load(at)?.to_le_bytes()))
            }
        }
    )*};
}
scalar_values! {
    u8, load_u8; i8, load_u8; u16, load_u16; i16, load_u16; u32, load_u32; i32, load_u32;
    u64, load_u64; i64, load_u64; f32, load_u32; f64, load_u64;
}

// SAFETY: a zero byte is `false`.
unsafe impl Value for bool {
    const SIZE: usize = 1;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        frame[at] = u8::from(*self);
    }
    #[inline]
    fn load(frame: RegionView<'_>, at: usize) -> Option<Self> {
        match frame.load_u8(at)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

// SAFETY: all-zero bytes are the GUID of zeros.
unsafe impl Value for GUID {
    const SIZE: usize = 16;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        frame[at..at + 16].copy_from_slice(&guid::to_wire(self));
    }
    #[inline]
    fn load(frame: RegionView<'_>, at: usize) -> Option<Self> {
        let mut bytes = [0; 16];
        frame.copy_to(at, &mut bytes)?;
        Some(guid::from_wire(bytes))
    }
}

// SAFETY: zero is S_OK.
unsafe impl Value for HRESULT {
    const SIZE: usize = 4;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        Value::store(&self.0, frame, at);
    }
    #[inline]
    fn load(frame: RegionView<'_>, at: usize) -> Option<Self> {
        i32::load(frame, at).map(Self)
    }
}

// SAFETY: all-zero bytes are valid for each element.
unsafe impl<T: Value, const N: usize> Value for [T; N] {
    const SIZE: usize = T::SIZE * N;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        for (place, value) in self.iter().enumerate() {
            value.store(frame, at + place * T::SIZE);
        }
    }
    #[inline]
    fn load(frame: RegionView<'_>, at: usize) -> Option<Self> {
        let mut values = [zero(); N];
        for (place, value) in values.iter_mut().enumerate() {
            *value = T::load(frame, at + place * T::SIZE)?;
        }
        Some(values)
    }
}

/// Rounds a length up to the alignment of objects. The method `next_multiple_of` would take four
/// more instructions.
#[inline(always)]
pub(crate) const fn aligned(length: usize) -> usize {
    (length + (OBJECT_ALIGN - 1)) & !(OBJECT_ALIGN - 1)
}

/// The length of a frame, which is measured before the frame is written.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    length: usize,
    bulk: usize,
}

impl Measure {
    /// Makes the measure of a frame that has a block only.
    #[inline(always)]
    pub const fn block(length: usize) -> Self {
        Self { length: aligned(length), bulk: aligned(length) + OBJECT_HEADER }
    }

    /// Makes the measure of a frame of `length` bytes, with objects after a block of `block` bytes.
    pub(crate) const fn with_objects(block: usize, length: usize) -> Self {
        Self { length, bulk: aligned(block) + OBJECT_HEADER }
    }

    /// Adds an array of `count` elements of `size` bytes.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY when the frame exceeds the greatest length of frames.
    #[inline]
    pub const fn array(self, count: usize, size: usize) -> Result<Self, HRESULT> {
        // The product and the sum below cannot overflow, because each factor is at most the
        // greatest length of a frame, which has 31 bits.
        if count > FRAME_MAX || size > FRAME_MAX || self.length > FRAME_MAX {
            return Err(code::E_OUTOFMEMORY);
        }
        let length = self.length + OBJECT_HEADER + aligned(count * size);
        if length > FRAME_MAX {
            return Err(code::E_OUTOFMEMORY);
        }
        Ok(Self { length, bulk: self.bulk })
    }

    /// Adds an object of `bytes` bytes if `there` is true.
    ///
    /// # Errors
    ///
    /// As [`Self::array`].
    #[inline]
    pub const fn optional(self, there: bool, bytes: usize) -> Result<Self, HRESULT> {
        if there { self.array(bytes, 1) } else { Ok(self) }
    }

    /// Returns the length of the frame in bytes.
    #[inline(always)]
    pub const fn length(self) -> usize {
        self.length
    }

    /// Returns the offset of the first object's body.
    #[inline(always)]
    pub(crate) const fn bulk(self) -> usize {
        self.bulk
    }
}

/// The position, in a frame, of the next array that is written or checked.
#[derive(Clone, Copy, Debug)]
pub struct Arrays(usize);

impl Arrays {
    /// Returns the position of the first array after a block.
    #[inline(always)]
    pub const fn after(block: usize) -> Self {
        Self(aligned(block))
    }

    #[inline]
    fn advance(&mut self, bytes: usize) -> usize {
        let body = self.0 + OBJECT_HEADER;
        self.0 = body + aligned(bytes);
        body
    }

    /// Writes the slot, the header and the padding of an array, and returns the offset of its
    /// elements.
    #[inline]
    pub(crate) fn place(&mut self, frame: &mut [u8], slot: usize, kind: u32, count: usize, bytes: usize) -> usize {
        let body = self.advance(bytes);
        (body as u64).store(frame, slot);
        (u64::from(kind) | (count as u64) << 32).store(frame, body - OBJECT_HEADER);
        frame[body + bytes..self.0].fill(0);
        body
    }

    /// Checks the slot and the header of an array, and returns the offset of its elements. `None`
    /// when the slot or the header has another value than the layout requires, or the array exceeds
    /// the frame.
    #[inline]
    pub(crate) fn find(
        &mut self,
        frame: RegionView<'_>,
        slot: usize,
        kind: u32,
        count: usize,
        size: usize,
    ) -> Option<usize> {
        let bytes = count.checked_mul(size).filter(|&bytes| bytes <= FRAME_MAX)?;
        let body = self.advance(bytes);
        let slot = frame.load_u64(slot)?;
        let header = frame.load_u64(body - OBJECT_HEADER)?;
        let right = slot == body as u64 && header == u64::from(kind) | (count as u64) << 32;
        (right && self.0 <= frame.len()).then_some(body)
    }

    /// Checks the header of an array whose count is only in the header, and returns the offset and
    /// the number of its elements.
    ///
    /// Returns `None` for an invalid array, and `Some(None)` for a null slot.
    pub(crate) fn find_counted(
        &mut self,
        frame: RegionView<'_>,
        slot: usize,
        kind: u32,
        size: usize,
    ) -> Option<Option<(usize, usize)>> {
        if frame.load_u64(slot)? == 0 {
            return Some(None);
        }
        let count = frame.load_u32(self.0 + 4)? as usize;
        let body = self.find(frame, slot, kind, count, size)?;
        Some(Some((body, count)))
    }

    /// Writes a null slot.
    pub(crate) fn skip(frame: &mut [u8], slot: usize) {
        0_u64.store(frame, slot);
    }

    /// Returns the offset at which the frame must end.
    #[inline]
    pub(crate) fn end(self) -> usize {
        self.0
    }
}

/// Returns the value whose bytes are all zero.
#[inline(always)]
pub fn zero<T: Value>() -> T {
    // SAFETY: the implementer of `Value` promises that all-zero bytes are a value.
    unsafe { std::mem::zeroed() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes of the first listing in the document about FLAT: each line has an offset,
    /// bytes, and an explanation.
    fn documented() -> Vec<u8> {
        let text = include_str!("../../../../docs/flat.md");
        let listing = text.split("```").nth(1).expect("the document has a listing");
        let mut bytes = Vec::new();
        for line in listing.lines().filter(|line| !line.trim().is_empty()) {
            let (offset, rest) = line.split_once("  ").expect("an offset, two blanks, bytes");
            assert_eq!(usize::from_str_radix(offset, 16), Ok(bytes.len()), "{line}");
            let digits = rest.split_whitespace().take_while(|word| word.len() == 2);
            bytes.extend(digits.map_while(|word| u8::from_str_radix(word, 16).ok()));
        }
        bytes
    }

    /// Returns the request of the document's example, written as a proxy writes it.
    fn written() -> Vec<u8> {
        let measure = Measure::block(16).array(3, 4).expect("it fits");
        let mut frame = vec![0; measure.length()];
        3_u32.store(&mut frame, 0);
        let mut arrays = Arrays::after(16);
        let body = arrays.place(&mut frame, 8, 16, 3, 12);
        for (at, value) in [1_i32, 2, 3].iter().enumerate() {
            value.store(&mut frame, body + at * 4);
        }
        frame
    }

    /// Calls `look` with a view of a copy of `frame` at an aligned address. Frames in a peer's
    /// memory are aligned, too.
    fn with_view<R>(frame: &[u8], look: impl FnOnce(RegionView<'_>) -> R) -> R {
        let mut words = vec![0_u64; frame.len().div_ceil(8)];
        for (word, bytes) in words.iter_mut().zip(frame.chunks(8)) {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(eight);
        }
        // SAFETY: the words are aligned to 8 and outlive the view.
        look(unsafe { RegionView::new(words.as_ptr().cast(), frame.len()) })
    }

    #[test]
    fn the_documented_flat_frame_equals_the_written_one() {
        assert_eq!(written(), documented());
    }

    #[test]
    fn arrays_of_a_written_frame_are_found() {
        with_view(&written(), |view| {
            let mut arrays = Arrays::after(16);
            assert_eq!(arrays.find(view, 8, 16, 3, 4), Some(24));
            assert_eq!(arrays.end(), view.len());
            assert_eq!(i32::load(view, 32), Some(3));
        });
    }

    #[test]
    fn array_slots_types_and_counts_are_checked_exactly() {
        // Every bit of the slot, the type and the count is changed in turn.
        for at in (8..16).chain(16..24) {
            for bit in 0..8 {
                let mut frame = written();
                frame[at] ^= 1 << bit;
                with_view(&frame, |view| {
                    assert_eq!(Arrays::after(16).find(view, 8, 16, 3, 4), None, "byte {at}, bit {bit}");
                });
            }
        }
        for length in 0..written().len() {
            with_view(&written()[..length], |view| {
                assert_eq!(Arrays::after(16).find(view, 8, 16, 3, 4), None, "{length} bytes");
            });
        }
        with_view(&written(), |view| {
            for count in [0, 2, 4, usize::MAX, usize::MAX / 4 + 1, FRAME_MAX] {
                assert_eq!(Arrays::after(16).find(view, 8, 16, count, 4), None, "{count} elements");
            }
        });
    }

    #[test]
    fn counts_that_overflow_are_refused() {
        for count in [usize::MAX, usize::MAX / 4, FRAME_MAX / 4 + 1, FRAME_MAX] {
            assert_eq!(Measure::block(16).array(count, 4).err(), Some(code::E_OUTOFMEMORY), "{count}");
        }
        assert!(Measure::block(16).array(FRAME_MAX / 8, 4).is_ok());
    }

    #[test]
    fn booleans_are_zero_or_one() {
        with_view(&[0, 1, 2, 255], |view| {
            let loaded: Vec<_> = (0..4).map(|at| bool::load(view, at)).collect();
            assert_eq!(loaded, [Some(false), Some(true), None, None]);
        });
    }
}
