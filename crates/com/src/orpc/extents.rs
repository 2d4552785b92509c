//! ORPC_EXTENT and ORPC_EXTENT_ARRAY (MS-DCOM 2.2.13.1, 2.2.13.2): additional data of calls besides
//! their parameters.

use super::stub_data::{Body, Decoder, Encoder, Malformed};
use windows_core::GUID;

/// The greatest number of extents of a call.
const EXTENTS_MAX: usize = 32;
/// The greatest length of an extent, in bytes.
const EXTENT_MAX: usize = 1 << 16;

/// Data whose format is identified by a GUID. Unknown formats are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The GUID of the data's format.
    pub id: GUID,
    /// The data, without its padding.
    pub data: Vec<u8>,
}

/// The extents of a call or its answer, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents(pub Vec<Extent>);

impl Extents {
    /// Returns the data of the first extent with a format, if there is one.
    pub fn find(&self, id: &GUID) -> Option<&[u8]> {
        self.0.iter().find(|extent| extent.id == *id).map(|extent| extent.data.as_slice())
    }

    /// Decodes the target of the unique pointer `extensions` in ORPCTHIS and ORPCTHAT.
    pub(super) fn read_pointer(from: &mut Decoder<'_>, is_there: bool) -> Result<Self, Malformed> {
        if is_there { Self::read(from) } else { Ok(Self::default()) }
    }

    /// Whether there are extents, so that the pointer is not null.
    pub(super) fn is_there(&self) -> bool {
        !self.0.is_empty()
    }
}

/// The target of the pointer `extensions`, with the targets of the pointers in it. The total length
/// is a multiple of 8 bytes, so that the following data keeps its alignment.
impl Body for Extents {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let count = from.count(EXTENTS_MAX, "ORPC_EXTENT_ARRAY.size")?;
        from.u32("ORPC_EXTENT_ARRAY.reserved")?;
        if !from.pointer("extent")? {
            return if count == 0 { Ok(Self::default()) } else { Err(Malformed::Null { what: "extent" }) };
        }
        let there = from.array(count.next_multiple_of(2), 4, "extent", |from| from.pointer("extent"))?;
        let mut extents = Vec::with_capacity(count);
        for _ in there.iter().filter(|is_there| **is_there) {
            extents.push(Extent::read(from)?);
        }
        // The size counts the pointers that are not null.
        if extents.len() == count { Ok(Self(extents)) } else { Err(from.wrong("ORPC_EXTENT_ARRAY.size", count as u64)) }
    }

    fn write(&self, to: &mut Encoder<'_>) {
        let count = self.0.len();
        to.count(count, EXTENTS_MAX, "ORPC_EXTENT_ARRAY.size");
        to.u32(0);
        to.pointer(true);
        let places: Vec<bool> = (0..count.next_multiple_of(2)).map(|place| place < count).collect();
        to.array(&places, |to, is_there| to.pointer(*is_there));
        self.0.iter().for_each(|extent| extent.write(to));
    }
}

impl Body for Extent {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let conformance = from.count(EXTENT_MAX, "ORPC_EXTENT.data")?;
        let (id, size) = (from.guid("ORPC_EXTENT.id")?, from.count(EXTENT_MAX, "ORPC_EXTENT.size")?);
        if conformance != size.next_multiple_of(8) {
            return Err(from.wrong("ORPC_EXTENT.size", size as u64));
        }
        let data = from.bytes(conformance, "ORPC_EXTENT.data")?[..size].to_vec();
        Ok(Self { id, data })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        let (size, rounded) = (self.data.len(), self.data.len().next_multiple_of(8));
        to.count(rounded, EXTENT_MAX, "ORPC_EXTENT.data");
        to.guid(&self.id);
        to.u32(size as u32);
        to.bytes(&self.data);
        to.zeros(rounded - size);
    }
}
