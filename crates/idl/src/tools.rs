//! Tools for authors of IDL files. They read the model and the syntax tree, and write no code for
//! programs.

pub mod compatibility;
mod declared;
pub mod doc;
pub mod explanations;
pub mod format;
mod kinds;
pub mod lint;
mod notation;
