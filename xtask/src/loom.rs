//! `loom`: explores the interleavings of what threads and processes share. Its tests have `loom` in their path.

use crate::program::{Program, target};
use crate::repo::load;
use crate::{Outcome, Problem};

const PACKAGE: &str = "obvia-via";
const MANIFEST: &str = "crates/via/Cargo.toml";

pub(crate) fn main(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err(Problem::failed("usage: cargo xtask loom"));
    }
    let has_loom = load()?.file(MANIFEST).is_some_and(|manifest| manifest.text.contains("\nloom"));
    if !has_loom {
        return Err(Problem::missing(format!("{MANIFEST} does not name loom yet")));
    }
    tests().run()
}

fn tests() -> Program {
    Program::cargo_release(&["test", "--package", PACKAGE, "--lib", "loom"])
        .variable("RUSTFLAGS", "--cfg loom")
        .variable("CARGO_TARGET_DIR", target().join("loom").display().to_string())
}

pub(crate) fn quick() -> Outcome {
    main(&[])
}

pub(crate) fn thorough() -> Outcome {
    main(&[])
}
