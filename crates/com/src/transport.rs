//! The protocol sequences by which processes reach each other, without references and objects.

pub(crate) mod local;
pub(crate) mod network;
pub(crate) mod routes;
pub mod trace;
