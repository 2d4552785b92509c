//! Every provider keeps the statements, and one that is wrong does not.

#[cfg(feature = "fabric")]
mod fabric;
mod memory;
mod shm;
mod sim;
mod udp;
mod wrong;
#[cfg(feature = "xdp")]
mod xdp;
