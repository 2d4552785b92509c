//! Tests of the command as users run it.

mod bench;
mod by_name;
mod classes;
mod credentials;
mod doctor;
mod exits;
mod foreign;
mod functions;
mod idl;
mod idl_doc;
mod idl_tools;
mod load;
mod new;
mod objects;
mod running;
mod stopping;
mod top;
mod trace;
mod wizard;
