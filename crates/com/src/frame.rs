//! Frames of plain methods: scalars in a fixed block, and arrays of scalars behind it.
//!
//! Where every out-of-line object of a frame is an array whose length the arguments tell, FLAT leaves no freedom: the
//! arrays follow one another in the order of their slots. So the offset of each is known before it is read, and the
//! check is that the frame says the same.

use crate::error::code;
use obvia_ndr::flat::{FRAME_MAX, OBJECT_ALIGN, OBJECT_HEADER};
use obvia_via::RegionView;
use windows_core::{GUID, HRESULT};

mod sealed {
    pub trait Sealed {}
}

/// A number as it lies in a frame: the same bytes as in memory.
pub trait Scalar: sealed::Sealed + Copy {
    /// Stores it at `offset`.
    fn store(self, frame: &mut [u8], offset: usize);
    /// Loads it once from `offset`; zero where the frame is too short, which the caller has excluded.
    fn load(frame: RegionView<'_>, offset: usize) -> Self;
}

macro_rules! scalars {
    ($($type:ty, $load:ident, $as:ty;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Scalar for $type {
            #[inline(always)]
            fn store(self, frame: &mut [u8], offset: usize) {
                frame[offset..offset + size_of::<$type>()].copy_from_slice(&self.to_le_bytes());
            }
            #[inline(always)]
            fn load(frame: RegionView<'_>, offset: usize) -> Self {
                let bits: $as = frame.$load(offset).unwrap_or_default();
                Self::from_le_bytes(bits.to_le_bytes())
            }
        }
    )*};
}
scalars! {
    u8, load_u8, u8; i8, load_u8, u8; u16, load_u16, u16; i16, load_u16, u16; u32, load_u32, u32; i32, load_u32, u32;
    u64, load_u64, u64; i64, load_u64, u64; f32, load_u32, u32; f64, load_u64, u64;
}

impl sealed::Sealed for GUID {}
impl Scalar for GUID {
    #[inline]
    fn store(self, frame: &mut [u8], offset: usize) {
        frame[offset..offset + 16].copy_from_slice(&crate::objref::guid_to_wire(&self));
    }
    #[inline]
    fn load(frame: RegionView<'_>, offset: usize) -> Self {
        let mut bytes = [0; 16];
        // Checked by the caller, as for the other scalars.
        let _ = frame.copy_to(offset, &mut bytes);
        crate::objref::guid_from_wire(bytes)
    }
}

/// Rounds up to where an object may begin.
const fn aligned(length: usize) -> usize {
    length.next_multiple_of(OBJECT_ALIGN)
}

/// The length of a frame being measured.
#[derive(Clone, Copy, Debug)]
pub struct Measure(usize);

impl Measure {
    /// A frame with only its block.
    #[inline(always)]
    pub const fn block(length: usize) -> Self {
        Self(aligned(length))
    }

    /// Adds an array of `count` elements of `size` bytes.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY when the frame gets longer than a frame can be.
    #[inline]
    pub const fn array(self, count: usize, size: usize) -> Result<Self, HRESULT> {
        // Neither product nor sum can overflow once the count is no larger than a frame.
        if count > FRAME_MAX || self.0 > FRAME_MAX {
            return Err(code::E_OUTOFMEMORY);
        }
        let total = self.0 as u128
            + OBJECT_HEADER as u128
            + (count as u128 * size as u128).next_multiple_of(8);
        if total > FRAME_MAX as u128 {
            return Err(code::E_OUTOFMEMORY);
        }
        Ok(Self(total as usize))
    }

    /// The length in bytes.
    #[inline(always)]
    pub const fn length(self) -> usize {
        self.0
    }
}

/// Where the next array of a frame lies.
#[derive(Clone, Copy, Debug)]
pub struct Arrays(usize);

impl Arrays {
    /// The first array behind a block.
    #[inline(always)]
    pub const fn behind(block: usize) -> Self {
        Self(aligned(block))
    }

    #[inline]
    fn advance(&mut self, bytes: usize) -> usize {
        let body = self.0 + OBJECT_HEADER;
        self.0 = body + aligned(bytes);
        body
    }

    /// Writes the slot, the header and the padding of an array, and returns where its elements go.
    #[inline]
    pub(crate) fn place(
        &mut self,
        frame: &mut [u8],
        slot: usize,
        kind: u32,
        count: usize,
        bytes: usize,
    ) -> usize {
        let body = self.advance(bytes);
        (body as u64).store(frame, slot);
        (u64::from(kind) | (count as u64) << 32).store(frame, body - OBJECT_HEADER);
        frame[body + bytes..self.0].fill(0);
        body
    }

    /// Checks the slot and the header of an array, and returns where its elements are. `None` when they are not
    /// what the block says.
    #[inline]
    pub(crate) fn find(
        &mut self,
        frame: RegionView<'_>,
        slot: usize,
        kind: u32,
        count: usize,
        size: usize,
    ) -> Option<usize> {
        let bytes = count
            .checked_mul(size)
            .filter(|&bytes| bytes <= FRAME_MAX)?;
        let body = self.advance(bytes);
        let slot = frame.load_u64(slot)?;
        let header = frame.load_u64(body - OBJECT_HEADER)?;
        let right = slot == body as u64 && header == u64::from(kind) | (count as u64) << 32;
        (right && self.0 <= frame.len()).then_some(body)
    }

    /// Where the frame must end.
    #[inline]
    pub(crate) fn end(self) -> usize {
        self.0
    }
}
