//! The interfaces by which other implementations and this one judge each other.

obvia::include_idl!("rpcecho");

/// Interfaces of objects.
pub mod objects {
    obvia::include_idl!("objects");
}

/// Interfaces of objects that are called by name.
pub mod script {
    obvia::include_idl!("script");
}
