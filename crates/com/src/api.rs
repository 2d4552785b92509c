//! The functions for programs. Each gets the runtime once, and makes it at first use.

pub mod dynamic;
pub(crate) mod endpoints;
pub mod events;
pub(crate) mod functions;
pub(crate) mod listen;
pub(crate) mod listing;
pub mod marshaling;
pub(crate) mod names;
pub mod security;
