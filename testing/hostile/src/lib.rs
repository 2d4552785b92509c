//! The interfaces that hostile peers abuse, and the interface for tests of the call context.

obvia::include_idl!("victim");

/// The interface of an object that returns the context of its calls.
pub mod contexts {
    obvia::include_idl!("contexts");
}

/// The interface for tests of servers that do not map regions.
pub mod mapped {
    obvia::include_idl!("mapped");
}

/// The interface for tests of structures with shared targets.
pub mod graphs {
    obvia::include_idl!("graphs");
}
