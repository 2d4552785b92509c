//! Runs other programs, prints their command lines, and ends programs that hang.

use crate::outcome::{Outcome, Problem};
use crate::repo::root;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Output, Stdio};

/// The time limits of a program in seconds: in usual runs, and in thorough runs.
const SECONDS_MAX: u32 = 1200;
const SECONDS_MAX_THOROUGH: u32 = 4000;

/// The default settings of test builds: no incremental compilation, because most builds happen
/// once, and no debug information, because panics report their lines without it.
const BUILD: [(&str, &str); 2] = [("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "0")];

/// The maximum number of lines of a failed program's errors that are repeated.
const COMPLAINT_LINES_MAX: usize = 60;

/// A program to run, in the folder of the workspace.
pub(crate) struct Program {
    words: Vec<String>,
    variables: Vec<(String, String)>,
    folder: PathBuf,
}

impl Program {
    /// Returns `cargo` with the toolchain of the workspace.
    pub(crate) fn cargo(arguments: &[&str]) -> Self {
        Self::new("cargo", arguments)
    }

    /// Returns `cargo` for tests in release mode: optimized like a release, but without debug
    /// information and link-time optimization. Link-time optimization takes longer than most tests.
    pub(crate) fn cargo_release(command: &[&str]) -> Self {
        Self::cargo(command)
            .with(&["--release"])
            .variable("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .variable("CARGO_PROFILE_RELEASE_LTO", "off")
            .variable("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
    }

    pub(crate) fn new(program: &str, arguments: &[&str]) -> Self {
        let words = std::iter::once(&program).chain(arguments);
        Self { words: words.map(ToString::to_string).collect(), variables: Vec::new(), folder: root() }
    }

    /// Returns the program with more arguments.
    pub(crate) fn with(&self, arguments: &[&str]) -> Self {
        let more = arguments.iter().map(ToString::to_string);
        Self {
            words: self.words.iter().cloned().chain(more).collect(),
            variables: self.variables.clone(),
            folder: self.folder.clone(),
        }
    }

    pub(crate) fn argument(mut self, argument: impl Into<String>) -> Self {
        self.words.push(argument.into());
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Returns the command line for display.
    pub(crate) fn line(&self) -> String {
        let variables = self.variables.iter();
        let variables = variables.filter(|(name, _)| !matches!(name.as_str(), "OBVIA_RUNTIME_DIR" | "PATH"));
        let mut words: Vec<String> = variables.map(|(name, value)| format!("{name}={value:?}")).collect();
        words.extend(self.words.iter().cloned());
        words.join(" ")
    }

    /// Returns the command, for callers that supervise the program themselves.
    pub(crate) fn command(&self) -> Command {
        self.command_of(&self.words)
    }

    /// Returns the command. In CI, a time limit ends all of its processes. In other runs there is
    /// no time limit, because `timeout` would keep Control-C from the program.
    fn limited(&self) -> Command {
        if !is_ci() {
            return self.command();
        }
        let is_thorough = std::env::args().any(|argument| argument == "--thorough");
        let seconds = if is_thorough { SECONDS_MAX_THOROUGH } else { SECONDS_MAX };
        let limit = ["timeout".to_owned(), "--kill-after=10".to_owned(), seconds.to_string()];
        self.command_of(&[&limit[..], &self.words].concat())
    }

    fn command_of(&self, words: &[String]) -> Command {
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .envs(BUILD.iter().filter(|(name, _)| std::env::var_os(name).is_none()).copied())
            .current_dir(&self.folder)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        // Variables that cargo has set for xtask must not reach a cargo that xtask runs.
        for name in ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "RUSTC", "RUSTDOC"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program. Its output goes to the output of this program.
    pub(crate) fn run(&self) -> Outcome {
        println!("    $ {}", self.line());
        let status = self.limited().status().map_err(|error| self.not_started(&error))?;
        self.judge(status)
    }

    fn judge(&self, status: ExitStatus) -> Outcome {
        if status.success() { Ok(()) } else { Err(Problem::Failed(format!("{}: {status}", self.line()))) }
    }

    /// Does the same as [`Self::run`], for a program that ends when its standard input ends. Such a
    /// program does not outlive this process, however this process ends.
    pub(crate) fn run_attended(&self) -> Outcome {
        println!("    $ {}", self.line());
        let spawned = self.limited().stdin(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| self.not_started(&error))?;
        // `wait` would close the child's input if `child` still contained it.
        let input = child.stdin.take();
        let status = child.wait().map_err(|error| self.not_started(&error))?;
        drop(input);
        self.judge(status)
    }

    /// Runs the program in the place of this process, so that signals reach the program.
    pub(crate) fn replace(&self) -> Outcome {
        println!("    $ {}", self.line());
        Err(self.not_started(&self.limited().exec()))
    }

    /// Runs the program and returns its standard output.
    pub(crate) fn read(&self) -> Outcome<String> {
        Ok(String::from_utf8_lossy(&self.output()?.stdout).into_owned())
    }

    /// Runs the program and returns its standard error.
    pub(crate) fn read_errors(&self) -> Outcome<String> {
        Ok(String::from_utf8_lossy(&self.output()?.stderr).into_owned())
    }

    fn output(&self) -> Outcome<Output> {
        let mut command = self.limited();
        let output = command.stderr(Stdio::piped()).output().map_err(|error| self.not_started(&error))?;
        if output.status.success() {
            return Ok(output);
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = complaint.lines().collect();
        let last = lines[lines.len().saturating_sub(COMPLAINT_LINES_MAX)..].join("\n");
        Err(Problem::Failed(format!("{}: {}\n{last}", self.line(), output.status)))
    }

    /// Runs the program and returns its standard output, even if the program fails. Discards its
    /// standard error.
    pub(crate) fn read_all(&self) -> Outcome<String> {
        let mut command = self.limited();
        let output = command.stderr(Stdio::null()).output().map_err(|error| self.not_started(&error))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Whether the program runs successfully. Its output is discarded.
    pub(crate) fn succeeds(&self) -> bool {
        let mut command = self.limited();
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    fn not_started(&self, error: &std::io::Error) -> Problem {
        Problem::Failed(format!("{} cannot be run: {error}", self.words[0]))
    }
}

/// Runs several single-threaded programs concurrently, and waits for all. Returns the first
/// failure.
pub(crate) fn at_once(runs: impl Iterator<Item = impl FnOnce() -> Outcome + Send>) -> Outcome {
    std::thread::scope(|scope| {
        let started: Vec<_> = runs.map(|run| scope.spawn(run)).collect();
        let ended = started.into_iter().map(|run| run.join());
        let panicked = |_| Err(Problem::failed("a thread that ran a program panicked"));
        let ended: Vec<Outcome> = ended.map(|end| end.unwrap_or_else(panicked)).collect();
        ended.into_iter().collect()
    })
}

/// Whether this is a CI run, in which missing requirements are errors.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// Returns cargo's target folder.
pub(crate) fn target() -> PathBuf {
    let root = root();
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target))
}

#[cfg(test)]
mod tests {
    use super::Program;
    use crate::outcome::Problem;

    #[test]
    fn failed_programs_are_reported_with_their_command_line() {
        assert_eq!(Program::new("true", &[]).run(), Ok(()));
        let Err(Problem::Failed(what)) = Program::new("false", &["x"]).variable("A", "b c").run() else {
            panic!("false succeeded");
        };
        assert_eq!(what, "A=\"b c\" false x: exit status: 1");
        assert!(!Program::new("there-is-no-such-program", &[]).succeeds());
        let read = Program::new("ls", &["there-is-no-such-file"]).read();
        assert!(matches!(read, Err(Problem::Failed(what)) if what.contains("there-is-no-such-file")));
    }
}
