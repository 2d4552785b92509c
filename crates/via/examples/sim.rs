//! Runs trials of the simulated network: `cargo xtask sim [--seeds N] [--seed S] [--verbose]`.
//!
//! Without a seed, runs trials of the seeds from 0 on, on all processors, until one fails. With a
//! seed, runs that trial alone; `--verbose` prints its whole trace.

use obvia_via::provider::sim::trial::{Failure, Summary, replay, trial};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The default number of seeds.
const SEEDS: u64 = 10_000;
/// The time between progress reports.
const REPORT: Duration = Duration::from_secs(10);

/// The parsed command line.
struct Wanted {
    seeds: u64,
    seed: Option<u64>,
    is_verbose: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(wanted) = read(&arguments) else {
        eprintln!("usage: sim [--seeds N] [--seed S] [--verbose]");
        return ExitCode::from(2);
    };
    match wanted.seed {
        Some(seed) => one(seed, wanted.is_verbose),
        None => many(wanted.seeds),
    }
}

fn read(arguments: &[String]) -> Option<Wanted> {
    let mut wanted = Wanted { seeds: SEEDS, seed: None, is_verbose: false };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seeds" => wanted.seeds = arguments.next()?.parse().ok()?,
            "--seed" => wanted.seed = Some(arguments.next()?.parse().ok()?),
            "--verbose" => wanted.is_verbose = true,
            _ => return None,
        }
    }
    Some(wanted)
}

fn one(seed: u64, is_verbose: bool) -> ExitCode {
    let (outcome, trace) = replay(seed);
    if is_verbose || outcome.is_err() {
        println!("{trace}");
    }
    match outcome {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(what) => {
            println!("seed {seed}: {what}");
            ExitCode::FAILURE
        }
    }
}

fn many(seeds: u64) -> ExitCode {
    let next = AtomicU64::new(0);
    let total = Mutex::new(Summary::default());
    let failed: Mutex<Option<Box<Failure>>> = Mutex::new(None);
    let began = Instant::now();
    let said = Mutex::new(began);
    let work = || {
        while let seed = next.fetch_add(1, Ordering::Relaxed)
            && seed < seeds
        {
            match trial(seed, None) {
                Ok(summary) => total.lock().unwrap().add(&summary),
                Err(failure) => {
                    // The other threads stop after their current trials.
                    next.store(seeds, Ordering::Relaxed);
                    let mut failed = failed.lock().unwrap();
                    if failed.as_ref().is_none_or(|earlier| failure.seed < earlier.seed) {
                        *failed = Some(failure);
                    }
                }
            }
            let mut said = said.lock().unwrap();
            if said.elapsed() >= REPORT {
                *said = Instant::now();
                println!("{seed} of {seeds} trials in {:.0} s", began.elapsed().as_secs_f64());
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().unwrap();
    if let Some(failure) = failed {
        println!("{failure}\nagain: cargo xtask sim --seed {}", failure.seed);
        return ExitCode::FAILURE;
    }
    println!("{}\nin {:.1} s, and every promise was kept", total.into_inner().unwrap(), began.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}
