//! Interfaces whose values could lead safe Rust to foreign memory, and an object that tries that.

obvia::include_idl!("soundness");

mod numbers;
mod values;

pub use values::Values;
