//! The back ends: from the model to source text.

pub mod c;
pub mod component;
pub mod java;
pub mod python;
mod random_calls;
pub mod rust;
mod sample;
pub mod tlb;

use std::collections::HashSet;
use std::sync::LazyLock;

/// A list of words, for names that must differ from all of them.
type Words = LazyLock<HashSet<&'static str>>;
