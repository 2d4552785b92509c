//! The calls that a process performs for its peers besides the calls of its objects, and the
//! function that makes the runtime of the process.

pub mod dcom;
pub(crate) mod management;
pub(crate) mod process;
pub mod scm;
