//! `demo`: the demonstration. Runs the example `pfs` first, because it is built quickly. Then
//! measures its calls against the machine's limits with an optimized build.

use crate::outcome::Outcome;
use crate::program::Program;

/// Builds and runs the example with the given arguments. Then builds the command, and measures.
pub(crate) fn main(arguments: &[String]) -> Outcome {
    println!("Building the demo: a minute or two, the first time");
    // Level 3 takes six seconds longer to compile.
    let demo = Program::cargo_release(&["run"]).variable("CARGO_PROFILE_RELEASE_OPT_LEVEL", "2");
    let demo = demo.with(&["--package", "pfs", "--bin", "pfs-demo", "--", "--attended"]);
    arguments.iter().fold(demo, |demo, argument| demo.argument(argument)).run_attended()?;
    println!(
        "\nBuilding the command that measures calls beside what the machine can do at best: some minutes, the first time"
    );
    let bench = ["--", "bench", "call_lat", "--sizes", "8K"];
    Program::cargo(&["run", "--release", "--package", "obvia-cli"]).with(&bench).replace()
}
