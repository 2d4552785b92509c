//! The server side of connections. Each accepted connection is served by a thread of its own, or by
//! a loop that the program owns.

mod accept;
mod admission;
pub(crate) mod association;
pub(crate) mod caller;
mod clients;
mod connection;
pub(crate) mod connections;
mod context_handle;
mod contexts;
pub(crate) mod dispatch;
mod entrance;
mod exporter;
pub(crate) mod exports;
pub(crate) mod functions;
mod gate;
mod group;
mod held;
pub(crate) mod listening;
mod local_setups;
pub(crate) mod own_call;
mod presence;
mod proof;
mod refused_references;
pub(crate) mod services;
mod standing;

pub(crate) use accept::{Terms, accept_from, accept_on, accept_streams, serve_lane};
pub(crate) use admission::Admitted;
pub(crate) use caller::{Caller, caller, take_back_sent};
pub use caller::{is_cancelled, leave_caller};
pub(crate) use clients::Clients;
pub use connection::{Loop, Served, set_loop};
pub use context_handle::ContextHandle;
pub(crate) use exporter::Exporter;
pub(crate) use group::GroupClient;
pub(crate) use presence::{Identity, Presence};

#[cfg(test)]
mod tests;
