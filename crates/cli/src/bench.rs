//! `obvia bench`: which measurements there are.

mod call_lat;

use anyhow::Context;
use clap::{Args, Subcommand};
use obvia_bench::{Wait, calls, raw};
use std::process::ExitCode;

/// The arguments of `obvia bench`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    measurement: Measurement,
}

#[derive(Debug, Subcommand)]
enum Measurement {
    /// Latency of a call: round trips, against raw baselines in the same run
    #[command(name = "call_lat")]
    CallLat(call_lat::Arguments),
    /// The server process of a call: for the command's own use
    #[command(name = calls::SERVE[1], hide = true)]
    ServeCalls(ServeCalls),
    /// The server process of a baseline: for the command's own use
    #[command(name = raw::SERVE[1], hide = true)]
    ServeRaw(ServeRaw),
}

#[derive(Debug, Args)]
struct ServeCalls {
    name: String,
    wait: Wait,
    #[arg(long)]
    listen: Option<String>,
    #[arg(long)]
    cpu: usize,
    #[arg(long)]
    parent: u32,
}

#[derive(Debug, Args)]
struct ServeRaw {
    kind: raw::Kind,
    #[arg(long)]
    cpu: usize,
    #[arg(long)]
    parent: u32,
}

/// Runs the measurement asked for.
pub(crate) fn main(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.measurement {
        Measurement::CallLat(arguments) => call_lat::main(&arguments),
        Measurement::ServeCalls(ServeCalls { name, wait, listen, cpu, parent }) => {
            match calls::serve(&name, wait, cpu, parent, listen.as_deref()).context("serving calls")? {}
        }
        Measurement::ServeRaw(ServeRaw { kind, cpu, parent }) => {
            match raw::serve(kind, cpu, parent).context("serving a baseline")? {}
        }
    }
}
