//! Tests that every provider keeps the statements, and that providers with a flaw do not.

#[cfg(feature = "fabric")]
mod fabric;
mod flawed;
mod memory;
mod shm;
mod sim;
mod udp;
#[cfg(feature = "xdp")]
mod xdp;
