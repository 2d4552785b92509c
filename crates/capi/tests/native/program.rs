//! Builds the programs in `programs`.

use native_programs::{CHECKED, Workshop, folder};
use std::path::PathBuf;

/// Where programs and libobvia are built.
pub(crate) static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));

/// Builds a program of interfaces and sources in `programs`, with the shared library and [`CHECKED`].
pub(crate) fn build(name: &str, interfaces: &[&str], sources: &[&str]) -> PathBuf {
    build_with(CHECKED, name, interfaces, sources)
}

/// The same with what the compilers are to put in.
pub(crate) fn build_with(watch: &[&str], name: &str, interfaces: &[&str], sources: &[&str]) -> PathBuf {
    let programs = folder("crates/capi/tests/native/programs");
    let files = |names: &[&str]| names.iter().map(|name| programs.join(name)).collect::<Vec<_>>();
    WORKSHOP.build(name, watch, &files(interfaces), &files(sources))
}
