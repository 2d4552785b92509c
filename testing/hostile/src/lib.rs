//! The interfaces that hostile peers abuse.

obvia::include_idl!("victim");
