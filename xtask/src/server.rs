//! Servers that run beside other programs.

use crate::outcome::{Outcome, Problem};
use crate::program::Program;
use crate::temporary::Folder;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};

/// A private directory of exported names.
pub(crate) struct Names(Folder);

impl Names {
    pub(crate) fn new() -> Outcome<Self> {
        Ok(Self(Folder::new()?))
    }

    /// Makes a program use this directory of exported names.
    pub(crate) fn see(&self, program: Program) -> Program {
        program.variable("OBVIA_RUNTIME_DIR", self.0.path().display().to_string())
    }
}

/// A server process. The process is ended when the value is dropped.
pub(crate) struct Server {
    child: Child,
    first: String,
    // The output is kept open, because the server may print more.
    output: Option<BufReader<ChildStdout>>,
}

impl Server {
    /// Starts the server and waits for its first line. The server prints the line once it accepts
    /// calls.
    pub(crate) fn start(program: &Program) -> Outcome<Self> {
        let line = program.line();
        println!("    $ {line} &");
        let failed = |why: String| Problem::Failed(format!("{line}: {why}"));
        // Some servers end when their standard input ends, so the input is kept open.
        let mut command = program.command();
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| failed(error.to_string()))?;
        let output = child.stdout.take().map(BufReader::new);
        let mut server = Self { child, first: String::new(), output };
        let read = server.output.as_mut().map(|output| output.read_line(&mut server.first));
        match read {
            Some(Ok(count)) if count > 0 => Ok(server),
            _ => Err(failed("ended before it was ready".to_owned())),
        }
    }

    /// Returns the last word of the first line, which is the server's address.
    pub(crate) fn place(&self) -> &str {
        self.first.split_whitespace().next_back().unwrap_or_default()
    }

    /// Ends a server that ends when its standard input ends.
    pub(crate) fn end(&mut self) -> Outcome {
        drop(self.child.stdin.take());
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Problem::Failed(format!("the server ended with {status}"))),
            Err(error) => Err(Problem::Failed(format!("the server cannot be waited for: {error}"))),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may already have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::Server;
    use crate::program::Program;

    #[test]
    fn servers_that_never_become_ready_are_detected() {
        assert!(Server::start(&Program::new("true", &[])).is_err());
        assert!(Server::start(&Program::new("echo", &["ready"])).is_ok());
    }

    #[test]
    fn servers_end_with_their_input() {
        let start = |script| Server::start(&Program::new("sh", &["-c", script])).unwrap();
        let mut server = start("echo at 7; read line; exit 0");
        assert_eq!(server.place(), "7");
        assert!(server.end().is_ok());
        assert!(start("echo ready; read line; exit 1").end().is_err());
    }
}
