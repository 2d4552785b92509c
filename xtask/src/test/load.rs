//! Load beside tests, as other programs of a machine make it.

use crate::Outcome;
use crate::Problem;
use crate::program::Program;
use std::process::Child;

/// Keeps two processors busy until the value is dropped.
pub(super) struct Load(Child);

impl Load {
    pub(super) fn start() -> Outcome<Self> {
        // It ends by itself where this process is killed before.
        let words = ["--cpu", "2", "--timeout", "7200", "--quiet"];
        let program = Program::new("stress-ng", &words);
        println!("    $ {} &", program.line());
        let child = program.command().spawn();
        child.map(Self).map_err(|error| Problem::Failed(format!("{}: {error}", program.line())))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // stress-ng ends its workers when it is told to end; SIGKILL would leave them.
        let id = self.0.id().to_string();
        let _ = Program::new("kill", &["-TERM", &id]).succeeds();
        let _ = self.0.wait();
    }
}
