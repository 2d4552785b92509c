//! The subcommand `obvia bench` and its measurements.

mod bandwidth;
mod call_lat;
mod call_rate;
mod clients;
mod dcom_vi;
mod goodput;
mod load;
mod measuring;
mod pfs_reread;
mod send_lat;

use anyhow::Context;
use clap::{Args, Subcommand};
use obvia_bench::vi::{self, Direction};
use obvia_bench::{Machine, Wait, calls, clients as many, raw, report, reread};
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `obvia bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench call_lat --quick        the cost of a call, in some seconds
  obvia bench call_lat --help         what it measures, and its options
  obvia bench load calc Add 2 3       the latency of a running server of your own, under load")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    measurement: Measurement,
}

#[derive(Debug, Subcommand)]
enum Measurement {
    // The help text is the comment of `load::Arguments`, which has a second paragraph.
    #[command(name = "load")]
    Load(Box<load::Arguments>),
    /// Latency of a call: round trips, against raw baselines in the same run
    #[command(name = "call_lat")]
    CallLat(call_lat::Arguments),
    /// Latency of calls of objects: over virtual interfaces, against DCOM's own transports
    #[command(name = "dcom_vi")]
    DcomVi(dcom_vi::Arguments),
    /// Calls per second of several threads, against those of one
    #[command(name = "call_rate")]
    CallRate(call_rate::Arguments),
    /// Many clients of one server: memory, connecting, idle time, calls of the others
    #[command(name = "clients")]
    Clients(clients::Arguments),
    /// Latency of messages by descriptors of virtual interfaces
    #[command(name = "send_lat")]
    SendLat(send_lat::Arguments),
    /// Bandwidth of RDMA writes
    #[command(name = "write_bw")]
    WriteBw(bandwidth::Arguments),
    /// Bandwidth of RDMA reads
    #[command(name = "read_bw")]
    ReadBw(bandwidth::Arguments),
    /// Reads of a file in the page cache: through a file server, against pread(2)
    #[command(name = "pfs_reread")]
    PfsReread(pfs_reread::Arguments),
    /// Bulk data over lines with a delay and losses: by virtual interfaces, against TCP
    #[command(name = "goodput")]
    Goodput(goodput::Arguments),
    /// Draw the measurements of another program: for `cargo xtask bench-jrpc` and `bench-web`
    #[command(name = "draw", hide = true)]
    Draw(Draw),
    /// A process with clients: for the command's own use
    #[command(name = many::SERVE[1], hide = true)]
    ServeClients(ServeClients),
    /// The server process of a call: for the command's own use
    #[command(name = calls::SERVE[1], hide = true)]
    ServeCalls(ServeCalls),
    /// The server process of a baseline: for the command's own use
    #[command(name = raw::SERVE[1], hide = true)]
    ServeRaw(ServeRaw),
    /// The file server: for the command's own use
    #[command(name = reread::SERVE[1], hide = true)]
    ServeReread(ServeReread),
    /// The server process of a virtual interface: for the command's own use
    #[command(name = vi::SERVE[1], hide = true)]
    ServeVi(ServeVi),
}

#[derive(Debug, Args)]
struct Draw {
    /// Lines of NAME,BYTES,NANOSECONDS; with --over-time of NAME,MILLISECONDS,BYTES,COLLECTIONS
    measured: PathBuf,
    #[arg(long)]
    over_time: bool,
    #[arg(long)]
    title: String,
    #[arg(long)]
    plot: PathBuf,
}

impl Draw {
    fn draw(&self) -> anyhow::Result<ExitCode> {
        let measured = &self.measured;
        let text = std::fs::read_to_string(measured).with_context(|| format!("reading {}", measured.display()))?;
        let svg = if self.over_time {
            report::timeline(&self.title, &text)
        } else {
            report::drawn(&self.title, &Machine::read(None), &text)
        }
        .with_context(|| measured.display().to_string())?;
        std::fs::write(&self.plot, svg).with_context(|| format!("writing {}", self.plot.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Debug, Args)]
struct ServeClients {
    address: String,
    #[arg(long)]
    parent: u32,
}

#[derive(Debug, Args)]
struct ServeCalls {
    name: String,
    wait: Wait,
    #[arg(long)]
    listen: Option<String>,
    #[arg(long)]
    over_vi: bool,
    #[arg(long)]
    cpu: Option<usize>,
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

#[derive(Debug, Args)]
struct ServeReread {
    file: PathBuf,
    wait: Wait,
    #[command(flatten)]
    over: Over,
    #[arg(long)]
    cpu: usize,
    #[arg(long)]
    parent: u32,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Over {
    #[arg(long)]
    name: Option<String>,
    #[arg(long)]
    bytes_max: Option<usize>,
}

impl Over {
    fn over(self) -> reread::Over {
        match self.name {
            Some(name) => reread::Over::Name(name),
            None => reread::Over::Socket(self.bytes_max.unwrap_or(0)),
        }
    }
}

#[derive(Debug, Args)]
struct ServeVi {
    provider: vi::Provider,
    wait: Wait,
    task: vi::Task,
    address: String,
    #[arg(long)]
    bytes: usize,
    #[arg(long)]
    depth: u32,
    #[arg(long)]
    cpu: usize,
    #[arg(long)]
    parent: u32,
}

/// Runs the requested measurement.
pub(crate) fn main(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.measurement {
        Measurement::Load(arguments) => load::main(*arguments),
        Measurement::CallLat(arguments) => call_lat::main(&arguments),
        Measurement::CallRate(arguments) => call_rate::main(&arguments),
        Measurement::Clients(arguments) => clients::main(&arguments),
        Measurement::DcomVi(arguments) => dcom_vi::main(&arguments),
        Measurement::SendLat(arguments) => send_lat::main(&arguments),
        Measurement::WriteBw(arguments) => bandwidth::main(&arguments, Direction::Write),
        Measurement::ReadBw(arguments) => bandwidth::main(&arguments, Direction::Read),
        Measurement::PfsReread(arguments) => pfs_reread::main(&arguments),
        Measurement::Goodput(arguments) => goodput::main(&arguments),
        Measurement::Draw(arguments) => arguments.draw(),
        Measurement::ServeReread(ServeReread { file, wait, over, cpu, parent }) => {
            match reread::serve(&file, wait, over.over(), cpu, parent).context("serving a file")? {}
        }
        Measurement::ServeClients(ServeClients { address, parent }) => {
            many::serve(&address, parent).context("making calls")?;
            Ok(ExitCode::SUCCESS)
        }
        Measurement::ServeCalls(ServeCalls { name, wait, listen, over_vi, cpu, parent }) => {
            match calls::serve(&name, wait, cpu, parent, listen.as_deref(), over_vi).context("serving calls")? {}
        }
        Measurement::ServeRaw(ServeRaw { kind, cpu, parent }) => {
            match raw::serve(kind, cpu, parent).context("serving a baseline")? {}
        }
        Measurement::ServeVi(ServeVi { provider, wait, task, address, bytes, depth, cpu, parent }) => {
            let ask = vi::Ask { provider, wait, task, bytes, depth };
            match vi::serve(ask, &address, cpu, parent).context("serving a virtual interface")? {}
        }
    }
}
