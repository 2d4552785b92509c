//! Activation on this host: the registrations of classes in plain files, and the SCM that starts
//! their servers on demand.
//!
//! A process that has registered a class listens on a name for the class in the directory of this
//! user's servers. Clients thus find a running server without the SCM. Besides the servers that it
//! is starting, the SCM remembers only the ping sets of clients of other hosts. The clients make
//! new sets if the SCM has forgotten theirs, so the SCM may be killed and restarted at any time.

mod folders;
pub(crate) mod forward;
mod launch;
pub(crate) mod names;
mod registration;
pub(crate) mod remote;
mod running;
mod serving;
mod start;
pub(crate) mod start_call;
pub(crate) mod starter;

pub use folders::{VARIABLE, classes, find, install, remove};
pub(crate) use names::{announce, by_server, class_endpoint, idle_timeout, is_own_name, start, unknown};
pub use registration::{Class, Program, Remote};
pub(crate) use remote::{activate_for, is_for, note_third_process, resolve_for};
pub use running::{Running, running, service};
pub use serving::{Service, serve};
