//! `bench-cpp`: builds the C++ client and server that `obvia bench` measures, beside the command.

use crate::native;
use crate::outcome::{Outcome, Problem};
use crate::program::target;
use std::fs;

const SOURCES: [&str; 2] = ["bench/cpp/calls.cc", "bench/cpp/called.cc"];

pub(crate) fn main(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err(Problem::failed("usage: cargo xtask bench-cpp"));
    }
    let folder = target().join("bench-cpp");
    fs::create_dir_all(&folder).map_err(|error| Problem::Failed(format!("{}: {error}", folder.display())))?;
    let library = native::release_library()?;
    native::build("bench/bench.idl", &SOURCES, &library, &folder, &library.join("obvia-bench-cpp"))
}
