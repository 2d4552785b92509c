//! The ways to reach a peer, one module each.

pub mod shm;
pub mod sim;
pub mod udp;
#[cfg(feature = "xdp")]
pub mod xdp;
