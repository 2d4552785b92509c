//! The types that need no connection: errors, memory of callers, interface pointers and
//! descriptions, identities, files, deadlines and threads.

pub(crate) mod agile;
pub(crate) mod deadline;
pub(crate) mod error;
pub mod guid;
pub(crate) mod hosts;
pub(crate) mod identity;
pub(crate) mod memory;
pub mod object;
pub(crate) mod plain_file;
pub(crate) mod processes;
pub(crate) mod registry;
pub(crate) mod scratch;
pub(crate) mod threads;
pub(crate) mod upkeep;
pub(crate) mod utf8;
pub(crate) mod weak;
