//! `icount`: counts the instructions that a call takes on each side, without transport and without the method itself.
//!
//! Each side runs under callgrind, with few calls and with many; the difference is the calls' alone. An instruction belongs
//! to the floor whose source it was made from, after all inlining: see [`floor`]. What it calls in other libraries (copying,
//! allocating) belongs to it. `bench/icounts.csv` keeps what a call may take: 2 % more is an error.

mod attribution;
mod callgrind;
mod floor;
mod lines;
mod native;
mod report;

use crate::program::{Program, target};
use crate::repo::root;
use crate::test::examples::Names;
use crate::tools::{self, Tool};
use crate::{Outcome, Problem};
use callgrind::Profile;
use floor::Floor;
use lines::Lines;
use report::{Count, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// The methods of `bench/icount.idl`, and how many elements their arrays have.
const CASES: [(&str, u32); 11] = [
    ("null", 16),
    ("pfs_open", 16),
    ("pfs_write", 16),
    ("pfs_write", 1024),
    ("pfs_get_direntries", 16),
    ("pfs_get_direntries", 1024),
    ("MoveData", 16),
    ("MoveData", 1024),
    ("copy_in", 16),
    ("copy_out", 16),
    ("copy_both", 16),
];
/// Calls of the shorter and of the longer run.
const CALLS: [u32; 2] = [500, 4_500];
/// The function of the Rust program that calls the methods.
const ENTRY: &str = "entry_client";
/// What the names of the functions in an object's vtable have in them.
const ADAPTER: &str = "_Vtbl::new::";
const BUDGET: &str = "bench/icounts.csv";
const DOCUMENT: &str = "docs/icount.md";

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let mut json = None;
    let mut bless = false;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bless" => bless = true,
            "--json" => json = Some(arguments.next().ok_or_else(|| Problem::failed("--json wants a file"))?),
            _ => return Err(Problem::failed("usage: cargo xtask icount [--json FILE] [--bless]")),
        }
    }
    tools::ensure(&[Tool::Valgrind, Tool::Addr2line])?;
    let report = measure()?;
    println!("\n{}", report.table());
    if let Some(path) = json {
        write(Path::new(path), &report.json())?;
    }
    if bless {
        write(&root().join(BUDGET), &report.csv())?;
        let document = root().join(DOCUMENT);
        let text = read(&document)?;
        return write(&document, &report.put_into(&text).map_err(Problem::Failed)?);
    }
    let budget = read(&root().join(BUDGET))?;
    let notes = report.compare(&budget).map_err(Problem::Failed)?;
    for note in notes {
        println!("{note}");
    }
    Ok(())
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| failed(path, &error))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> Problem {
    Problem::Failed(format!("{}: {error}", path.display()))
}

/// Builds the program in Rust that makes the calls, with the features that other people's crates have for the command: see
/// [`Program::cargo_build`].
fn build() -> Outcome {
    let packages = ["--package", "obvia-cli", "--package", "obvia-bench"];
    Program::cargo(&["build", "--quiet", "--release", "--bin", "obvia-icount"]).with(&packages).run()
}

fn measure() -> Outcome<Report> {
    build()?;
    let folder = target().join("icount");
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let mut report = Report::default();
    let rust = Run { language: "rust", binary: target().join("release/obvia-icount"), names: Names::new()?, folder };
    measure_with(&rust, &mut report)?;
    let cpp = Run { language: "cpp", binary: native::build(&rust.folder)?, ..rust };
    measure_with(&cpp, &mut report)?;
    Ok(report)
}

fn measure_with(run: &Run, report: &mut Report) -> Outcome {
    // Rust's stubs are the same for any number of elements; that they stay so is seen often enough in C++.
    let is_counted = |(_, words): &(&str, u32)| run.language != "rust" || *words == 16;
    for (method, words) in CASES.into_iter().filter(is_counted) {
        println!("    counting {method} with {words} words in {}", run.language);
        // Both at once: what is counted does not depend on time.
        let (few, many) = std::thread::scope(|scope| {
            let few = scope.spawn(|| run.profiles(method, words, CALLS[0]));
            let many = run.profiles(method, words, CALLS[1]);
            (few.join(), many)
        });
        let (few, many) = (few.map_err(|_| Problem::failed("counting panicked"))??, many?);
        let calls = f64::from(CALLS[1] - CALLS[0]);
        for (side, few, many) in [("client", few.0, many.0), ("server", few.1, many.1)] {
            let instructions = run.per_call(&few, many, calls)?;
            report.counts.push(Count { language: run.language, method, words, side, instructions });
        }
    }
    Ok(())
}

/// One measurement's place.
struct Run {
    language: &'static str,
    names: Names,
    binary: PathBuf,
    folder: PathBuf,
}

impl Run {
    /// Makes so many calls, and gives the profiles of client and server.
    fn profiles(&self, method: &str, words: u32, calls: u32) -> Outcome<(Profile, Profile)> {
        let out = |side: &str| self.folder.join(format!("{side}-{calls}.out"));
        let (client, server) = (out("client"), out("server"));
        for path in [&client, &server] {
            // It may not be there; a stale one must not be read.
            let _ = fs::remove_file(path);
        }
        let mut serving =
            Serving::start(&self.under_callgrind(&server).with(&["serve", &format!("{method}-{calls}")]))?;
        let (name, calls, words) = (format!("{method}-{calls}"), calls.to_string(), words.to_string());
        self.under_callgrind(&client).with(&["call", &name, method, &calls, &words]).read()?;
        serving.end()?;
        Ok((profile(&client)?, profile(&server)?))
    }

    fn under_callgrind(&self, out: &Path) -> Program {
        let program = Program::new("valgrind", &["--quiet", "--tool=callgrind", "--dump-instr=yes"])
            .argument(format!("--callgrind-out-file={}", out.display()))
            .argument(self.binary.display().to_string());
        self.names.see(program)
    }

    /// Instructions per call by floor.
    fn per_call(&self, few: &Profile, many: Profile, calls: f64) -> Outcome<BTreeMap<Floor, f64>> {
        let per_calls = many.minus(few);
        let mut floors = if self.language == "rust" {
            self.rust_floors(&per_calls)?
        } else {
            let binary = self.binary.display().to_string();
            attribution::by_function(&per_calls, (calls / 1000.0) as i64, |name| native::floor_of(name, &binary))
        };
        for instructions in floors.values_mut() {
            *instructions /= calls;
        }
        Ok(floors)
    }

    fn rust_floors(&self, per_calls: &Profile) -> Outcome<BTreeMap<Floor, f64>> {
        let binary = self.binary.display().to_string();
        let own = per_calls.functions.iter().filter(|(name, _)| name.0 == binary);
        let addresses: BTreeSet<u64> = own
            .flat_map(|(_, function)| function.own.keys().chain(function.calls.keys().map(|(address, _)| address)))
            .copied()
            .collect();
        let lines = Lines::of(&self.binary, addresses.into_iter())?;
        let floor_of = |name: &callgrind::Name, address| match name {
            (object, _) if *object != binary => None,
            (_, function) if floor::is_hand_over(function) => Some(Floor::Transport),
            // What the wrapper was made from, inlined into its caller; the vtable's method is a function of its own. So it is where an
            // object's vtable has what makes a method of a trait a method of COM.
            (_, function) if function.ends_with(ENTRY) || function.contains(ADAPTER) => {
                match floor::of(lines.files(address)) {
                    Some(floor) if floor.is_counted() => Some(Floor::Wrapper),
                    other => other,
                }
            }
            _ => floor::of(lines.files(address)),
        };
        Ok(attribution::by_floor(per_calls, floor_of))
    }
}

fn profile(path: &Path) -> Outcome<Profile> {
    Profile::parse(&read(path)?).map_err(|why| Problem::Failed(format!("{}: {why}", path.display())))
}

/// The server under callgrind. It ends when its standard input does.
struct Serving(Child);

impl Serving {
    fn start(program: &Program) -> Outcome<Self> {
        let failed = |why: &str| Problem::Failed(format!("{}: {why}", program.line()));
        let mut child = program
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&error.to_string()))?;
        let output = child.stdout.take();
        let serving = Self(child);
        let mut first = String::new();
        match output.map(|output| BufReader::new(output).read_line(&mut first)) {
            Some(Ok(count)) if count > 0 => Ok(serving),
            _ => Err(failed("ended before it was ready")),
        }
    }

    fn end(&mut self) -> Outcome {
        drop(self.0.stdin.take());
        match self.0.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Problem::Failed(format!("the server ended with {status}"))),
            Err(error) => Err(Problem::Failed(format!("the server cannot be waited for: {error}"))),
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // After `end` there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
