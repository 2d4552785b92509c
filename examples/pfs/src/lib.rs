//! A physical file system as a server, after the multi-server operating system of the IDL4 paper.
//!
//! [`tree`] is a directory tree that no name leads out of. [`server`] is the object that exports a
//! tree, [`service`] the program around it, and [`client`] a client for shells.

obvia::include_idl!("pfs");

pub mod client;
pub mod server;
pub mod service;
pub mod tree;
