//! Builds the programs in `programs`.

use native_programs::{CHECKED, Workshop, folder};
use std::path::{Path, PathBuf};
use torture::process::Directory;

/// The folder in which the programs and libobvia are built.
pub(crate) static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));

/// Builds a program from interfaces and sources in `programs`, with the shared library and the
/// compiler options of [`CHECKED`].
pub(crate) fn build(name: &str, interfaces: &[&str], sources: &[&str]) -> PathBuf {
    build_with(CHECKED, name, interfaces, sources)
}

/// Builds a program with the compiler options `watch`, which instrument it.
pub(crate) fn build_with(watch: &[&str], name: &str, interfaces: &[&str], sources: &[&str]) -> PathBuf {
    let programs = folder("crates/capi/tests/native/programs");
    let files = |names: &[&str]| names.iter().map(|name| programs.join(name)).collect::<Vec<_>>();
    WORKSHOP.build(name, watch, &files(interfaces), &files(sources))
}

/// Starts a program twice: as a server, with the argument `serve`, and as a client, with the
/// argument `call`. The client's calls must succeed, and both processes must exit successfully.
pub(crate) fn calls_its_server(program: &Path) {
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, &["serve"]);
    assert_eq!(server.line(), "ready");
    let mut client = directory.start(program, &["call"]);
    assert_eq!(client.line(), "ok");
    client.finish();
    server.finish();
}
