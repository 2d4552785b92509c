//! Artificial load during tests, like the load of other programs on the machine.

use crate::outcome::Outcome;
use crate::outcome::Problem;
use crate::program::Program;
use std::process::Child;

/// A load that keeps two processors busy until the value is dropped.
pub(super) struct Load(Child);

impl Load {
    pub(super) fn start() -> Outcome<Self> {
        // The timeout ends stress-ng if this process is killed.
        let words = ["--cpu", "2", "--timeout", "7200", "--quiet"];
        let program = Program::new("stress-ng", &words);
        println!("    $ {} &", program.line());
        let child = program.command().spawn();
        child.map(Self).map_err(|error| Problem::Failed(format!("{}: {error}", program.line())))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // SIGTERM makes stress-ng end its workers. SIGKILL would leave them running.
        let id = self.0.id().to_string();
        let _ = Program::new("kill", &["-TERM", &id]).succeeds();
        let _ = self.0.wait();
    }
}
