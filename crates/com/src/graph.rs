//! Structures with pointers: lists, trees, and graphs with sharing and circles.
//!
//! A structure lies in a frame as it lies in memory; only its pointers differ. So there is one description of it
//! ([`obvia_ndr::flat::shape`]), made by the compiler, and everything here follows it: a survey finds what can be
//! reached from some parameters, and then it is written to a frame, copied, or freed. What comes in a frame is copied to
//! private memory and checked there; then offsets become addresses.
//!
//! Memory that is passed on to be freed by the receiver consists of one allocation for each object, as COM has it.

mod image;
mod memory;
mod method;
mod open;
mod owned;
mod places;
mod pointers;
mod private;
mod survey;

pub use image::{Arguments, Image, Results};
pub use method::{Invoke, Method};
pub use open::{Held, behind, open, put_owned};
pub use owned::{Graph, Owned, OwnedSlice, clear_elements, copy_elements, free_elements};
pub use places::{Lifted, lower, lower_slice, place_for, places_for, take_place, take_places};
pub use pointers::{Array, Text, Wide, object_at, object_of};

use crate::error::{Error, code};
use obvia_ndr::flat::check::Flaw;
use obvia_ndr::flat::shape::{Block, ElementType};

/// What the parameters of a request or a reply are: made by the compiler.
#[derive(Clone, Copy)]
pub struct Layout {
    /// The parameters.
    pub block: &'static Block,
    /// The types of the interface.
    pub types: &'static [ElementType],
}

pub(crate) fn invalid(flaw: Flaw) -> Error {
    Error::new(code::RPC_E_INVALID_DATA, format!("the frame is not what the interface says: {flaw}"))
}
