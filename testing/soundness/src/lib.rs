//! Interfaces by which safe Rust might reach memory that is not its own, and an object that does what it can.

obvia::include_idl!("soundness");

mod values;

pub use values::Values;
