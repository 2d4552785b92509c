//! The subcommand `obvia bench load`: the latency of a running server under load.

use super::measuring::write;
use crate::call::{Connected, Repeated, Target};
use crate::credentials::User;
use crate::limit::{Limit, seconds};
use crate::{exit, print};
use anyhow::Context;
use clap::Args;
use obvia::{Error, code};
use obvia_bench::load::{self, Caller, Load, Plan, Progress};
use obvia_bench::report;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The longest run.
const DAY: Duration = Duration::from_secs(86_400);
/// The measured time without `--duration` and `--calls`.
const DURATION: Duration = Duration::from_secs(10);

/// Calls a method of a running server again and again, and measures how long its answers take. The
/// method and its arguments are written as for `obvia call`. Without --rate the loop is closed: a
/// connection makes its next call when the last was answered. With --rate the loop is open: calls
/// are due at fixed times, and their latencies count from then, so that a slow server does not make
/// the load smaller and the percentiles better.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench load calc Add 2 3                             one connection, as fast as answers come, for 10 s
  obvia bench load calc Add 2 3 --connections 4 --rate 5000 5000 calls a second by four connections
  obvia bench load calc Sum @numbers.json --calls 100000 --json out.json
  obvia bench load 'ncacn_vi_udp:10.0.0.1[5555,name=calc]' Add 2 3 --rate 200 --plot out.svg
  obvia bench load calc Add 2 3 --histogram out.hgrm        percentiles, for the plotters of HdrHistogram

Ctrl-C ends the run and prints what was measured. The exit code is 0 if all calls succeeded, 3 if the server ended, 4 if
all failures are timeouts, and 1 if other calls failed.")]
pub(super) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Connections, each with a thread that makes one call at a time
    #[arg(long, visible_alias = "threads", value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    connections: u32,
    /// Calls per second of all connections together [default: as many as are answered]
    #[arg(long, value_name = "CALLS", value_parser = rate)]
    rate: Option<f64>,
    /// Measured seconds [default: 10; with --calls, as long as they take]
    #[arg(long, value_name = "SECONDS", value_parser = length)]
    duration: Option<Duration>,
    /// Seconds of calls that are not measured, before the others
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = warmup)]
    warmup: Duration,
    /// End the run after this many measured calls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    calls: Option<u64>,
    /// Seconds after which a call fails, and the connections and the description of the interface
    /// have to be there
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = timeout)]
    timeout: Duration,
    /// Write the results as JSON; `-` prints them in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the percentiles in milliseconds as lines in the form of HdrHistogram (.hgrm)
    #[arg(long, value_name = "FILE")]
    histogram: Option<PathBuf>,
    /// Draw the latency by percentile as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Report each second on the standard error, even if it is not a terminal
    #[arg(long)]
    progress: bool,
    #[command(flatten)]
    user: User,
}

/// The greatest rate of calls.
const RATE_MAX: f64 = 1e7;
/// The least rate of calls: one in a day.
const RATE_MIN: f64 = 1.0 / 86_400.0;

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (RATE_MIN..=RATE_MAX).contains(&rate) { Ok(rate) } else { Err("must be from 0.00002 to 10000000".to_owned()) }
}

fn length(text: &str) -> Result<Duration, String> {
    seconds(text).and_then(up_to_a_day)
}

fn warmup(text: &str) -> Result<Duration, String> {
    if text.parse() == Ok(0.0) { Ok(Duration::ZERO) } else { length(text) }
}

fn timeout(text: &str) -> Result<Duration, String> {
    length(text)
}

fn up_to_a_day(time: Duration) -> Result<Duration, String> {
    if time <= DAY { Ok(time) } else { Err("must be at most 86400, a day".to_owned()) }
}

impl Arguments {
    fn plan(&self) -> Plan {
        let usual = if self.calls.is_some() { DAY } else { DURATION };
        Plan {
            connections: self.connections,
            rate: self.rate,
            warmup: self.warmup,
            duration: self.duration.unwrap_or(usual),
            calls: self.calls,
            timeout: self.timeout,
        }
    }

    /// Prints and writes the results.
    fn report(&self, load: &Load, method: &str) -> anyhow::Result<()> {
        let name = &self.target.name;
        match &self.json {
            Some(file) if file.as_os_str() == "-" => print::line(report::load_json(load, name, method).trim_end())?,
            other => {
                print::line(report::load_table(load, method).trim_end())?;
                if let Some(file) = other {
                    write(file, &report::load_json(load, name, method))?;
                }
            }
        }
        if let Some(file) = &self.histogram {
            write(file, &report::load_percentiles(load))?;
        }
        if let Some(file) = &self.plot {
            match report::load_plot(load, name, method) {
                Some(svg) => write(file, &svg)?,
                None => print::note(&format!("{} is not written: no call succeeded", file.display())),
            }
        }
        Ok(())
    }
}

/// Measures and reports.
pub(super) fn main(mut arguments: Arguments) -> anyhow::Result<ExitCode> {
    arguments.user.set()?;
    arguments.target.fetch()?;
    let target = arguments.target.clone();
    let repeated = Limit::of(arguments.timeout).run(move || Repeated::prepare(target))?;
    let (method, plan) = (repeated.name(), arguments.plan());
    let is_interrupted = interrupts()?;
    let shows = arguments.progress || std::io::stderr().is_terminal();
    let progress = |state: Progress| {
        if shows {
            show(state);
        }
    };
    let load = load::run(Arc::new(Called(repeated)), &plan, &is_interrupted, progress)
        .map_err(|error| exit::runtime_error(&error, format!("`{}`: {error}", arguments.target.name)))?;
    arguments.report(&load, &method)?;
    ending(&load, &method)
}

/// Returns the exit code of a run, or the error by which it ended.
fn ending(load: &Load, method: &str) -> anyhow::Result<ExitCode> {
    if let Some(error) = &load.lost {
        let after = load.measured.as_secs_f64();
        let text = match error.code() {
            code::RPC_E_TIMEOUT => format!(
                "the server of {method} stopped answering after {after:.1} s of measurement, and may have ended: {error}"
            ),
            _ => format!("the server of {method} ended after {after:.1} s of measurement: {error}"),
        };
        return Err(exit::runtime_error(error, text));
    }
    let timeouts = code::RPC_E_TIMEOUT.0;
    Ok(match load.failures.iter().find(|failure| failure.code != timeouts).or_else(|| load.failures.first()) {
        None => ExitCode::SUCCESS,
        Some(failure) if failure.code == timeouts => exit::code_for(&Error::from(code::RPC_E_TIMEOUT)),
        Some(_) => ExitCode::FAILURE,
    })
}

/// Returns a flag that the first signal sets. A second signal ends the process.
fn interrupts() -> anyhow::Result<Arc<AtomicBool>> {
    obvia::catch_signals().context("catching signals")?;
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_interrupted);
    let wait = move || {
        if obvia::wait_for_signal().is_ok() {
            flag.store(true, Ordering::Relaxed);
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).context("waiting for signals")?;
    Ok(is_interrupted)
}

fn show(Progress { seconds, calls, failed }: Progress) {
    let state = if seconds > 0.0 { format!("{seconds:.0} s") } else { "warm-up".to_owned() };
    print::note(&format!("{state}: {calls} calls, {failed} failed"));
}

/// The method of a server, for the run.
struct Called(Repeated);

impl load::Target for Called {
    fn connect(&self) -> obvia::Result<Box<dyn Caller>> {
        Ok(Box::new(Connection(self.0.connect()?)))
    }

    fn probe(&self) -> obvia::Result<()> {
        self.0.probe()
    }
}

struct Connection(Connected);

impl Caller for Connection {
    fn call(&mut self) -> obvia::Result<()> {
        self.0.call()
    }
}

#[cfg(test)]
mod tests {
    use super::{length, rate, warmup};
    use std::time::Duration;

    #[test]
    fn rates_and_times_outside_of_their_limits_are_refused() {
        assert_eq!(rate("0.5"), Ok(0.5));
        assert_eq!(warmup("0"), Ok(Duration::ZERO));
        assert_eq!(length("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["0", "-1", "inf", "NaN", "2e7", "x"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0", "-1", "inf", "NaN", "86401", "x"] {
            assert!(length(wrong).is_err(), "{wrong}");
        }
        assert!(warmup("-1").is_err() && warmup("86401").is_err());
    }
}
