//! Measures calls of other systems beside obvia's, all in one run, in turns.

mod case;
mod client;
#[cfg(test)]
mod fake;
mod folder;
mod report;
mod system;
mod table;

use case::{CROWD, Calls, Load, SERVE, Subject};
use clap::{Args, Parser, Subcommand};
use folder::Folder;
use obvia_bench::clients::raise_descriptors;
use obvia_bench::{
    Case, Error, Machine, Measured, Parent, Placement, Plan, ProgressLine, Wait, end_on_signal, pin, run, size,
};
use report::Report;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use system::Place;
use table::{ENTRIES, Entry};

/// Measures calls of other systems beside obvia's, all in one run, in turns: a null call, and an
/// array that goes there and back. Each server is a process of its own.
#[derive(Parser)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Systems: obvia, unix (a socket without any framework), capnp, grpc (tonic), tarpc, zbus, iceoryx2.

Examples:
  cargo xtask bench-peers --quick
      a first impression, in a minute or two
  cargo xtask bench-peers --systems obvia,grpc --sizes 8K --callers 1 --clients 1
      calls of one other system without arguments and with one size
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
        system: String,
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
        system: String,
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
    systems: Vec<String>,
    /// Sizes of the array [default: 64,1K,8K,64K,1M; with --quick: 64,8K]
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = size)]
    sizes: Option<Vec<usize>>,
    /// Numbers of clients that call at once, besides 1
    #[arg(long, value_delimiter = ',', value_name = "N", default_value = "2,4", value_parser = clap::value_parser!(u32).range(1..=64))]
    callers: Vec<u32>,
    /// Numbers of connected clients of which one calls, besides 1
    /// [default: 10,100,1000; with --quick: 100]
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
const CLIENTS: [u32; 3] = [10, 100, 1000];
const CLIENTS_QUICK: [u32; 1] = [100];
/// The size of the array that several callers exchange.
const CALLERS_BYTES: usize = 8 << 10;
/// The maximum number of calls in a batch. Batches reach their time limit first. A batch has as
/// many calls as its time limit permits, because large batches spread the start and the end of each
/// caller over more calls.
const BATCH_MAX: u32 = 1_000_000;

impl Extent {
    fn entries(&self) -> Result<Vec<&'static Entry>, Error> {
        for name in &self.systems {
            Entry::named(name)?;
        }
        let is_wanted = |entry: &&Entry| self.systems.is_empty() || self.systems.iter().any(|name| name == entry.name);
        Ok(ENTRIES.iter().filter(is_wanted).collect())
    }

    /// Returns the kinds of calls, each once.
    fn loads(&self) -> Vec<Load> {
        let (sizes, clients): (&[usize], &[u32]) =
            if self.quick { (&SIZES_QUICK, &CLIENTS_QUICK) } else { (&SIZES, &CLIENTS) };
        let sizes = self.sizes.as_deref().unwrap_or(sizes);
        let clients = self.clients.as_deref().unwrap_or(clients);
        let alone = [0].iter().chain(sizes).map(|bytes| Load { bytes: *bytes, callers: 1, clients: 1 });
        let several = self.callers.iter().filter(|callers| **callers > 1);
        let several = several
            .flat_map(|callers| [0, CALLERS_BYTES].map(|bytes| Load { bytes, callers: *callers, clients: *callers }));
        let beside = clients.iter().filter(|clients| **clients > 1);
        let beside = beside.map(|clients| Load { bytes: 0, callers: 1, clients: *clients });
        let mut loads = Vec::new();
        for load in alone.chain(several).chain(beside) {
            if !loads.contains(&load) {
                loads.push(load);
            }
        }
        loads
    }

    fn plan(&self, placement: Placement) -> Plan {
        Plan {
            rounds: self.rounds.unwrap_or(if self.quick { 5 } else { 51 }),
            batch: BATCH_MAX,
            batch_time: Duration::from_millis(if self.quick { 5 } else { 25 }),
            placement: Some(placement),
        }
    }

    /// Measures on a new thread, because pinning would confine the calling thread to one processor
    /// for good.
    fn measure(&self, entries: &[&'static Entry], placement: Placement) -> Result<Report, Error> {
        let machine = Machine::read(Some(placement));
        let measuring = std::thread::scope(|scope| {
            let measure = || {
                // Threads that call and processes with idle clients inherit the processor.
                pin(placement.client)?;
                measure(entries, &self.loads(), &self.plan(placement), placement)
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
            let subject = |wait: &Wait| Subject { system: entry.name, wait: *wait, load: *load };
            for subject in entry.waits.iter().map(subject).filter(|subject| subject.works(placement)) {
                cases.push(Box::new(Calls::start(entry, subject, folder.path(), placement)));
                subjects.push(subject);
            }
        }
        eprintln!("started {} cases", cases.len());
    }
    let mut progress = ProgressLine::default();
    let measured = run(&mut cases, plan, |state| progress.show(state))?;
    progress.clear();
    // The servers use the folder until they have ended.
    drop(cases);
    Ok((subjects, measured))
}

fn perform(arguments: Arguments) -> Result<ExitCode, Error> {
    match arguments.process {
        Some(Process::Serve { system, place, cpu, parent }) => {
            let parent = Parent::bind(parent, Some(cpu))?;
            (Entry::named(&system)?.serve)(&place, &|| parent.ready())?;
            return Ok(ExitCode::SUCCESS);
        }
        Some(Process::Crowd { system, place, first, count, parent }) => {
            let parent = Parent::bind(parent, None)?;
            case::crowd(Entry::named(&system)?, &place, first, count, parent)?;
            return Ok(ExitCode::SUCCESS);
        }
        None => {}
    }
    let extent = &arguments.extent;
    let entries = extent.entries()?;
    let placement = extent.cpus.map_or_else(Placement::first_two, Ok)?;
    for file in [&extent.table, &extent.json, &extent.plot].into_iter().flatten() {
        make(file)?;
    }
    raise_descriptors()?;
    end_on_signal()?;
    let report = extent.measure(&entries, placement)?;
    let table = report.table();
    print!("{table}");
    write(extent.table.as_deref(), || Ok(table))?;
    write(extent.json.as_deref(), || Ok(report.json()))?;
    write(extent.plot.as_deref(), || report.plot())?;
    Ok(if report.has_failures() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Makes a file of results before the run, so that a wrong path is reported at once. An existing
/// file keeps its contents for now.
fn make(file: &Path) -> Result<(), Error> {
    let open = File::options().append(true).create(true).open(file);
    open.map(drop).map_err(|error| Error::Usage { message: format!("{}: {error}", file.display()) })
}

/// Writes a file of results if the user wants one.
fn write(file: Option<&Path>, text: impl FnOnce() -> Result<String, Error>) -> Result<(), Error> {
    let Some(file) = file else { return Ok(()) };
    fs::write(file, text()?).map_err(Error::system("writing the results"))
}

fn main() -> ExitCode {
    perform(Arguments::parse()).unwrap_or_else(|error| {
        eprintln!("obvia-bench-peers: {error}");
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn extent(line: &str) -> Extent {
        Arguments::try_parse_from(["bench-peers"].into_iter().chain(line.split_whitespace())).unwrap().extent
    }

    fn load(bytes: usize, callers: u32, clients: u32) -> Load {
        Load { bytes, callers, clients }
    }

    #[test]
    fn options_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_quick_run_has_fewer_sizes_and_clients() {
        let quick =
            [(0, 1, 1), (64, 1, 1), (8192, 1, 1), (0, 2, 2), (8192, 2, 2), (0, 4, 4), (8192, 4, 4), (0, 1, 100)];
        let quick = quick.map(|(bytes, callers, clients)| load(bytes, callers, clients));
        assert_eq!(extent("--quick").loads(), quick);
        let whole = extent("").loads();
        assert_eq!(whole.len(), 1 + 5 + 2 * 2 + 3);
        assert!(quick.iter().all(|load| whole.contains(load)));
    }

    #[test]
    fn each_kind_of_call_is_measured_once() {
        let loads = extent("--sizes 8K,64,8192 --callers 1 --clients 1").loads();
        assert_eq!(loads, [load(0, 1, 1), load(8192, 1, 1), load(64, 1, 1)]);
        // Two connected clients, one of which calls, are another case than two clients that call.
        let loads = extent("--sizes 4 --callers 2,2 --clients 2,2").loads();
        assert_eq!(loads, [load(0, 1, 1), load(4, 1, 1), load(0, 2, 2), load(8192, 2, 2), load(0, 1, 2)]);
    }

    #[test]
    fn systems_are_measured_once_in_the_order_of_the_table() {
        let names =
            |line| extent(line).entries().map(|entries| entries.iter().map(|entry| entry.name).collect::<Vec<_>>());
        assert_eq!(names("--systems zbus,obvia,zbus").unwrap(), ["obvia", "zbus"]);
        assert_eq!(names("").unwrap().len(), ENTRIES.len());
        let error = names("--systems obvia,corba").unwrap_err().to_string();
        assert!(error.starts_with("there is no system `corba`, only obvia, unix, "), "{error}");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_reported_with_its_path() {
        let error = make(Path::new("/nowhere/out.md")).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/out.md: No such file"), "{error}");
    }

    #[test]
    fn a_run_with_a_wrong_argument_makes_no_files() {
        let file = std::env::temp_dir().join(format!("obvia-peers-test-{}.md", std::process::id()));
        let line = ["bench-peers", "--systems", "corba", "--table", file.to_str().unwrap()];
        let error = perform(Arguments::try_parse_from(line).unwrap()).unwrap_err().to_string();
        assert!(error.starts_with("there is no system `corba`"), "{error}");
        assert!(!file.exists());
    }
}
