//! Activation on this host: which classes are registered, in plain files, and the service that starts their servers on demand.
//!
//! A process that makes objects of a class has a name for the class in the directory of this user's servers, as long as it lives
//! and has the class registered. So whoever looks for a running server finds it without the service, which keeps nothing in mind but what
//! it is starting: it may be killed and started again at any time.

mod folders;
mod registration;

pub use folders::{VARIABLE, classes, find, install, remove};
pub use registration::{Class, Program};
