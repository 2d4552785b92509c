//! Trials: two VIs, a random workload, a bad network, and a judge that knows the promises of the VI
//! Architecture.
//!
//! A trial follows from its seed alone, in one thread and by one clock, so a failed trial can be
//! repeated as often as necessary: [`trial`] runs one, [`replay`] runs it with a trace. `cargo
//! xtask sim` runs thousands.

mod judge;
mod mutant;
mod plan;
mod run;
mod side;

pub use mutant::Mutation;

use crate::error::Ended;
use crate::wrap::Counts;
use plan::Plan;
use run::Run;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// The totals of trials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of trials.
    pub trials: u64,
    /// The number of rounds in which both sides were connected.
    pub connections: u64,
    /// The number of operations posted.
    pub posted: u64,
    /// The number of operations done.
    pub done: u64,
    /// The number of messages, and of RDMA writes with immediate data, that were received.
    pub received: u64,
    /// For each reason, the number of sides whose connection ended for this reason. Disconnections
    /// after everything was done do not count.
    pub ended: [u64; 7],
    /// The networks' counts of datagrams.
    pub datagrams: Counts,
    /// The virtual time that the trials took.
    pub time: Duration,
}

const ENDED: [Ended; 7] = [
    Ended::Here,
    Ended::ByPeer,
    Ended::Silent,
    Ended::ReceiverNotReady,
    Ended::TooLong,
    Ended::Protection,
    Ended::Violation,
];

impl Summary {
    /// Adds the totals of other trials.
    pub fn add(&mut self, other: &Self) {
        self.trials += other.trials;
        self.connections += other.connections;
        self.posted += other.posted;
        self.done += other.done;
        self.received += other.received;
        for (own, others) in self.ended.iter_mut().zip(other.ended) {
            *own += others;
        }
        self.datagrams = self.datagrams.plus(other.datagrams);
        self.time += other.time;
    }

    fn end(&mut self, why: Ended) {
        if let Some(at) = ENDED.iter().position(|known| *known == why) {
            self.ended[at] += 1;
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.time.as_secs();
        writeln!(f, "{} trials, {} connections, {seconds} s of virtual time", self.trials, self.connections)?;
        writeln!(f, "{} operations posted, {} done, {} received", self.posted, self.done, self.received)?;
        for (why, count) in ENDED.iter().zip(self.ended).filter(|(_, count)| *count > 0) {
            writeln!(f, "{count:>9} times {why}")?;
        }
        let Counts { offered, lost, cut, overflowed, duplicated, reordered, corrupted, truncated, .. } = self.datagrams;
        writeln!(f, "{offered} datagrams: {lost} lost, {cut} cut off, {overflowed} too many, {duplicated} doubled,")?;
        write!(f, "{reordered} held back, {corrupted} damaged, {truncated} cut short")
    }
}

/// A broken promise.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed, which reproduces the failure.
    pub seed: u64,
    /// A sentence that names the broken promise.
    pub what: String,
    /// The plan, and everything that happened.
    pub trace: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nseed {}: {}", self.trace, self.seed, self.what)
    }
}

impl std::error::Error for Failure {}

/// Runs the trial of a seed. A mutation makes the network or a port break the rules on purpose.
///
/// # Errors
///
/// The broken promise, with the trace of a second run.
pub fn trial(seed: u64, mutation: Option<Mutation>) -> Result<Summary, Box<Failure>> {
    let (outcome, _) = run(seed, mutation, false);
    outcome.map_err(|what| {
        let (again, trace) = run(seed, mutation, true);
        let what = match again {
            Err(again) if again == what => what,
            again => format!("{what}; and a second run, which should be the same, ended with {again:?}"),
        };
        Box::new(Failure { seed, what, trace })
    })
}

/// Runs the trial of a seed, and returns a trace of everything that happened.
pub fn replay(seed: u64) -> (Result<Summary, String>, String) {
    run(seed, None, true)
}

/// Returns the finding of a trial with a mutation, if there is one, without a second run.
#[cfg(test)]
fn finding(seed: u64, mutation: Mutation) -> Option<String> {
    run(seed, Some(mutation), false).0.err()
}

fn run(seed: u64, mutation: Option<Mutation>, is_traced: bool) -> (Result<Summary, String>, String) {
    let plan = Plan::of(seed);
    let planned = if is_traced { format!("{plan:#?}\n") } else { String::new() };
    let mut run = match Run::new(seed, plan, mutation, is_traced) {
        Ok(run) => run,
        Err(error) => return (Err(format!("the trial could not begin: {error}")), planned),
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| run.all()));
    let outcome = outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("(no message)");
        Err(format!("panicked: {text}"))
    });
    let trace = planned + &run.trace();
    (outcome.map(|()| run.summary()), trace)
}

#[cfg(test)]
mod tests;
