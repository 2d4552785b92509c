//! Servers that the tests run, each in a runtime directory of its own, and the command run against them.

use ground::Folder;
use native_programs::cargo::program;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::LazyLock;

/// What the command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// What it printed, when it succeeded.
    #[track_caller]
    pub(crate) fn good(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        assert_eq!(self.err, "");
        self.out
    }

    /// What it complained about.
    #[track_caller]
    pub(crate) fn bad(self) -> String {
        assert!(self.code != 0 && self.out.is_empty(), "{self:?}");
        self.err
    }

    /// The error output of a command that ended with this code.
    #[track_caller]
    pub(crate) fn bad_with(self, code: i32) -> String {
        assert_eq!(self.code, code, "{self:?}");
        self.bad()
    }

    /// The JSON that it printed.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A directory for names that goes away with the test.
pub(crate) struct Directory(Folder);

impl Directory {
    pub(crate) fn new() -> Self {
        Self(Folder::new("cli"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs the command.
    pub(crate) fn obvia(&self, arguments: &[&str]) -> Ran {
        self.obvia_with(&[], arguments)
    }

    /// The same, with such variables of the environment.
    pub(crate) fn obvia_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
        command.args(arguments).envs(variables.iter().copied());
        self.run(command)
    }

    /// Runs a program in this directory, to its end.
    pub(crate) fn run(&self, mut command: Command) -> Ran {
        let output = command.env("OBVIA_RUNTIME_DIR", self.path()).stdin(Stdio::null()).output().unwrap();
        Self::ran(output)
    }

    /// Runs the command, which is given this to read.
    pub(crate) fn obvia_reading(&self, input: &str, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
        command.args(arguments).env("OBVIA_RUNTIME_DIR", self.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
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

/// A running server.
pub(crate) struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
    pub directory: Directory,
}

impl Server {
    /// Starts a server, and waits until it prints a line that begins with "serving".
    pub(crate) fn start(mut command: Command) -> Self {
        let directory = Directory::new();
        command.env("OBVIA_RUNTIME_DIR", directory.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, out, directory };
        while !server.line().starts_with("serving") {}
        server
    }

    /// The calculator of the examples, as "calc".
    pub(crate) fn calc() -> Self {
        Self::start(Command::new(calc_server()))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells the server to end, and returns its exit code.
    pub(crate) fn end_by(&mut self, signal: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap().code()
    }

    /// The next line that the server prints.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.out.read_line(&mut line).unwrap(), 0, "the server has ended");
        line.trim_end().to_owned()
    }

    pub(crate) fn obvia(&self, arguments: &[&str]) -> Ran {
        self.directory.obvia(arguments)
    }

    /// Calls a method of "calc".
    pub(crate) fn call(&self, arguments: &[&str]) -> Ran {
        self.obvia(&[&["call", "calc"], arguments].concat())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server of the calculator, beside the command.
pub(crate) fn calc_server() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| program("calc", "calc-server"));
    &BUILT
}

/// A client of the calculator, beside the command.
pub(crate) fn calc_client() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| program("calc", "calc-client"));
    &BUILT
}

/// The server of functions that other implementations call, beside the command.
pub(crate) fn echo_server() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| program("interop", "interop-echo"));
    &BUILT
}
