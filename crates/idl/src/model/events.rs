//! Connection points: the standard's interfaces, declared in the built-in file `ocidl.idl`.
//!
//! The compiler treats these interfaces like any others, except that the runtime contains the code
//! for them.

/// The name of the built-in file.
pub const FILE: &str = "ocidl.idl";
/// The text of the built-in file.
pub const TEXT: &str = include_str!("../ocidl.idl");
