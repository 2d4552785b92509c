//! The runtime of a process, which knows both ends of calls: references for clients and from
//! servers, names, and the calls between runtimes.

pub(crate) mod data;
mod detours;
pub(crate) mod ending;
pub(crate) mod janitor;
mod links;
pub(crate) mod marshaling;
pub(crate) mod names;
pub(crate) mod own_target;
mod reach;
mod references;
pub(crate) mod response;
pub(crate) mod returned;
mod specialised;
mod state;
mod unreached;
mod ways;

pub use reach::is_string_binding;
pub(crate) use reach::{address_of, share_of};
pub(crate) use state::{OwnCall, Parts, Runtime};
