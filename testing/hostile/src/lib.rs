//! The interfaces that hostile peers abuse, and one by which peers that are not tell what they hear.

obvia::include_idl!("victim");

/// What calls say beside their arguments.
pub mod hearing {
    obvia::include_idl!("hearing");
}
