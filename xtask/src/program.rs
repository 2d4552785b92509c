//! Runs other programs, says which, and gives up on those that never end.

use crate::repo::root;
use crate::{Outcome, Problem, failures};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A program of a test run that takes longer than this is stuck.
const SECONDS_MAX: u32 = 1200;

/// What a program complained about is repeated, but not all of it.
const COMPLAINT_LINES_MAX: usize = 60;

/// Bytes that are kept of what a program of tests prints: those about failures come last.
const KEPT_MAX: usize = 4 << 20;

/// How long the rest of what a program printed may take when it has ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// A program to run, in the folder of the workspace.
pub(crate) struct Program {
    words: Vec<String>,
    variables: Vec<(String, String)>,
    folder: PathBuf,
}

impl Program {
    /// `cargo`, with the toolchain of the workspace.
    pub(crate) fn cargo(arguments: &[&str]) -> Self {
        Self::new("cargo", arguments)
    }

    /// `cargo build` of what is in these packages, without a word. The command's is one of them: features of other people's crates are then
    /// those that a build of the whole workspace has, so that what stands on these crates is not built a second time.
    pub(crate) fn cargo_build(packages: &[&str]) -> Self {
        let words = packages.iter().flat_map(|package| ["--package", package]);
        Self::cargo(&["build", "--quiet", "--package", "obvia-cli"]).with(&words.collect::<Vec<_>>())
    }

    /// `cargo` for tests in release mode: optimised as what is published, but without what the linker does for that, which takes longer
    /// than most tests, and without lines for backtraces.
    pub(crate) fn cargo_release(command: &[&str]) -> Self {
        Self::cargo(command)
            .argument("--release")
            .variable("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .variable("CARGO_PROFILE_RELEASE_LTO", "off")
            .variable("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
    }

    /// `cargo` for programs with features, in a folder of their own: tests that run beside these would else find them in place of their own.
    pub(crate) fn cargo_with_features(command: &[&str]) -> Self {
        Self::cargo(command).variable("CARGO_TARGET_DIR", target().join("with-features").display().to_string())
    }

    pub(crate) fn new(program: &str, arguments: &[&str]) -> Self {
        let words = std::iter::once(&program).chain(arguments);
        Self { words: words.map(ToString::to_string).collect(), variables: Vec::new(), folder: root() }
    }

    /// The same with more arguments.
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

    /// The command line, for people.
    pub(crate) fn line(&self) -> String {
        let variables = self.variables.iter();
        let variables = variables.filter(|(name, _)| !matches!(name.as_str(), "OBVIA_RUNTIME_DIR" | "PATH"));
        let mut words: Vec<String> = variables.map(|(name, value)| format!("{name}={value:?}")).collect();
        words.extend(self.words.iter().cloned());
        words.join(" ")
    }

    /// The command, for who wants to watch over it.
    pub(crate) fn command(&self) -> Command {
        self.command_of(&self.words)
    }

    /// The command, ended after a while where nobody watches, with all that it started. Elsewhere `timeout` would keep
    /// Control-C from the program.
    fn limited(&self) -> Command {
        if !is_ci() {
            return self.command();
        }
        let limit = ["timeout".to_owned(), "--kill-after=10".to_owned(), SECONDS_MAX.to_string()];
        self.command_of(&[&limit[..], &self.words].concat())
    }

    fn command_of(&self, words: &[String]) -> Command {
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .current_dir(&self.folder)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        // What cargo says to the program that it runs is not for the cargo that this program runs.
        for name in ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "RUSTC", "RUSTDOC"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs it; it prints to where this program prints.
    pub(crate) fn run(&self) -> Outcome {
        println!("    $ {}", self.line());
        let status = self.limited().status().map_err(|error| self.not_started(&error))?;
        if status.success() {
            return Ok(());
        }
        Err(Problem::Failed(format!("{}: {status}", self.line())))
    }

    /// Runs a program of tests; it prints to where this program prints. What it said about those that failed is part of the problem, so
    /// that a log's end says it again.
    pub(crate) fn run_tests(&self) -> Outcome {
        println!("    $ {}", self.line());
        let mut command = self.limited();
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| self.not_started(&error))?;
        let said = pass_on(child.stdout.take(), std::io::stdout());
        let complained = pass_on(child.stderr.take(), std::io::stderr());
        let status = child.wait().map_err(|error| self.not_started(&error))?;
        if status.success() {
            return Ok(());
        }
        let output = [said.all(), complained.all()].concat();
        let failures = failures::find(&String::from_utf8_lossy(&output));
        Err(Problem::Failed(format!("{}: {status}\n{failures}", self.line())))
    }

    /// Runs it and takes what it prints to standard output.
    pub(crate) fn read(&self) -> Outcome<String> {
        Ok(String::from_utf8_lossy(&self.output()?.stdout).into_owned())
    }

    /// Runs it and takes what it prints to standard error.
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

    /// Runs it and takes what it prints to standard output, whether it says that all is well or not.
    pub(crate) fn read_all(&self) -> Outcome<String> {
        let mut command = self.limited();
        let output = command.stderr(Stdio::null()).output().map_err(|error| self.not_started(&error))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Whether it runs and says that all is well. What it prints is thrown away.
    pub(crate) fn succeeds(&self) -> bool {
        let mut command = self.limited();
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    fn not_started(&self, error: &std::io::Error) -> Problem {
        Problem::Failed(format!("{} cannot be run: {error}", self.words[0]))
    }
}

/// The last of what a program prints.
struct Said {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

impl Said {
    /// What it was when the program has ended. A process that it left behind may still print.
    fn all(&self) -> Vec<u8> {
        let _ = self.ended.recv_timeout(PATIENCE);
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Copies what comes as it comes, in a thread of its own.
fn pass_on(from: Option<impl Read + Send + 'static>, mut to: impl Write + Send + 'static) -> Said {
    let bytes = Arc::<Mutex<Vec<u8>>>::default();
    let (end, ended) = channel::<()>();
    let said = Said { bytes: Arc::clone(&bytes), ended };
    std::thread::spawn(move || {
        let mut some = [0; 4096];
        let Some(mut from) = from else { return };
        while let Ok(count @ 1..) = from.read(&mut some) {
            // Whoever listened to this program may be gone: the tests go on.
            let _ = to.write_all(&some[..count]).and_then(|()| to.flush());
            let mut kept = bytes.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(&some[..count]);
            if kept.len() > 2 * KEPT_MAX {
                let last = kept.len() - KEPT_MAX;
                kept.drain(..last);
            }
        }
        drop(end);
    });
    said
}

/// Runs programs of one thread each beside each other.
pub(crate) fn at_once(runs: impl Iterator<Item = impl FnOnce() -> Outcome + Send>) -> Outcome {
    std::thread::scope(|scope| {
        let started: Vec<_> = runs.map(|run| scope.spawn(run)).collect();
        let ended = started.into_iter().map(|run| run.join());
        let panicked = |_| Err(Problem::failed("a thread that ran a program panicked"));
        let ended: Vec<Outcome> = ended.map(|end| end.unwrap_or_else(panicked)).collect();
        ended.into_iter().collect()
    })
}

/// Whether this is a run that counts: what is missing is then not passed over.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// Where cargo builds to.
pub(crate) fn target() -> PathBuf {
    let root = root();
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target))
}

#[cfg(test)]
mod tests {
    use super::Program;
    use crate::Problem;

    #[test]
    fn what_fails_is_said() {
        assert_eq!(Program::new("true", &[]).run(), Ok(()));
        let Err(Problem::Failed(what)) = Program::new("false", &["x"]).variable("A", "b c").run() else {
            panic!("false succeeded");
        };
        assert_eq!(what, "A=\"b c\" false x: exit status: 1");
        assert!(!Program::new("there-is-no-such-program", &[]).succeeds());
        let read = Program::new("ls", &["there-is-no-such-file"]).read();
        assert!(matches!(read, Err(Problem::Failed(what)) if what.contains("there-is-no-such-file")));
    }

    #[test]
    fn tests_that_fail_are_named() {
        let script = "echo '---- t stdout ----'; echo because; echo 'error: test failed, so' >&2; exit 101";
        let Err(Problem::Failed(what)) = Program::new("sh", &["-c", script]).run_tests() else {
            panic!("the script succeeded");
        };
        let end = "exit status: 101\ntest t:\n  because\nerror: test failed, so";
        assert!(what.ends_with(end), "{what}");
        assert_eq!(Program::new("true", &[]).run_tests(), Ok(()));
    }
}
