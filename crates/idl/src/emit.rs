//! The back ends: from the model to source text.

pub mod c;
mod random_calls;
pub mod rust;
mod writer;
