//! The interface by which other implementations and this one judge each other.

obvia::include_idl!("rpcecho");
