//! The back ends: from the model to source text.

pub mod c;
pub mod rust;
mod writer;
