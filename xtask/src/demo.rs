//! `demo`: the main job, built as users build it. The example `pfs` is what runs; then its calls are measured against what the
//! machine can do at best.

use crate::Outcome;
use crate::program::Program;

/// Builds the example with everything that it starts, then runs it. Arguments are passed on.
pub(crate) fn main(arguments: &[String]) -> Outcome {
    Program::cargo(&["build", "--release", "--package", "pfs", "--package", "obvia-cli", "--bins"]).run()?;
    let mut run = Program::cargo(&["run", "--quiet", "--release", "--package", "pfs", "--bin", "pfs-demo", "--"]);
    for argument in arguments {
        run = run.argument(argument);
    }
    run.run()?;
    let bench = ["bench", "call_lat", "--sizes", "8K"];
    Program::cargo(&["run", "--quiet", "--release", "--package", "obvia-cli", "--"]).with(&bench).run()
}
