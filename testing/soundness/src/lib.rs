//! Interfaces whose values could lead safe Rust to foreign memory, and an object that tries to do
//! this.

obvia::include_idl!("soundness");

mod numbers;
mod values;

pub use values::Values;
