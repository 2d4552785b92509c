//! `demo`: the main job. The example `pfs` runs first, as it is built soon; then its calls are measured against what the machine can do at
//! best, by what users build.

use crate::Outcome;
use crate::program::Program;

/// Builds the example, and runs it; then builds the command, and measures. Arguments are for the example.
pub(crate) fn main(arguments: &[String]) -> Outcome {
    println!("Building the demo: a minute or two, the first time");
    let demo = Program::cargo_release("run").with(&["--package", "pfs", "--bin", "pfs-demo", "--"]);
    arguments.iter().fold(demo, |demo, argument| demo.argument(argument)).run()?;
    println!("\nBuilding the command that measures calls beside what the machine can do at best");
    let bench = ["--", "bench", "call_lat", "--sizes", "8K"];
    Program::cargo(&["run", "--release", "--package", "obvia-cli"]).with(&bench).run()
}
