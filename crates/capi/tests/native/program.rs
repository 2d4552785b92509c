//! Builds the programs in `programs`.

use native_programs::{CHECKED, Workshop, folder};
use std::path::PathBuf;

/// The build folder of programs and libobvia.
pub(crate) static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));

/// Builds a program from interfaces and sources in `programs`, with the shared library and
/// [`CHECKED`].
pub(crate) fn build(name: &str, interfaces: &[&str], sources: &[&str]) -> PathBuf {
    build_with(CHECKED, name, interfaces, sources)
}

/// Builds a program with the given instrumentation of the compilers.
pub(crate) fn build_with(watch: &[&str], name: &str, interfaces: &[&str], sources: &[&str]) -> PathBuf {
    let programs = folder("crates/capi/tests/native/programs");
    let files = |names: &[&str]| names.iter().map(|name| programs.join(name)).collect::<Vec<_>>();
    WORKSHOP.build(name, watch, &files(interfaces), &files(sources))
}
