//! The ways to reach a peer, one module each.

#[cfg(feature = "fabric")]
pub mod fabric;
pub mod shm;
pub mod sim;
pub mod udp;
#[cfg(feature = "xdp")]
pub mod xdp;
