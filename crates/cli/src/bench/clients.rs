//! The subcommand `obvia bench clients`: many clients of one server.

use super::measuring::write;
use anyhow::Context;
use clap::Args;
use obvia_bench::clients::{self, Plan};
use obvia_bench::{end_on_signal, report};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Measures a server over shared memory with many clients, which connect, call in turn, are idle
/// and leave. A client is a connection; each process has one or more, and a thread for each. One
/// more client of this process, the caller, calls alone at first and then beside the idle clients.
/// The server is measured with 10 clients, 100 and so on, and with all. At the end every second
/// process is killed, the others leave in order, and the command fails if anything is left of them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench clients                               100 processes, in some seconds
  obvia bench clients --processes 1000
  obvia bench clients --processes 10 --connections 1000 --json out.json

A limit of the system that is too low is named before anything is started, with the command that
raises it.")]
pub(super) struct Arguments {
    /// Client processes
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    processes: u32,
    /// Clients in each process
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Calls of each client when its turn comes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// Seconds for which the clients are idle
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(..=3600))]
    idle: u64,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Measures and reports. Returns a failure if the server has not released all resources of the
/// clients.
pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Arguments { processes, connections, rounds, idle, json } = arguments;
    end_on_signal()?;
    let (processes, connections, rounds, idle) = (*processes, *connections, *rounds, Duration::from_secs(*idle));
    let plan = Plan { processes, connections, rounds, idle };
    let measured = clients::measure(&plan, crate::print::note).context("measuring many clients")?;
    crate::print::line(&format!("{}\n", measured.machine))?;
    crate::print::line(report::clients_table(&measured).trim_end())?;
    if let Some(file) = json {
        write(file, &report::clients_json(&measured))?;
    }
    Ok(if measured.departure.left.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
