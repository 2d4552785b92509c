//! The functions for programs. Each function fetches the runtime of the process. The first use
//! makes the runtime.

pub mod dynamic;
pub(crate) mod endpoints;
pub mod events;
pub(crate) mod functions;
pub(crate) mod listen;
pub(crate) mod listing;
pub mod marshaling;
pub(crate) mod names;
pub mod security;
