//! Servers for the tests, each in a runtime directory of its own, and runs of the command against
//! them.

use ground::{Folder, Process};
use native_programs::cargo::program;
use rustix::process::Signal;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// The outcome of a run of the command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Returns the standard output of a command that succeeded.
    #[track_caller]
    pub(crate) fn good(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        assert_eq!(self.err, "");
        self.out
    }

    /// Returns the error output of a command that failed.
    #[track_caller]
    pub(crate) fn bad(self) -> String {
        assert!(self.code != 0 && self.out.is_empty(), "{self:?}");
        self.err
    }

    /// Returns the error output of a command that ended with this code.
    #[track_caller]
    pub(crate) fn bad_with(self, code: i32) -> String {
        assert_eq!(self.code, code, "{self:?}");
        self.bad()
    }

    /// Parses the standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A runtime directory, removed on drop.
pub(crate) struct Directory(Folder);

impl Directory {
    pub(crate) fn new() -> Self {
        Self(Folder::new("cli"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs the command in this directory.
    pub(crate) fn obvia(&self, arguments: &[&str]) -> Ran {
        self.obvia_with(&[], arguments)
    }

    /// Runs the command with environment variables.
    pub(crate) fn obvia_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
        command.args(arguments).envs(variables.iter().copied());
        self.run(command)
    }

    /// Runs a program in this directory, until it ends.
    pub(crate) fn run(&self, mut command: Command) -> Ran {
        let output = command.env("OBVIA_RUNTIME_DIR", self.path()).stdin(Stdio::null()).output().unwrap();
        Self::ran(output)
    }

    /// Runs the command with `input` on its standard input.
    pub(crate) fn obvia_reading(&self, input: impl AsRef<[u8]>, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
        command.args(arguments).env("OBVIA_RUNTIME_DIR", self.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_ref()).unwrap();
        Self::ran(child.wait_with_output().unwrap())
    }

    fn ran(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A running server, killed on drop.
pub(crate) struct Server {
    process: Process,
    pub directory: Directory,
}

impl Server {
    /// Starts a server, and waits until it prints a line that begins with "serving".
    pub(crate) fn start(mut command: Command) -> Self {
        let directory = Directory::new();
        command.env("OBVIA_RUNTIME_DIR", directory.path()).stderr(Stdio::null());
        let mut server = Self { process: Process::start(&mut command), directory };
        while !server.line().starts_with("serving") {}
        server
    }

    /// Starts the calculator of the examples, as "calc".
    pub(crate) fn calc() -> Self {
        Self::start(Command::new(calc_server()))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Sends a signal to the server, and returns its exit code.
    pub(crate) fn end_by(&mut self, signal: Signal) -> Option<i32> {
        self.process.signal(signal);
        self.process.await_end().code()
    }

    /// Reads the next line of the server's output.
    pub(crate) fn line(&mut self) -> String {
        self.process.line()
    }

    pub(crate) fn obvia(&self, arguments: &[&str]) -> Ran {
        self.directory.obvia(arguments)
    }

    /// Calls a method of "calc".
    pub(crate) fn call(&self, arguments: &[&str]) -> Ran {
        self.obvia(&[&["call", "calc"], arguments].concat())
    }
}

/// Builds the calculator's server if needed, and returns its path.
pub(crate) fn calc_server() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| program("calc", "calc-server"));
    &BUILT
}

/// Builds the calculator's client if needed, and returns its path.
pub(crate) fn calc_client() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| program("calc", "calc-client"));
    &BUILT
}

/// Builds the server of functions for interoperability tests if needed, and returns its path.
pub(crate) fn echo_server() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| program("interop", "interop-echo"));
    &BUILT
}
