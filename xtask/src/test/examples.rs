//! Runs every client of the examples with its server.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::load;
use crate::temporary::Folder;
use crate::workspace;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};

/// Runs each `NAME-client` of the examples with its `NAME-server`.
pub(super) fn run() -> Outcome {
    let names = clients(&load()?);
    if names.is_empty() {
        return Err(Problem::missing("no example has a client"));
    }
    workspace::build()?;
    names.iter().try_for_each(|name| run_client(name))
}

/// Returns the examples that have a client.
fn clients(repo: &crate::repo::Repo) -> Vec<String> {
    let find = |path: &str| {
        let name = path.strip_prefix("examples/")?.split('/').next()?;
        let client = format!("examples/{name}/src/bin/{name}-client.rs");
        (path == client).then(|| name.to_owned())
    };
    repo.files.iter().filter_map(|file| find(&file.path)).collect()
}

fn run_client(example: &str) -> Outcome {
    let path = |side| target().join(format!("debug/{example}-{side}")).display().to_string();
    let names = Names::new()?;
    let _server = Server::start(&names.see(Program::new(&path("server"), &[])))?;
    names.see(Program::new(&path("client"), &[])).run()
}

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
pub(super) struct Server {
    child: Child,
    first: String,
    // The output is kept open, because the server may print more.
    output: Option<BufReader<ChildStdout>>,
}

impl Server {
    /// Starts the server and waits for its first line. The server prints the line once it accepts
    /// calls.
    pub(super) fn start(program: &Program) -> Outcome<Self> {
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
    pub(super) fn place(&self) -> &str {
        self.first.split_whitespace().next_back().unwrap_or_default()
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
    use super::{Server, clients};
    use crate::program::Program;
    use crate::repo::Repo;

    #[test]
    fn example_clients_are_found() {
        let repo = Repo::of(&[
            ("examples/calc/src/bin/calc-client.rs", ""),
            ("examples/calc/src/bin/calc-server.rs", ""),
            ("examples/pfs/src/bin/pfs-shell.rs", ""),
        ]);
        assert_eq!(clients(&repo), ["calc"]);
    }

    #[test]
    fn example_servers_that_never_become_ready_are_detected() {
        assert!(Server::start(&Program::new("true", &[])).is_err());
        assert!(Server::start(&Program::new("echo", &["ready"])).is_ok());
    }
}
