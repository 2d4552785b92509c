//! Creates projects with `obvia new`, and with `obvia wizard` from the IDL files of examples and
//! tests. Then runs the projects.
//!
//! Here the Rust projects are built, as members of one workspace. The part `cmake` builds some C++
//! projects with an installed obvia, and the group `matrix` builds all of them.

use super::readme;
use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::root;
use crate::server::Names;
use crate::temporary::Folder;
use crate::workspace;
use std::fs;
use std::path::Path;

/// A project to create.
pub(super) struct Project {
    /// The name of the project and of its folder.
    pub(super) name: &'static str,
    /// The IDL file; empty for a project that `obvia new` creates.
    idl: &'static str,
    interface: &'static str,
    transports: &'static str,
    /// Whether Rust supports all of the interface's constructs.
    pub(super) is_for_rust: bool,
    /// Whether the object is called over virtual interfaces.
    is_over_vi: bool,
}

const fn project(name: &'static str, idl: &'static str, interface: &'static str, transports: &'static str) -> Project {
    Project { name, idl, interface, transports, is_for_rust: true, is_over_vi: false }
}

/// The projects. Together they contain every construct that methods can have.
pub(super) const PROJECTS: [Project; 17] = [
    project("new-one", "", "", ""),
    Project { is_over_vi: true, ..project("over-vi", "examples/first/calc.idl", "ICalc", "tcp") },
    project("first", "examples/first/calc.idl", "ICalc", "udp,tcp"),
    project("calc", "examples/calc/calc.idl", "ICalc2", "shm"),
    project("events", "examples/calc/calc.idl", "ITapeEvents", "shm"),
    project("pfs", "examples/pfs/pfs.idl", "IPfs", "shm"),
    project("shapes", "testing/matrix/idl/shapes.idl", "IShapes", "shm"),
    project("values", "testing/matrix/idl/values.idl", "IValues", "shm"),
    project("counters", "testing/matrix/idl/functions.idl", "Counters", "udp,tcp"),
    project("clock", "testing/matrix/idl/clock.idl", "Clock", "shm"),
    project("echo", "testing/interop/idl/rpcecho.idl", "rpcecho", "shm"),
    project("plain", "crates/idl/tests/c/plain.idl", "IPlain", "shm"),
    project("empty", "crates/idl/tests/c/plain.idl", "IEmpty", "shm"),
    project("regions", "crates/capi/tests/native/programs/regions.idl", "IRegions", "shm"),
    project("stubs", "bench/counted/icount.idl", "IStubs", "shm"),
    Project { is_for_rust: false, ..project("graphs", "crates/idl/tests/golden/c/graphs.idl", "IGraphs", "shm") },
    Project { is_for_rust: false, ..project("deep", "testing/matrix/idl/deep.idl", "IDeep", "shm") },
];

/// The number of projects, from the first on, whose sources are formatted as by rustfmt. The other
/// projects have longer calls, which the wizard does not break into lines.
const FORMATTED: usize = 4;

/// The projects whose objects are switched to calls over virtual interfaces after their creation.
const SPECIALISED: [&str; 2] = ["first", "calc"];

impl Project {
    /// Returns the command line of `obvia` that creates the project, with the options `more`.
    pub(super) fn make(&self, obvia: &Program, folder: &Path, language: &str, more: &[&str]) -> Program {
        let output = folder.join(self.name).display().to_string();
        let options = [&["--language", language, "--output", &output], more].concat();
        if self.idl.is_empty() {
            return obvia.with(&["new", self.name]).with(&options);
        }
        let over_vi: &[&str] = if self.is_over_vi { &["--over-vi"] } else { &[] };
        let file = file(self.idl);
        let own = ["wizard", &file, "--interface", self.interface, "--name", self.name, "--transport", self.transports];
        obvia.with(&own).with(&options).with(over_vi)
    }

    /// Returns the command that switches an existing project's object to calls over virtual
    /// interfaces.
    fn specialise(&self, obvia: &Program, folder: &Path) -> Program {
        let component = folder.join(self.name).join("src/component.rs").display().to_string();
        obvia.with(&["wizard", &file(self.idl), "--specialise", &component, "--force"])
    }
}

/// Returns the path of a file of this repository.
fn file(path: &str) -> String {
    root().join(path).display().to_string()
}

pub(super) fn run() -> Outcome {
    workspace::build()?;
    let folder = Folder::new()?;
    let checkout = readme::checkout().map_err(|error| Problem::Failed(format!("preparing a checkout: {error}")))?;
    let checkout = checkout.display().to_string();
    let obvia = target().join("debug/obvia").display().to_string();
    let obvia = Program::new(&obvia, &[]).folder(folder.path());
    for project in &PROJECTS {
        let made = project.make(&obvia, folder.path(), "rust", &["--obvia", &checkout]).read();
        if made.is_ok() != project.is_for_rust {
            return Err(made.err().unwrap_or_else(|| Problem::Failed(format!("{} was to be refused", project.name))));
        }
    }
    for project in PROJECTS.iter().filter(|project| SPECIALISED.contains(&project.name)) {
        project.specialise(&obvia, folder.path()).read()?;
    }
    let manifest = folder.path().join("Cargo.toml");
    let written = fs::write(&manifest, "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n");
    written.map_err(|error| Problem::Failed(format!("{}: {error}", manifest.display())))?;
    readme::keep_versions(folder.path())?;
    let cargo = |words: &[&str]| readme::cargo(words).folder(folder.path());
    let complaints = cargo(&["build", "--quiet", "--workspace", "--lib", "--bins", "--test", "calls"]).read_errors()?;
    if !complaints.is_empty() {
        return Err(Problem::Failed(format!("what was made has warnings:\n{complaints}")));
    }
    for project in PROJECTS.iter().take(FORMATTED) {
        Program::cargo(&["fmt", "--check"]).folder(folder.path().join(project.name)).run()?;
    }
    Names::new()?.see(cargo(&["test", "--quiet", "--workspace", "--test", "calls"])).run()
}
