//! Transfer syntaxes: the layout of values in messages.

#![forbid(unsafe_code)]

pub mod flat;
pub mod ndr;
pub mod reserved;
pub mod serialization;
pub mod vartype;
