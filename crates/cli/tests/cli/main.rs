//! The command as its users run it.

mod bench;
mod by_name;
mod classes;
mod credentials;
mod functions;
mod idl;
mod objects;
mod running;
mod trace;
mod wizard;
