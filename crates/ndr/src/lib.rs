//! Transfer syntaxes: how values are laid out in messages.

#![forbid(unsafe_code)]

pub mod flat;
pub mod ndr;
pub mod serialization;
pub mod vartype;
