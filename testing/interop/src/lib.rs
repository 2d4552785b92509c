//! The interfaces for interoperability tests with other implementations.

obvia::include_idl!("rpcecho");

/// The interfaces of objects.
pub mod objects {
    obvia::include_idl!("objects");
}

/// The interfaces of objects that are called by name.
pub mod script {
    obvia::include_idl!("script");
}
