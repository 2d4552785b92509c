//! `icount`: counts the instructions of a call on each side, without the transport and without the
//! method itself.
//!
//! Each side runs under callgrind, which is switched on and off around the call's own code: see
//! [`sides`]. An instruction belongs to the layer from whose source it was compiled, after all
//! inlining: see [`floor`]. Instructions in other libraries (copying, allocating) belong to the
//! layer that called the library. `bench/icounts.csv` contains the budget of each call: a single
//! additional instruction is an error.

mod attribution;
mod callgrind;
mod floor;
mod lines;
mod native;
mod report;
mod sides;

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::root;
use crate::tools::{self, Tool};
use crate::workspace;
use callgrind::{Name, Profile};
use floor::Floor;
use lines::Lines;
use report::{Count, Report};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The methods of `bench/counted/icount.idl`, each with the number of its arrays' elements.
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
/// The number of elements in the arrays of calls that are counted by default.
const SHORT: u32 = 16;
/// The name of the test build of the program in Rust. The program and its stubs are optimized, but
/// the libraries are not. So the counts are higher than in an optimized build, and only their
/// changes matter.
const TEST_BUILD: &str = "rust-test";
/// The program in Rust that makes the calls.
const PROGRAM: &str = "obvia-icount";
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
    let report = optimized()?;
    println!("\n{}", report.table());
    if let Some(path) = json {
        write(Path::new(path), &report.json())?;
    }
    if bless {
        write(&root().join(BUDGET), &(report.csv() + &test_build()?.rows()))?;
        let document = root().join(DOCUMENT);
        let text = read(&document)?;
        return write(&document, &report.put_into(&text).map_err(Problem::Failed)?);
    }
    compare(&report)
}

/// Compares some counts with their budgets: the counts of a test build in Rust, and the counts of
/// calls with short arrays in C++. Neither kind of count needs optimized libraries.
pub(crate) fn quick() -> Outcome {
    let mut report = test_build()?;
    cpp(Extent::Short, &mut report)?;
    compare(&report)
}

/// The cases to count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    All,
    /// The cases with arrays of [`SHORT`] elements, and those without arrays.
    Short,
}

/// Fails if a count exceeds its budget. Prints notes about improvements.
fn compare(report: &Report) -> Outcome {
    let budget = read(&root().join(BUDGET))?;
    let notes = report.compare(&budget).map_err(Problem::Failed)?;
    for note in notes {
        println!("{note}");
    }
    Ok(())
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| Problem::at(path, &error))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| Problem::at(path, &error))
}

/// Counts the instructions of optimized programs.
fn optimized() -> Outcome<Report> {
    tools::ensure(&[Tool::Valgrind, Tool::Addr2line])?;
    Program::cargo(&["build", "--quiet", "--release", "--package", PROGRAM]).run()?;
    let mut report = rust("rust", &target().join("release"))?;
    cpp(Extent::All, &mut report)?;
    Ok(report)
}

fn test_build() -> Outcome<Report> {
    tools::ensure(&[Tool::Valgrind])?;
    workspace::build()?;
    rust(TEST_BUILD, &target().join("debug"))
}

/// Counts the instructions of the program in Rust that is in a folder. Rust's stubs do not depend
/// on the number of elements.
fn rust(language: &'static str, built: &Path) -> Outcome<Report> {
    let mut report = Report::default();
    Counting { language, extent: Extent::Short, binary: built.join(PROGRAM) }.count(&mut report)?;
    Ok(report)
}

fn cpp(extent: Extent, report: &mut Report) -> Outcome {
    Counting { language: "cpp", extent, binary: native::build(extent, &folder("stubs")?)? }.count(report)
}

fn folder(name: &str) -> Outcome<PathBuf> {
    let folder = target().join("icount").join(name);
    fs::create_dir_all(&folder).map_err(|error| Problem::at(&folder, &error))?;
    Ok(folder)
}

/// A program that makes the calls.
struct Counting {
    language: &'static str,
    extent: Extent,
    binary: PathBuf,
}

impl Counting {
    fn count(&self, report: &mut Report) -> Outcome {
        println!("    counting {} calls of each method in {}", sides::COUNTED, self.language);
        let is_counted = |(_, words): &(&str, u32)| self.extent == Extent::All || *words == SHORT;
        let cases: Vec<_> = CASES.into_iter().filter(is_counted).collect();
        let profiles = sides::count(&self.binary, &folder(self.language)?, &cases)?;
        let lines = self.lines(profiles.iter().flatten().map(|(_, profile)| profile))?;
        for ((method, words), sides) in cases.into_iter().zip(&profiles) {
            for (side, profile) in sides {
                let instructions = attribution::by_floor(profile, |name, address| self.floor_of(&lines, name, address));
                report.counts.push(Count { language: self.language, method, words, side, instructions });
            }
        }
        Ok(())
    }

    /// Returns the source files of the instructions of the optimized program in Rust. For other
    /// programs the result is empty: instructions in C++ are attributed by function, and the
    /// instructions of a test build are not attributed.
    fn lines<'a>(&self, profiles: impl Iterator<Item = &'a Profile>) -> Outcome<Lines> {
        if self.language != "rust" {
            return Ok(Lines::default());
        }
        let binary = self.binary.display().to_string();
        let own = profiles.flat_map(|profile| &profile.functions).filter(|(name, _)| name.0 == binary);
        let addresses: BTreeSet<u64> = own
            .flat_map(|(_, function)| function.own.keys().chain(function.calls.keys().map(|(address, _)| address)))
            .copied()
            .collect();
        Lines::of(&self.binary, addresses.into_iter())
    }

    fn floor_of(&self, lines: &Lines, name: &Name, address: u64) -> Option<Floor> {
        let binary = self.binary.display().to_string();
        if self.language == "cpp" {
            return native::floor_of(name, &binary);
        }
        if name.0 != binary {
            return None;
        }
        if self.language == TEST_BUILD {
            return Some(Floor::Whole);
        }
        let floor = floor::of(lines.files(address));
        // Code of other layers that was inlined into a wrapper counts as the wrapper's code. A
        // wrapper is the function that makes the calls, or a function of the vtable, which adapts a
        // trait's method to COM.
        let is_wrapper = name.1.ends_with(sides::ENTRY) || name.1.contains(sides::ADAPTER);
        floor.map(|floor| if is_wrapper && floor.is_counted() { Floor::Wrapper } else { floor })
    }
}
