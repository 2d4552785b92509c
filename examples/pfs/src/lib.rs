//! A physical file system as a server, after the multi-server operating system of the IDL4 paper.
//!
//! [`tree`] keeps to a directory tree and nothing outside it; [`server`] is the object that others call, [`service`] the program that has it; [`client`] is what a
//! shell needs of it.

obvia::include_idl!("pfs");

pub mod client;
pub mod server;
pub mod service;
pub mod tree;
