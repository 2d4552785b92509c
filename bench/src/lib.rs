//! How obvia measures a call: cases, raw baselines, the run that interleaves them, and the report.
//!
//! From the top floor down:
//!
//! - [`report`]: rows with ratios, as a table, as JSON and as a plot.
//! - [`run`]: takes all cases in turn, round after round, so that drift of the machine hits all alike.
//! - [`Case`]: one thing that is measured; [`Calls`] makes one of any [`Exchange`].
//! - [`calls`] and [`vi`]: what is measured: calls, and below them the descriptors that virtual interfaces carry.
//! - [`reread`]: what a file server makes of calls.
//! - [`raw`]: the baselines: what two processes can do at best with bare memory, futexes and sockets.
//! - [`cable`]: two hosts, for what goes over a network.
//! - [`ServerProcess`]: the other process of a case. Only the one being measured runs, the others are stopped.
//!
//! It is no part of what a program that uses obvia links.

pub mod cable;
pub mod calls;
mod case;
mod error;
mod histogram;
mod machine;
mod payload;
mod places;
pub mod raw;
pub mod report;
pub mod reread;
mod run;
mod server;
mod stats;
pub mod vi;

pub use case::{Calls, Case, Exchange, Label, Path, Wait};
pub use error::Error;
pub use histogram::Histogram;
pub use machine::{Machine, Placement};
pub use payload::Payload;
pub use run::{Measured, Plan, Progress, run};
pub use server::{Parent, ServerProcess, Stalling, Watch};
pub use stats::median;
