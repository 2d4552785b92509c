//! The calls that a process performs for its peers beside those of its objects, and the place where
//! its runtime is made.

pub mod dcom;
pub(crate) mod management;
pub(crate) mod process;
pub mod scm;
