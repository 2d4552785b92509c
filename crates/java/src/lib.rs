//! libobvia_java: what the Java side calls for everything but shared memory, through its foreign functions.
//!
//! Calls are frames in FLAT, which Java lays out and checks; the runtime takes them over networks, in NDR where the peer wants it. An interface
//! comes as its description in IDL, an object of another process is the number of an interface pointer, and the calls of an object of Java's go
//! to [`objects::Callbacks`]. The module `obvia.network` of Java is the only caller.
//!
//! Every function returns an HRESULT unless it says otherwise. No panic leaves one.

pub mod access;
pub mod calls;
pub mod cancelling;
pub mod classes;
pub mod handles;
pub mod interfaces;
pub mod objects;
pub mod outcome;
pub mod references;
pub mod runtime;
pub mod security;

/// The version of these functions, which both sides must have.
const ABI: u32 = 6;

/// The version of these functions.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_abi() -> u32 {
    ABI
}
