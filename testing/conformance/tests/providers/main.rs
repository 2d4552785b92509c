//! Every provider keeps the statements, and a wrong one does not.

#[cfg(feature = "fabric")]
mod fabric;
mod memory;
mod shm;
mod sim;
mod udp;
mod wrong;
#[cfg(feature = "xdp")]
mod xdp;
