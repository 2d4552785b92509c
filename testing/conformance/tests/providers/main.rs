//! Tests that every provider fulfils the statements of the conformance suite, and that providers
//! with a flaw do not.

#[cfg(feature = "fabric")]
mod fabric;
mod flawed;
mod memory;
mod shm;
mod sim;
mod udp;
#[cfg(feature = "xdp")]
mod xdp;
