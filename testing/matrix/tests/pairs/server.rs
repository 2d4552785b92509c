//! The process that has the objects.

use crate::places::{Language, Place};
use ground::Folder;
use obvia::ContextHandle;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Once;

/// A process that serves the objects under names of its own.
pub(crate) struct Server {
    child: Child,
    name: String,
    language: Language,
    // Where it is reached over networks.
    bindings: Vec<String>,
    // The directory for names that it does not share with this process.
    directory: Option<Folder>,
    // Whether it was to end without warning.
    is_killed: bool,
}

impl Server {
    /// A process of this host.
    pub(crate) fn start() -> Self {
        Self::start_as(Language::Rust, &[], rust())
    }

    /// The same in C++ and C.
    pub(crate) fn start_native() -> Self {
        Self::start_native_with(&[])
    }

    /// One in C++ and C with such variables of the environment.
    pub(crate) fn start_native_with(variables: &[(&str, &str)]) -> Self {
        let mut command = native();
        command.envs(variables.iter().copied());
        Self::start_as(Language::Native, &[], command)
    }

    /// A process that is reached over a network only, and that reaches this one over it only.
    pub(crate) fn start_elsewhere(binding: &str) -> Self {
        Self::start_as(Language::Rust, &[binding], rust())
    }

    /// The one that is to be at a place; none where there is no JDK for it.
    pub(crate) fn start_at(Place { language, bindings }: Place) -> Option<Self> {
        let command = match language {
            Language::Rust => Some(rust()),
            Language::Native => Some(native()),
            Language::Java if bindings.is_empty() => crate::java::program("serve"),
            Language::Java => crate::java::networked("serve"),
        };
        Some(Self::start_as(language, bindings, command?))
    }

    fn start_as(language: Language, bindings: &[&str], mut command: Command) -> Self {
        static KNOWN: Once = Once::new();
        if !bindings.is_empty() {
            KNOWN.call_once(matrix::become_known);
        }
        let is_elsewhere = !bindings.is_empty() && !bindings.iter().any(|binding| binding.starts_with("ncalrpc:"));
        let directory = is_elsewhere.then(|| Folder::new("matrix"));
        let name = ground::fresh_name("matrix");
        command.arg(&name).args(bindings).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(directory) = &directory {
            command.env("OBVIA_RUNTIME_DIR", directory.path());
        }
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let bindings = bindings.iter().map(|_| lines.next().unwrap()).collect();
        assert_eq!(lines.next().as_deref(), Some("serving"));
        Self { child, name, language, bindings, directory, is_killed: false }
    }

    /// The language that its objects are written in.
    pub(crate) fn language(&self) -> Language {
        self.language
    }

    /// Ends it without warning.
    pub(crate) fn kill(mut self) {
        self.is_killed = true;
        self.child.kill().unwrap();
    }

    /// What to connect to for one of its objects.
    pub(crate) fn address(&self, object: &str) -> String {
        self.addresses(object).remove(0)
    }

    /// The same by each network.
    pub(crate) fn addresses(&self, object: &str) -> Vec<String> {
        let name = format!("{}-{object}", self.name);
        let over = |binding: &String| binding.replace(']', &format!(",name={name}]"));
        if self.bindings.is_empty() { vec![name] } else { self.bindings.iter().map(over).collect() }
    }

    /// Where its objects are, what their names begin with, and what they are, as the program in Java is told it.
    pub(crate) fn places(&self, objects: &str) -> Vec<[String; 3]> {
        let here = ["ncacn_vi_shm:".to_owned()];
        let bindings = if self.bindings.is_empty() { &here } else { self.bindings.as_slice() };
        bindings.iter().map(|binding| [binding.clone(), self.name.clone(), objects.to_owned()]).collect()
    }

    /// What to bind to for its functions.
    pub(crate) fn binding(&self) -> String {
        self.bindings.first().cloned().unwrap_or_else(|| format!("ncacn_vi_shm:[{}-functions]", self.name))
    }

    /// Another client of its functions, which uses a context handle of this process.
    pub(crate) fn start_client(&self, what: &str, handle: &ContextHandle) -> Client {
        let mut command = rust();
        command.args([what, &self.binding(), &format!("{:032x}", handle.to_wire().1.to_u128())]);
        if let Some(directory) = &self.directory {
            command.env("OBVIA_RUNTIME_DIR", directory.path());
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Client { child, lines }
    }
}

/// Another process that calls a server. It ends with this.
pub(crate) struct Client {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Client {
    /// What it says next.
    pub(crate) fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// Ends it without warning.
    pub(crate) fn kill(self) {}
}

impl Drop for Client {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn rust() -> Command {
    Command::new(env!("CARGO_BIN_EXE_matrix"))
}

fn native() -> Command {
    let mut command = Command::new(crate::native::program());
    command.arg("serve");
    command
}

impl Drop for Server {
    fn drop(&mut self) {
        // At the end of its input it ends, and takes its name away.
        drop(self.child.stdin.take());
        let ended = self.child.wait().is_ok_and(|status| status.success());
        // A server with sanitizers ends with what it has not freed.
        assert!(ended || self.is_killed || std::thread::panicking(), "the server has not ended as it should");
    }
}
