//! Structures with pointers: lists, trees, and graphs with sharing and cycles.
//!
//! A structure has the same layout in a frame as in memory; only its pointers differ. The compiler
//! generates one description for both ([`obvia_ndr::flat::shape`]). A survey finds all objects that
//! parameters reach. These objects are then written to a frame, copied, or freed. A received frame
//! is copied to private memory and checked there; then its offsets become addresses.
//!
//! Memory that the receiver frees consists of one allocation for each object, as COM requires.

mod image;
mod memory;
mod method;
mod open;
mod owned;
mod owners;
mod places;
mod pointers;
mod private;
mod shown;
mod survey;
#[cfg(test)]
mod tests;

pub use image::{Arguments, Image, Results};
pub use method::{Invoke, Method};
pub use open::{Held, elements_after, open, put_owned};
pub use owned::{Graph, Owned, OwnedSlice, clear_elements, copy_elements, free_elements};
pub use places::{Lifted, lower, lower_slice, place_count, place_for, places_for, take_place, take_places};
pub use pointers::{Array, Text, Wide, object_at, object_of};
pub use shown::nested;

use crate::types::error::{Error, code};
use obvia_ndr::flat::check::Flaw;
use obvia_ndr::flat::shape::{Block, ElementType};

/// The layout of a request's or a reply's parameters, which the compiler generates.
#[derive(Clone, Copy)]
pub struct Layout {
    /// The layout of the parameters themselves.
    pub block: &'static Block,
    /// The element types of the interface.
    pub types: &'static [ElementType],
}

pub(crate) fn invalid(flaw: Flaw) -> Error {
    Error::new(code::RPC_E_INVALID_DATA, format!("the frame does not match the interface: {flaw}"))
}
