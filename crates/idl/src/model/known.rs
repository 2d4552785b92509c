//! Facts that back ends have computed about types and names.

use super::types::Type;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// The structures and unions that a language cannot express, each with the reason.
pub(crate) type Refusals = HashMap<Type, &'static str>;

/// Facts that back ends have computed about all types. Each fact is computed for all types in one
/// pass. A pass for each type would take too long, because there may be many types that lead to
/// many others.
#[derive(Debug, Default)]
pub struct Known {
    pub(crate) rust: OnceLock<Refusals>,
    pub(crate) c: OnceLock<Refusals>,
    pub(crate) java: OnceLock<Refusals>,
    /// The structures and unions that contain or lead to full pointers.
    pub(super) full: OnceLock<HashMap<Type, ()>>,
    /// The names of constants, enumerations and interfaces in Rust.
    pub(crate) rust_items: OnceLock<HashSet<String>>,
    /// The names that are declared in C.
    pub(crate) c_names: OnceLock<CNames>,
}

/// The names that one group of files declares in C: the imported files, or the compiled file.
#[derive(Debug, Default)]
pub(crate) struct CDeclared {
    pub(crate) types: HashSet<String>,
    /// The names of members and methods.
    pub(crate) inner: HashSet<String>,
    pub(crate) values: HashSet<String>,
}

/// The names that are declared in C.
#[derive(Debug)]
pub(crate) struct CNames {
    /// The names that the imported files declare, then the names that the compiled file declares.
    pub(crate) of_imported: [CDeclared; 2],
}
