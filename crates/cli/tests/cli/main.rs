//! The command as its users run it.

mod bench;
mod credentials;
mod functions;
mod idl;
mod objects;
mod running;
mod trace;
mod wizard;
