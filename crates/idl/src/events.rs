//! Connection points: the standard's interfaces, declared in `ocidl.idl`, which the compiler brings along for files that import it.
//!
//! They are as any others, but that the runtime has what the compiler writes of them.

/// The name of the file that the compiler brings along.
pub const FILE: &str = "ocidl.idl";
/// Its text.
pub const TEXT: &str = include_str!("ocidl.idl");
