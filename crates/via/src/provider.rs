//! The ways to reach a peer, one module each.

pub mod shm;
#[cfg(feature = "xdp")]
pub mod xdp;
