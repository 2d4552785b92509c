//! FLAT: the transfer syntax whose frames are laid out as the receiver uses them.

pub mod check;
pub mod shape;
pub mod words;

/// The type number of an object that holds an OBJREF.
pub const KIND_INTERFACE: u32 = 1;
/// The type number of a string of 8-bit characters.
pub const KIND_TEXT8: u32 = 2;
/// The type number of a string of 16-bit characters.
pub const KIND_TEXT16: u32 = 3;
/// The first type number that an interface's own types have.
pub const KIND_FIRST: u32 = 16;

/// The longest frame, in bytes.
pub const FRAME_MAX: usize = i32::MAX as usize;
/// Objects begin at multiples of this.
pub const OBJECT_ALIGN: usize = 8;
/// Bytes of an object's header: type and count.
pub const OBJECT_HEADER: usize = 8;
