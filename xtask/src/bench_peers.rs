//! `bench-peers`: builds the program that measures other systems beside obvia, and runs it.

use crate::outcome::Outcome;
use crate::program::{Program, target};

const MANIFEST: &str = "bench/peers/Cargo.toml";

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let folder = target().join("peers");
    let options = ["build", "--quiet", "--locked", "--release", "--manifest-path", MANIFEST, "--target-dir"];
    Program::cargo(&options).argument(folder.display().to_string()).run()?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Program::new(&folder.join("release/obvia-bench-peers").display().to_string(), &arguments).replace()
}
