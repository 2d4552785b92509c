//! The command as its users run it.

mod bench;
mod functions;
mod idl;
mod objects;
mod running;
mod trace;
