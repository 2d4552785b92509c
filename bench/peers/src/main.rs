//! Measures calls of other systems beside obvia's, all in one run, in turns.

mod caller;
mod case;
mod folder;
mod peer;
mod report;
mod table;

use case::{CROWD, Calls, Load, SERVE, Subject};
use clap::{Args, Parser, Subcommand};
use folder::Folder;
use obvia_bench::{Case, Error, Machine, Measured, Parent, Placement, Plan, Progress, Wait, end_on_signal, pin, run};
use peer::Place;
use report::Report;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use table::{ENTRIES, Entry};

/// Measures calls of other systems beside obvia's, all in one run, in turns: a null call, and an
/// array that goes there and back. Each server is a process of its own.
#[derive(Parser)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Peers: obvia, unix (a socket without any framework), capnp, grpc (tonic), tarpc, zbus, iceoryx2.

Examples:
  cargo xtask bench-peers --quick                       a first impression, in a minute or two
  cargo xtask bench-peers --peers obvia,grpc --sizes 8K one other system, one size
  cargo xtask bench-peers --table out.md --json out.json --plot out.svg"
)]
struct Arguments {
    #[command(subcommand)]
    process: Option<Process>,
    #[command(flatten)]
    extent: Extent,
}

#[derive(Subcommand)]
enum Process {
    /// The server process of a case: for the program's own use
    #[command(name = SERVE, hide = true)]
    Serve {
        peer: String,
        #[command(flatten)]
        place: Place,
        #[arg(long)]
        cpu: usize,
        #[arg(long)]
        parent: u32,
    },
    /// A process with idle clients: for the program's own use
    #[command(name = CROWD, hide = true)]
    Crowd {
        peer: String,
        #[command(flatten)]
        place: Place,
        #[arg(long)]
        first: u32,
        #[arg(long)]
        count: u32,
        #[arg(long)]
        parent: u32,
    },
}

/// The extent of a measurement, and the files for its results.
#[derive(Args)]
struct Extent {
    /// Systems to measure [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    peers: Vec<String>,
    /// Sizes of the array [default: 64,1K,8K,64K,1M; with --quick: 64,8K]
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = size)]
    sizes: Option<Vec<usize>>,
    /// Numbers of clients that call at once
    #[arg(long, value_delimiter = ',', value_name = "N", default_value = "1,2,4", value_parser = clap::value_parser!(u32).range(1..=64))]
    callers: Vec<u32>,
    /// Numbers of connected clients of which one calls
    /// [default: 1,10,100,1000; with --quick: 1,100]
    #[arg(long, value_delimiter = ',', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    clients: Option<Vec<u32>>,
    /// Rounds; each takes one batch of every case [default: 51; with --quick: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// CPUs of clients and servers [default: the first two]
    #[arg(long, value_name = "CLIENT,SERVER")]
    cpus: Option<Placement>,
    /// Measure less of everything
    #[arg(long)]
    quick: bool,
    /// Write the table, in Markdown
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the calls with arrays as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

const SIZES: [usize; 5] = [64, 1 << 10, 8 << 10, 64 << 10, 1 << 20];
const SIZES_QUICK: [usize; 2] = [64, 8 << 10];
const CLIENTS: [u32; 4] = [1, 10, 100, 1000];
const CLIENTS_QUICK: [u32; 2] = [1, 100];
/// The size of the array that several callers exchange.
const CALLERS_BYTES: usize = 8 << 10;
/// The longest array.
const BYTES_MAX: usize = 4 << 20;

/// Parses a number of bytes, as in `64`, `8K`, `1M`: a multiple of 4.
fn size(text: &str) -> Result<usize, String> {
    let units = [('K', 1 << 10), ('M', 1 << 20)];
    let unit = units.into_iter().find_map(|(letter, unit)| Some((text.strip_suffix(letter)?, unit)));
    let (digits, unit) = unit.unwrap_or((text, 1));
    let bytes: Option<usize> = digits.parse().ok().and_then(|number: usize| number.checked_mul(unit));
    bytes
        .filter(|bytes| (4..=BYTES_MAX).contains(bytes) && bytes.is_multiple_of(4))
        .ok_or_else(|| "expected a multiple of 4 bytes, from 4 to 4M".to_owned())
}

impl Extent {
    fn entries(&self) -> Result<Vec<&'static Entry>, Error> {
        if self.peers.is_empty() {
            return Ok(ENTRIES.iter().collect());
        }
        self.peers.iter().map(|name| Entry::named(name)).collect()
    }

    /// Returns the kinds of calls.
    fn loads(&self) -> Vec<Load> {
        let (sizes, clients): (&[usize], &[u32]) =
            if self.quick { (&SIZES_QUICK, &CLIENTS_QUICK) } else { (&SIZES, &CLIENTS) };
        let sizes = self.sizes.as_deref().unwrap_or(sizes);
        let clients = self.clients.as_deref().unwrap_or(clients);
        let alone = [0].iter().chain(sizes).map(|bytes| Load { bytes: *bytes, callers: 1, clients: 1 });
        let several = self
            .callers
            .iter()
            .flat_map(|callers| [0, CALLERS_BYTES].map(|bytes| Load { bytes, callers: *callers, clients: *callers }));
        let beside = clients.iter().map(|clients| Load { bytes: 0, callers: 1, clients: *clients });
        let is_more = |load: &Load| load.clients > 1;
        alone.chain(several.filter(is_more)).chain(beside.filter(is_more)).collect()
    }

    fn plan(&self, placement: Placement) -> Plan {
        Plan {
            rounds: self.rounds.unwrap_or(if self.quick { 5 } else { 51 }),
            batch: if self.quick { 200 } else { 1000 },
            batch_time: Duration::from_millis(if self.quick { 5 } else { 25 }),
            placement: Some(placement),
        }
    }

    /// Measures on a thread of its own, because pinning would confine this thread for good.
    fn measure(&self) -> Result<Report, Error> {
        let placement = self.cpus.map_or_else(Placement::first_two, Ok)?;
        let machine = Machine::read(Some(placement));
        let entries = self.entries()?;
        let measuring = std::thread::scope(|scope| {
            let measure = || {
                // Threads that call and processes with idle clients inherit the processor.
                pin(placement.client)?;
                measure(&entries, &self.loads(), &self.plan(placement), placement)
            };
            scope.spawn(measure).join()
        });
        let panicked = |_| Err(Error::Failed { message: "the measurement panicked".to_owned() });
        let (subjects, measured) = measuring.unwrap_or_else(panicked)?;
        Ok(Report::new(machine, &subjects, measured))
    }
}

/// Starts all cases and measures them in turns.
fn measure(
    entries: &[&'static Entry],
    loads: &[Load],
    plan: &Plan,
    placement: Placement,
) -> Result<(Vec<Subject>, Vec<Measured>), Error> {
    let folder = Folder::new()?;
    let mut subjects = Vec::new();
    let mut cases: Vec<Box<dyn Case>> = Vec::new();
    for load in loads {
        for entry in entries {
            let subject = |wait: &Wait| Subject { peer: entry.name, wait: *wait, load: *load };
            for subject in entry.waits.iter().map(subject).filter(|subject| subject.works(placement)) {
                cases.push(Box::new(Calls::start(entry, subject, folder.path(), placement)));
                subjects.push(subject);
            }
        }
        eprintln!("started {} cases", cases.len());
    }
    let mut shown = Instant::now();
    let measured = run(&mut cases, plan, |Progress { round, rounds, next }| {
        if shown.elapsed() > Duration::from_secs(5) {
            shown = Instant::now();
            let (round, path, wait) = (round + 1, next.path.name(), next.wait.name());
            eprintln!("round {round} of {rounds}: {} of {} bytes over {path} ({wait})", next.case, next.bytes);
        }
    })?;
    // The servers use the folder until they have ended.
    drop(cases);
    Ok((subjects, measured))
}

fn perform(arguments: Arguments) -> Result<ExitCode, Error> {
    match arguments.process {
        Some(Process::Serve { peer, place, cpu, parent }) => {
            let parent = Parent::bind(parent, Some(cpu))?;
            (Entry::named(&peer)?.serve)(&place, &|| parent.ready())?;
            return Ok(ExitCode::SUCCESS);
        }
        Some(Process::Crowd { peer, place, first, count, parent }) => {
            let parent = Parent::bind(parent, None)?;
            case::crowd(Entry::named(&peer)?, &place, first, count, || parent.ready())?;
            return Ok(ExitCode::SUCCESS);
        }
        None => {}
    }
    let extent = &arguments.extent;
    raise_descriptors()?;
    end_on_signal()?;
    let report = extent.measure()?;
    let table = report.table();
    print!("{table}");
    write(extent.table.as_deref(), || Ok(table))?;
    write(extent.json.as_deref(), || Ok(report.json()))?;
    write(extent.plot.as_deref(), || report.plot())?;
    Ok(if report.has_failures() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Raises the limit of open files of this process, and of those that it starts, as far as the user
/// may: a server of a thousand clients has a descriptor for each.
fn raise_descriptors() -> Result<(), Error> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })
        .map_err(Error::system("raising the limit of open files"))
}

/// Writes a file of results if it is wanted.
fn write(file: Option<&Path>, text: impl FnOnce() -> Result<String, Error>) -> Result<(), Error> {
    let Some(file) = file else { return Ok(()) };
    std::fs::write(file, text()?).map_err(Error::system("writing the results"))
}

fn main() -> ExitCode {
    perform(Arguments::parse()).unwrap_or_else(|error| {
        eprintln!("obvia-bench-peers: {error}");
        ExitCode::FAILURE
    })
}
