//! The subcommand `obvia bench call_rate`: the rate at which a server answers calls.

use super::measuring::{Extent, Policy};
use anyhow::bail;
use clap::Args;
use obvia_bench::report::Measurement;
use obvia_bench::{Path, Placement, calls};
use std::process::ExitCode;

/// Measures how many null calls several threads make of one server process, each over a connection
/// of its own. Every number of threads is compared with one thread that waits the same way, in
/// turns in one run: a ratio of 0.50 means twice as many calls. The scheduler places the threads,
/// unless CPUs are given.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench call_rate                             one thread, two, four
  obvia bench call_rate --threads 8 --wait block    one thread and eight
  obvia bench call_rate --path ncacn_vi_udp --quick --json out.json

Polling threads need one CPU each, on both sides; with fewer CPUs use --wait adaptive.")]
pub(super) struct Arguments {
    /// Protocol sequence of the calls: ncacn_vi_shm, ncacn_vi_udp
    #[arg(long, value_name = "SEQUENCE", default_value = "ncacn_vi_shm", value_parser = path)]
    path: Path,
    /// Numbers of threads; one thread is always measured
    #[arg(long, value_delimiter = ',', value_name = "N", default_value = "1,2,4", value_parser = clap::value_parser!(u32).range(1..=THREADS_MAX))]
    threads: Vec<u32>,
    /// Waiting policies of both sides
    #[arg(long, value_delimiter = ',', value_name = "POLICY", default_value = "adaptive,block")]
    wait: Vec<Policy>,
    /// CPUs of client and server, for all threads of each [default: any]
    #[arg(long, value_name = "CLIENT,SERVER")]
    cpus: Option<Placement>,
    #[command(flatten)]
    extent: Extent,
}

const THREADS_MAX: i64 = 256;

/// Measures and reports. Fails after the report when any case failed.
pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut threads = arguments.threads.clone();
    threads.push(1);
    threads.sort_unstable();
    threads.dedup();
    let most = threads.last().copied().unwrap_or(1) as usize;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if arguments.wait.contains(&Policy::Poll) && 2 * most > cpus {
        bail!(
            "{most} polling clients and as many polling servers need {} CPUs, and there are {cpus}: use --wait adaptive",
            2 * most
        );
    }
    let waits: Vec<_> = arguments.wait.iter().map(|policy| policy.wait()).collect();
    arguments.extent.measure(Measurement::CallRate, arguments.cpus, || {
        Ok(calls::rates(arguments.path, &threads, &waits, arguments.cpus)?)
    })
}

/// The protocol sequences that can be measured.
const PATHS: [Path; 2] = [Path::NcacnViShm, Path::NcacnViUdp];

fn path(text: &str) -> Result<Path, String> {
    let names = || PATHS.map(Path::name).join(", ");
    PATHS.into_iter().find(|path| path.name() == text).ok_or_else(|| format!("expected one of {}", names()))
}
