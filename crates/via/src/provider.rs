//! The ways to reach a peer, one module each.

#[cfg(feature = "fabric")]
pub mod fabric;
pub mod shm;
