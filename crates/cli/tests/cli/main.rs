//! Tests of the command as users run it.

mod bench;
mod by_name;
mod classes;
mod credentials;
mod exits;
mod foreign;
mod functions;
mod idl;
mod idl_tools;
mod objects;
mod running;
mod stopping;
mod trace;
mod wizard;
