//! libobvia: the C interface, as `include/obvia.h` and `include/obvia_stub.h` declare it.
//!
//! The headers are the documentation. The interface exposes nothing specific to Rust: no panics,
//! no allocations except those of the C library, and no types without C's layout.

pub mod access;
pub mod calls;
pub mod cancelling;
pub mod classes;
pub mod contexts;
pub mod errors;
pub mod events;
pub mod interface;
pub mod marshaling;
pub mod runtime;
pub mod security;
pub mod server_loop;
pub mod table;
pub mod utf8;

/// The version of the interface: see `OBVIA_ABI_MAJOR` and `OBVIA_ABI_MINOR`.
const ABI: (u32, u32) = (0, 1);

/// `obvia_abi_version` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_abi_version() -> u32 {
    ABI.0 << 16 | ABI.1
}
