//! libobvia_java: the functions that Java calls for everything but shared memory.
//!
//! Calls are frames in FLAT, which Java writes and verifies. The runtime sends them over networks,
//! in NDR if the peer requires it. Java passes an interface as its description in IDL, and an
//! object of another process as the handle of an interface pointer. Calls of an object of Java go
//! to [`objects::Callbacks`]. Java's module `obvia.network` is the only caller.
//!
//! Every function returns an HRESULT unless its documentation says otherwise. No panic leaves a
//! function.

pub mod access;
pub mod calls;
pub mod cancelling;
pub mod classes;
pub mod found;
pub mod halves;
pub mod handles;
pub mod interfaces;
pub mod objects;
pub mod outcome;
pub mod references;
pub mod runtime;
pub mod security;

/// The version of these functions. Java's module refuses a library with another version.
const ABI: u32 = 8;

/// Returns the version of these functions.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_abi() -> u32 {
    ABI
}
