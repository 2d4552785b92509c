//! The command as its users run it.

mod bench;
mod idl;
mod objects;
mod running;
mod trace;
