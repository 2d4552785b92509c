//! The DCOM server side of this process ([MS-DCOM]): an object resolver for itself, an object
//! exporter, and an activator of its registered classes.
//!
//! [`crate::orpc`] has the formats and tables; this module has the behaviour. Calls arrive as
//! octets at targets of the runtime's own.

pub(crate) mod activation_call;
mod activator;
mod answers;
pub(crate) mod classes;
pub(crate) mod creation;
pub(crate) mod factory;
pub(crate) mod forwarded_call;
mod library;
mod object_exporter;
mod pinging;
pub(crate) mod registering;
mod rem_unknown;
mod request;
pub(crate) mod service;

pub use crate::orpc::{Pinging, TraceContext};
pub(crate) use classes::Activated;
pub use classes::ServerLock;
pub use creation::{ClassContext, class_named, class_object, create_instance, create_instance_in};
pub use factory::{IClassFactory, IClassFactory_Impl, IClassFactory_Vtbl};
pub use library::free_unused_libraries;
#[doc(hidden)]
pub use library::{Make, made, provide};
pub(crate) use request::asked;

pub use crate::protocol::call_context::{trace, with_trace};
pub use pinging::set_pinging;
pub use registering::{ClassRegistration, lock_server, register_class, serve_until_idle};
