//! The providers of virtual interfaces, and windows over them, by the public interface alone.

#[cfg(feature = "fabric")]
mod fabric;
mod shm;
mod udp;
mod window;
#[cfg(feature = "xdp")]
mod xdp;
