//! The measurement of calls: cases, raw baselines, the run that interleaves them, and the report.
//!
//! From the top layer down:
//!
//! - [`report`]: rows with ratios, as a table, as JSON and as a plot.
//! - [`run`]: measures all cases in turn, round after round, so that drift of the machine affects
//!   all alike.
//! - [`Case`]: one measured operation. [`Calls`] makes a case from an [`Exchange`].
//! - [`calls`] and [`vi`]: the measured operations: calls, and the VI descriptors below them.
//! - [`reread`]: a file server on top of calls.
//! - [`raw`]: the baselines: the best that two processes can do with bare memory, futexes and
//!   sockets.
//! - [`clients`]: many clients of one server, most of them idle.
//! - [`load`]: calls of one method of a server that is already running.
//! - [`cable`]: two hosts, for operations over a network.
//! - [`goodput`]: bulk data over lines with a rate, a delay and losses.
//! - [`ServerProcess`]: the other process of a case. All servers but the measured one are
//!   suspended.
//!
//! Programs that use obvia do not link this crate.

pub mod cable;
pub mod calls;
mod case;
pub mod clients;
mod error;
pub mod goodput;
mod histogram;
mod hosts;
pub mod load;
mod machine;
mod payload;
mod places;
mod progress;
pub mod raw;
pub mod report;
pub mod reread;
mod run;
mod server;
mod stats;
pub mod vi;

pub use case::{Calls, Case, Exchange, Label, Path, Wait};
pub use error::Error;
pub use histogram::{Histogram, Point};
pub use machine::{Machine, Placement, pin};
pub use payload::{Payload, count_call, size};
pub use progress::ProgressLine;
pub use run::{Measured, Plan, Progress, run};
pub use server::{PATIENCE, Parent, ServerProcess, Stalling, Watch, end_on_signal};
pub use stats::{is_unsteady, median, spread};
