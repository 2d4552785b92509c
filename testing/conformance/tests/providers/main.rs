//! Every provider keeps the statements, and a wrong one does not.

#[cfg(feature = "fabric")]
mod fabric;
mod flawed;
mod memory;
mod shm;
mod sim;
mod udp;
#[cfg(feature = "xdp")]
mod xdp;
