//! The subcommand `obvia bench goodput`: bulk data over simulated lines.

use super::measuring::write;
use clap::Args;
use obvia_bench::goodput::{Conditions, Plan, measure};
use obvia_bench::{end_on_signal, report};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Measures how much bulk data flows over a line with a rate, a delay and losses: by messages of a
/// virtual interface over UDP, as ncacn_vi_udp uses them, and by a TCP connection of the kernel
/// with CUBIC. A line joins two network namespaces by a TUN device in each; a thread of this
/// program carries packets of up to 1500 bytes from one to the other, delays them, drops some at
/// random, and sends them at the line's rate from a queue that drops what it has no room for. The
/// queue has one bandwidth-delay product, at least 50 ms and at least 100 packets. Losses and rate
/// apply to both directions.
///
/// Each point has two lines, one for obvia and one for TCP, which are measured at the same time,
/// after the flows have had 40 round trips to settle (2 s at least, 10 s at most). Then two flows
/// share a line, obvia and obvia, obvia and TCP, TCP and TCP; they have 30 s to settle. Needs root,
/// the command `ip` of iproute2, and /dev/net/tun.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench goodput --table out.md --plot out.svg  everything, in 25 minutes
  obvia bench goodput --losses 1 --round-trips 20 --share 0
  obvia bench goodput --seconds 5 --share 10         a first impression

Other work on the machine delays the thread that carries packets, and makes the results rough.")]
pub(super) struct Arguments {
    /// Losses of each direction, in per cent
    #[arg(long, value_delimiter = ',', value_name = "PERCENT", default_value = "0,1,5", value_parser = percent)]
    losses: Vec<f64>,
    /// Round trips of the line, in milliseconds
    #[arg(long, value_delimiter = ',', value_name = "MS", default_value = "1,50,100,250", value_parser = round_trip)]
    round_trips: Vec<u64>,
    /// Rate of each direction, in Mbit/s
    #[arg(long, value_name = "MBIT", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    rate: u64,
    /// Seconds for which each point is measured; 400 round trips if they take longer
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// Seconds for which two flows that share a line are measured, without losses; 0 for none
    #[arg(long, value_name = "N", default_value_t = 240, value_parser = clap::value_parser!(u64).range(..=3600))]
    share: u64,
    /// Round trip of the shared line, in milliseconds
    #[arg(long, value_name = "MS", default_value = "50", value_parser = round_trip)]
    share_round_trip: u64,
    /// Seed of the losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Draw the points as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Arguments {
    fn plan(&self) -> Plan {
        let conditions = |loss: f64, round_trip| Conditions {
            rate: self.rate * 1_000_000,
            round_trip: Duration::from_millis(round_trip),
            loss: loss / 100.0,
        };
        let trips = || self.round_trips.iter().copied();
        let shared = (conditions(0.0, self.share_round_trip), Duration::from_secs(self.share));
        Plan {
            points: self.losses.iter().flat_map(|loss| trips().map(|trip| conditions(*loss, trip))).collect(),
            time: Duration::from_secs(self.seconds),
            shared: (self.share > 0).then_some(shared),
            seed: self.seed,
        }
    }
}

/// Measures and reports.
pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    end_on_signal()?;
    let plan = arguments.plan();
    crate::print::note(&format!("takes {} s", plan.duration().as_secs()));
    let goodput = measure(&plan, crate::print::note)?;
    let tables = report::goodput_tables(&goodput);
    crate::print::line(tables.trim_end())?;
    if let Some(file) = &arguments.table {
        write(file, &tables)?;
    }
    if let (Some(file), Some(svg)) = (&arguments.plot, report::goodput_plot(&goodput)) {
        write(file, &svg)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn percent(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..100.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to less than 100".to_owned())
}

fn round_trip(text: &str) -> Result<u64, String> {
    let milliseconds = text.parse().ok().filter(|milliseconds| (1..=10_000).contains(milliseconds));
    milliseconds.ok_or_else(|| "expected a whole number from 1 to 10000".to_owned())
}
