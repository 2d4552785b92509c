//! The subcommand `obvia bench load`: the latency of a running server under load.

use super::measuring::write;
use crate::call::{Connected, Repeated, Target};
use crate::credentials::User;
use crate::limit::{Limit, seconds};
use crate::{exit, print};
use anyhow::Context;
use clap::Args;
use obvia::{Error, code, dynamic};
use obvia_bench::load::{self, Caller, Ending, Load, Plan, Progress};
use obvia_bench::report;
use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The longest time that an option accepts.
const DAY: Duration = Duration::from_secs(86_400);
/// The measured time without `--duration` and `--calls`.
const DURATION: Duration = Duration::from_secs(10);

/// Load for a running server: latency of a method under as many calls as it answers, or at a rate
///
/// Calls a method of a running server again and again, and measures how long its answers take. The
/// method and its arguments are written as for `obvia call`. Without --rate the loop is closed: a
/// connection makes its next call as soon as the previous call is answered. With --rate the loop is
/// open: calls are due at fixed times. Latencies count from the due times, so a slow server cannot
/// lower the load and improve its percentiles.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench load calc Add 2 3                             one connection, as fast as answers come, for 10 s
  obvia bench load calc Add 2 3 --connections 4 --rate 5000 5000 calls a second by four connections
  obvia bench load calc Sum @numbers.json --calls 100000 --json out.json
  obvia bench load 'ncacn_vi_udp:10.0.0.1[5555,name=calc]' Add 2 3 --rate 200 --plot out.svg
  obvia bench load calc Add 2 3 --histogram out.hgrm        percentiles, for the plotters of HdrHistogram

Ctrl-C ends the run and prints what was measured. The exit code is 0 if all calls succeeded, 1 if calls failed by another
error than a timeout, 2 for wrong usage, 3 if there is no server or the server ended, and 4 if all failures are
timeouts, calls had no answer at the end, the server no longer answers, or connecting took too long.")]
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
    /// Measured seconds [default: 10; with --calls: no limit below a day]
    #[arg(long, value_name = "SECONDS", value_parser = length)]
    duration: Option<Duration>,
    /// Seconds of calls before the measurement begins
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = warmup)]
    warmup: Duration,
    /// End the run after this many measured calls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    calls: Option<u64>,
    /// Seconds after which a call fails
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = length)]
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
    if (RATE_MIN..=RATE_MAX).contains(&rate) {
        Ok(rate)
    } else {
        Err("must be from 1/86400, a call a day, to 10000000".to_owned())
    }
}

fn length(text: &str) -> Result<Duration, String> {
    seconds(text).and_then(up_to_a_day)
}

fn warmup(text: &str) -> Result<Duration, String> {
    if text.parse() == Ok(0.0) { Ok(Duration::ZERO) } else { length(text) }
}

fn up_to_a_day(time: Duration) -> Result<Duration, String> {
    if time <= DAY { Ok(time) } else { Err("must be at most 86400, a day".to_owned()) }
}

impl Arguments {
    fn plan(&self) -> anyhow::Result<Plan> {
        let duration = self.duration.or_else(|| self.calls.is_none().then_some(DURATION));
        if let (Some(rate), Some(duration)) = (self.rate, duration)
            && rate * duration.as_secs_f64() < 1.0
        {
            let (seconds, least) = (duration.as_secs_f64(), 1.0 / rate);
            return Err(exit::usage(format!(
                "`--rate {rate}`: no call is due within {seconds} seconds; give a `--duration` of at least {least:.3}"
            )));
        }
        Ok(Plan {
            connections: self.connections,
            rate: self.rate,
            warmup: self.warmup,
            duration,
            calls: self.calls,
            timeout: self.timeout,
        })
    }

    /// Verifies that the files of the results can be written, before the time of a run is spent.
    fn verify_files(&self) -> anyhow::Result<()> {
        let json = self.json.iter().filter(|file| file.as_os_str() != "-");
        json.chain(&self.histogram).chain(&self.plot).try_for_each(|file| verify_writable(file))
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

/// Verifies that a file can be written. An existing file keeps its content, and a file that does
/// not exist is removed again.
fn verify_writable(file: &Path) -> anyhow::Result<()> {
    let known = file.symlink_metadata();
    if known.as_ref().is_ok_and(|known| !known.is_file() && !known.is_dir()) {
        // Opening a pipe for writing would wait for a reader.
        return Ok(());
    }
    let context = || format!("writing {}", file.display());
    File::options().write(true).create(true).truncate(false).open(file).with_context(context)?;
    if known.is_err() {
        std::fs::remove_file(file).with_context(context)?;
    }
    Ok(())
}

/// Measures and reports.
pub(super) fn main(mut arguments: Arguments) -> anyhow::Result<ExitCode> {
    let plan = arguments.plan()?;
    arguments.verify_files()?;
    arguments.user.set()?;
    arguments.target.fetch()?;
    let target = arguments.target.clone();
    let limit = arguments.timeout.max(load::PREPARATION_MIN);
    let repeated = Limit::of(limit).run(move || Repeated::prepare(target))?;
    let method = repeated.name();
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
    // After an interrupt, calls are unanswered even if the server works.
    let has_silent = load.unanswered > 0 && load.ended_by != Ending::Interrupt;
    Ok(if load.failures.iter().any(|failure| failure.code != timeouts) {
        ExitCode::FAILURE
    } else if has_silent || !load.failures.is_empty() {
        exit::code_for(&Error::from(code::RPC_E_TIMEOUT))
    } else {
        ExitCode::SUCCESS
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

/// The method that the run calls.
struct Called(Repeated);

impl load::Target for Called {
    fn connect(&self) -> obvia::Result<Box<dyn Caller>> {
        Ok(Box::new(Connection(self.0.connect()?)))
    }

    fn probe(&self, limit: Duration) -> obvia::Result<()> {
        dynamic::with_unsent_timeout(limit, || self.0.probe())
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
    use super::{Ending, Load, Plan, code, ending, length, rate, warmup};
    use obvia_bench::load::Failure;
    use obvia_bench::{Histogram, Machine};
    use std::time::Duration;

    /// Returns the exit code, as text, of a run with failures of these codes.
    fn exit_code(ended_by: Ending, unanswered: u64, failures: &[obvia::HRESULT]) -> String {
        let second = Duration::from_secs(1);
        let failure = |code: &obvia::HRESULT| Failure { code: code.0, message: String::new(), count: 1 };
        let load = Load {
            machine: Machine::read(None),
            plan: Plan {
                connections: 1,
                rate: None,
                warmup: second,
                duration: Some(second),
                calls: None,
                timeout: second,
            },
            ended_by,
            lost: None,
            measured: second,
            latency: Histogram::new(),
            failures: failures.iter().map(failure).collect(),
            unanswered,
            late: 0,
            still_due: 0,
        };
        format!("{:?}", ending(&load, "ICalc.Add").unwrap())
    }

    #[test]
    fn the_exit_code_tells_timeouts_from_other_failures() {
        let (timeout, other) = (code::RPC_E_TIMEOUT, code::E_INVALIDARG);
        let cases: [(Ending, u64, &[obvia::HRESULT], u8); 6] = [
            (Ending::Duration, 0, &[], 0),
            (Ending::Duration, 0, &[timeout], 4),
            (Ending::Duration, 0, &[timeout, other], 1),
            (Ending::Duration, 2, &[], 4),
            (Ending::Calls, 2, &[other], 1),
            (Ending::Interrupt, 2, &[], 0),
        ];
        for (ended_by, unanswered, failures, expected) in cases {
            let found = exit_code(ended_by, unanswered, failures);
            let expected = format!("{:?}", std::process::ExitCode::from(expected));
            assert_eq!(found, expected, "{ended_by:?}, {unanswered} unanswered, {failures:?}");
        }
    }

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
