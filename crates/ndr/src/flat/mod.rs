//! FLAT: the transfer syntax whose frames have the layout of the receiver's memory.

pub mod check;
pub mod shape;
pub mod words;

/// The type number of an object that contains an OBJREF.
pub const KIND_INTERFACE: u32 = 1;
/// The type number of a string of 8-bit characters.
pub const KIND_TEXT8: u32 = 2;
/// The type number of a string of 16-bit characters.
pub const KIND_TEXT16: u32 = 3;
/// The first type number of an interface's own types.
pub const KIND_FIRST: u32 = 16;

/// The longest frame, in bytes.
pub const FRAME_MAX: usize = i32::MAX as usize;
/// The alignment of objects, in bytes.
pub const OBJECT_ALIGN: usize = 8;
/// The length of an object's header, in bytes: type and count.
pub const OBJECT_HEADER: usize = 8;
