//! Options and steps that all measurements share: the extent, the placement, progress and reports.

use anyhow::Context;
use clap::{Args, ValueEnum};
use obvia_bench::report::{self, Measurement, Report};
use obvia_bench::{Case, Machine, Placement, Plan, ProgressLine, Wait, cable, end_on_signal, run};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// The extent of a measurement, and the files for its results.
#[derive(Debug, Args)]
pub(super) struct Extent {
    /// Rounds; each takes one batch of every case [default: 51]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Operations of a batch; slow cases make fewer [default: as many as take 25 ms; for calls,
    /// messages and reads at most 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=BATCH_MAX as i64))]
    batch: Option<u32>,
    /// Put the sides on separate hosts: network namespaces with a pair of virtual Ethernet
    /// interfaces between them [needs root]
    #[arg(long)]
    cable: bool,
    /// Measure less of everything
    #[arg(long)]
    pub(super) quick: bool,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the results as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

const SIZES: [usize; 8] = [64, 256, 1 << 10, 4 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20];
const SIZES_QUICK: [usize; 3] = [64, 8 << 10, 1 << 20];
/// The maximum number of operations in a batch.
const BATCH_MAX: u32 = 1_000_000;

impl Extent {
    /// Returns the requested sizes, or the default ones.
    pub(super) fn sizes(&self, asked: Option<&[usize]>) -> Vec<usize> {
        let usual: &[usize] = if self.quick { &SIZES_QUICK } else { &SIZES };
        asked.unwrap_or(usual).to_vec()
    }

    fn plan(&self, measurement: Measurement, placement: Option<Placement>) -> Plan {
        let usual = match measurement {
            Measurement::CallLatency | Measurement::DcomOverVi | Measurement::SendLatency | Measurement::Reread
                if self.quick =>
            {
                200
            }
            Measurement::CallLatency | Measurement::DcomOverVi | Measurement::SendLatency | Measurement::Reread => 1000,
            // Large batches spread the fixed cost of their beginning and end over more operations.
            Measurement::Bandwidth | Measurement::CallRate => BATCH_MAX,
        };
        Plan {
            rounds: self.rounds.unwrap_or(if self.quick { 11 } else { 51 }),
            batch: self.batch.unwrap_or(usual),
            batch_time: Duration::from_millis(if self.quick { 5 } else { 25 }),
            placement,
        }
    }

    /// Measures and reports. Fails after the report when any case failed.
    pub(super) fn measure(
        &self,
        measurement: Measurement,
        placement: Option<Placement>,
        start: impl FnOnce() -> anyhow::Result<Vec<Box<dyn Case>>>,
    ) -> anyhow::Result<ExitCode> {
        let machine = Machine::read(placement);
        end_on_signal()?;
        if self.cable {
            cable::set_up()?;
        }
        let mut cases = start()?;
        let mut progress = ProgressLine::default();
        let measured = run(&mut cases, &self.plan(measurement, placement), |state| progress.show(state))?;
        progress.clear();
        // Drop the cases before the report, so that no server outlives the measurement.
        drop(cases);
        let report = Report::new(measurement, machine, placement, measured);
        crate::print::line(report::table(&report).trim_end())?;
        if let Some(file) = &self.json {
            write(file, &report::json(&report))?;
        }
        if let Some(file) = &self.plot {
            let svg = report::plot(&report).context("nothing to plot: no case with a payload was measured")?;
            write(file, &svg)?;
        }
        Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Writes a file of results.
pub(super) fn write(file: &std::path::Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))
}

/// The waiting policy of both sides.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum Policy {
    Poll,
    Adaptive,
    Block,
}

impl Policy {
    pub(super) fn wait(self) -> Wait {
        match self {
            Self::Poll => Wait::Poll,
            Self::Adaptive => Wait::Adaptive,
            Self::Block => Wait::Block,
        }
    }
}
