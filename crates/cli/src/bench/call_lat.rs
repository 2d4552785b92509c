//! `obvia bench call_lat`: the latency of a call.

use anyhow::Context;
use clap::{Args, ValueEnum};
use obvia_bench::calls::{self, Method as Called};
use obvia_bench::report::{self, Report};
use obvia_bench::{Case, Machine, Path, Placement, Plan, Progress, Wait, raw, run};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Measures round trips of calls between two processes, each pinned to a CPU, and of the best that any program
/// could do with bare memory, futexes and sockets. All cases take turns in one run, and each is compared with its
/// proper baseline: poll and adaptive with a cache line passed there and back (raw_line) or, with a payload, the same
/// with the array copied (raw_copy); block with a futex (raw_futex); both sides on one CPU with a Unix socket; ncacn_vi_udp
/// with a UDP socket.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench call_lat                              everything, in a minute or two
  obvia bench call_lat --quick --sizes 8K           a first impression, in seconds
  obvia bench call_lat --cpus 0,0                   both sides on one CPU
  obvia bench call_lat --json out.json --plot out.svg

Only ratios within one run mean anything: the absolute times change with the machine's mood.")]
pub(super) struct Arguments {
    /// Methods to call; baselines are measured for the same
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "CASE",
        default_value = "null,pfs_open,MoveData",
        ignore_case = true
    )]
    cases: Vec<Method>,
    /// Sizes of the array that MoveData carries, in bytes; K and M are understood [default: 64 to 1M]
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = size)]
    sizes: Option<Vec<usize>>,
    /// Waiting policies of the calls
    #[arg(long, value_delimiter = ',', value_name = "POLICY", default_value = "poll,adaptive,block")]
    wait: Vec<Policy>,
    /// Paths to measure: ncacn_vi_shm, ncacn_vi_udp, raw_line, raw_copy, raw_futex, unix, udp [default: all]
    #[arg(long, value_delimiter = ',', value_name = "PATH", value_parser = path)]
    paths: Option<Vec<Path>>,
    /// CPUs of client and server [default: the first two]
    #[arg(long, value_name = "CLIENT,SERVER")]
    cpus: Option<Placement>,
    /// Rounds; each takes one batch of every case [default: 51]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Calls of a batch; slow cases make fewer [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch: Option<u32>,
    /// Measure less of everything
    #[arg(long)]
    quick: bool,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw latency against size as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Method {
    #[value(name = "null")]
    Null,
    #[value(name = "pfs_open", alias = "open")]
    PfsOpen,
    #[value(name = "MoveData", alias = "move")]
    MoveData,
}

impl Method {
    fn called(self) -> Called {
        match self {
            Self::Null => Called::Null,
            Self::PfsOpen => Called::PfsOpen,
            Self::MoveData => Called::MoveData,
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Policy {
    Poll,
    Adaptive,
    Block,
}

impl Policy {
    fn wait(self) -> Wait {
        match self {
            Self::Poll => Wait::Poll,
            Self::Adaptive => Wait::Adaptive,
            Self::Block => Wait::Block,
        }
    }
}

const SIZES: [usize; 8] = [64, 256, 1 << 10, 4 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20];
const SIZES_QUICK: [usize; 3] = [64, 8 << 10, 1 << 20];

impl Arguments {
    fn plan(&self, placement: Placement) -> Plan {
        Plan {
            rounds: self.rounds.unwrap_or(if self.quick { 11 } else { 51 }),
            batch: self.batch.unwrap_or(if self.quick { 200 } else { 1000 }),
            batch_time: Duration::from_millis(if self.quick { 5 } else { 25 }),
            placement,
        }
    }

    /// The sizes, without those that no case asked for has.
    fn sizes(&self) -> Vec<usize> {
        if !self.cases.contains(&Method::MoveData) {
            return Vec::new();
        }
        let usual = || {
            if self.quick { SIZES_QUICK.to_vec() } else { SIZES.to_vec() }
        };
        self.sizes.clone().unwrap_or_else(usual)
    }

    fn cases(&self, placement: Placement) -> anyhow::Result<Vec<Box<dyn Case>>> {
        let local = || Path::ALL.into_iter().filter(|path| *path != Path::NcacnViUdp).collect();
        let paths = self.paths.clone().unwrap_or_else(local);
        let sizes = self.sizes();
        let mut cases = raw::cases(&paths, &sizes, placement)?;
        let methods: Vec<_> = self.cases.iter().map(|method| method.called()).collect();
        let waits: Vec<_> = self.wait.iter().map(|policy| policy.wait()).collect();
        for path in paths.into_iter().filter(|path| !path.is_baseline()) {
            cases.extend(calls::cases(path, &methods, &sizes, &waits, placement)?);
        }
        Ok(cases)
    }
}

/// Measures, and reports. Fails when any case failed, after reporting the others.
pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let placement = arguments.cpus.map_or_else(Placement::first_two, Ok)?;
    let machine = Machine::look(placement);
    let mut cases = arguments.cases(placement)?;
    let mut progress = ProgressLine::new();
    let measured = run(&mut cases, &arguments.plan(placement), |state| progress.show(state))?;
    progress.clear();
    // Before the report: nobody should wait for it with servers still around.
    drop(cases);
    let report = Report::new(machine, placement, measured);
    print!("{}", report::table(&report));
    if let Some(file) = &arguments.json {
        write(file, &report::json(&report))?;
    }
    if let Some(file) = &arguments.plot {
        let svg = report::plot(&report).context("nothing to plot: no MoveData was measured")?;
        write(file, &svg)?;
    }
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write(file: &std::path::Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))
}

/// One line on standard error that keeps changing; where that is no terminal, a line now and then.
struct ProgressLine {
    terminal: bool,
    shown: Option<Instant>,
    every: Duration,
}

impl ProgressLine {
    fn new() -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self {
            terminal,
            shown: None,
            every: if terminal { Duration::from_millis(200) } else { Duration::from_secs(5) },
        }
    }

    fn show(&mut self, state: Progress<'_>) {
        if self.shown.is_some_and(|shown| shown.elapsed() < self.every) {
            return;
        }
        self.shown = Some(Instant::now());
        let label = state.next;
        let text = format!(
            "round {} of {}: {} {} over {} ({})",
            state.round + 1,
            state.rounds,
            label.case,
            label.bytes,
            label.path.name(),
            label.wait.name()
        );
        // Who cannot be shown progress is not told: the measurement goes on, here and below.
        let mut stderr = std::io::stderr().lock();
        let _ = if self.terminal { write!(stderr, "\r\x1b[K{text}") } else { writeln!(stderr, "{text}") };
    }

    fn clear(&self) {
        if self.terminal {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

/// A number of bytes, as in `64`, `8K`, `1M`.
fn size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix(['M', 'm']).map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    let bytes: Option<usize> = digits.parse().ok().and_then(|number: usize| number.checked_mul(unit));
    bytes
        .filter(|bytes| (4..=BYTES_MAX).contains(bytes) && bytes.is_multiple_of(4))
        .ok_or_else(|| "sizes are multiples of 4 bytes, from 4 to 32M".to_owned())
}

/// The longest array: what every path can carry that carries arrays at all.
const BYTES_MAX: usize = 32 << 20;

fn path(text: &str) -> Result<Path, String> {
    let names = || Path::ALL.map(Path::name).join(", ");
    Path::ALL.into_iter().find(|path| path.name() == text).ok_or_else(|| format!("paths are {}", names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_units() {
        assert_eq!(size("64"), Ok(64));
        assert_eq!(size("8K"), Ok(8192));
        assert_eq!(size("1m"), Ok(1 << 20));
        for wrong in ["", "K", "0", "6", "-4", "33M", "99999999999999999999M", "8KB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
