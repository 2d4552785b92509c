//! What later parts run is built, at the lowest priority, while earlier ones run: most tests wait more than they compute.

use super::Part;
use crate::Outcome;
use crate::program::Program;
use std::process::{Child, Stdio};

/// The option of `cargo xtask test` by which nothing is run.
pub(super) const OPTION: &str = "--build";

/// Builds what these parts run. One that can't be built holds up no other: it says so itself when it runs.
pub(super) fn build(parts: &[&Part]) -> Outcome {
    let built: Vec<_> = parts.iter().filter_map(|part| part.build).map(|build| build()).collect();
    built.into_iter().collect()
}

/// A program that builds.
pub(super) struct Ahead(Option<Child>);

impl Ahead {
    /// Begins with what these parts run. The first builds for itself, at once.
    pub(super) fn start(parts: &[&Part]) -> Self {
        let later = parts.iter().skip(1).filter(|part| part.build.is_some());
        let names: Vec<_> = later.map(|part| part.name).collect();
        let program = std::env::current_exe().ok().filter(|_| !names.is_empty());
        let start = |program: std::path::PathBuf| {
            let program = Program::new("nice", &["-n", "19", &program.display().to_string(), "test", OPTION]);
            program.with(&names).command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
        };
        Self(program.and_then(start))
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // What it has left to build belongs to parts that failed before.
            let _ = child.wait();
        }
    }
}
