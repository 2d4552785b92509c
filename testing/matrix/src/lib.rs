//! Interfaces with every construct of the IDL, and objects that implement them.

obvia::include_idl!("shapes");

pub mod shapes;
