//! The interfaces by which other implementations and this one judge each other.

obvia::include_idl!("rpcecho");

/// Interfaces of objects.
pub mod objects {
    obvia::include_idl!("objects");
}
