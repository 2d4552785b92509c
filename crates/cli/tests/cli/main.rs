//! The command as its users run it.

mod bench;
mod credentials;
mod idl;
mod objects;
mod running;
