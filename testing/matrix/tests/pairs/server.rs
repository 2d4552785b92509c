//! The process with the objects under test.

use super::places::{Language, Place};
use ground::{Folder, Process};
use obvia::ContextHandle;
use std::process::Command;
use std::sync::Once;

/// A process that serves the objects under names of its own.
pub(crate) struct Server {
    process: Process,
    name: String,
    language: Language,
    // The bindings for networks.
    bindings: Vec<String>,
    // The runtime directory, if it is not that of this process.
    directory: Option<Folder>,
    // Whether the test has killed the process.
    is_killed: bool,
}

impl Server {
    /// Starts a server in Rust on this host.
    pub(crate) fn start() -> Self {
        Self::start_as(Language::Rust, &[], rust())
    }

    /// Starts a server in C++ and C on this host.
    pub(crate) fn start_native() -> Self {
        Self::start_native_with(&[])
    }

    /// Starts a server in C++ and C with environment variables.
    pub(crate) fn start_native_with(variables: &[(&str, &str)]) -> Self {
        let mut command = native();
        command.envs(variables.iter().copied());
        Self::start_as(Language::Native, &[], command)
    }

    /// Starts a server in another runtime directory, so that the server and this process reach each
    /// other only over a network.
    pub(crate) fn start_elsewhere(binding: &str) -> Self {
        Self::start_as(Language::Rust, &[binding], rust())
    }

    /// Starts the server of a place; `None` for Java without a JDK.
    pub(crate) fn start_at(Place { language, bindings }: Place) -> Option<Self> {
        let command = match language {
            Language::Rust => Some(rust()),
            Language::Native => Some(native()),
            Language::Java if bindings.is_empty() => super::java::program("serve"),
            Language::Java => super::java::networked("serve"),
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
        command.arg(&name).args(bindings);
        if let Some(directory) = &directory {
            command.env("OBVIA_RUNTIME_DIR", directory.path());
        }
        let mut process = Process::start(&mut command);
        let bindings = bindings.iter().map(|_| process.line()).collect();
        assert_eq!(process.line(), "serving");
        Self { process, name, language, bindings, directory, is_killed: false }
    }

    /// Returns the language of the server's objects.
    pub(crate) fn language(&self) -> Language {
        self.language
    }

    /// Kills the process.
    pub(crate) fn kill(mut self) {
        self.is_killed = true;
        self.process.kill();
    }

    /// Returns the name or binding of one of the server's objects.
    pub(crate) fn address(&self, object: &str) -> String {
        self.addresses(object).remove(0)
    }

    /// Returns the names or bindings of an object, one for each network.
    pub(crate) fn addresses(&self, object: &str) -> Vec<String> {
        let name = format!("{}-{object}", self.name);
        let over = |binding: &String| binding.replace(']', &format!(",name={name}]"));
        if self.bindings.is_empty() { vec![name] } else { self.bindings.iter().map(over).collect() }
    }

    /// Returns the arguments for the program in Java: the bindings, the prefix of the names, and
    /// the objects.
    pub(crate) fn places(&self, objects: &str) -> Vec<[String; 3]> {
        let here = ["ncacn_vi_shm:".to_owned()];
        let bindings = if self.bindings.is_empty() { &here } else { self.bindings.as_slice() };
        bindings.iter().map(|binding| [binding.clone(), self.name.clone(), objects.to_owned()]).collect()
    }

    /// Returns the string binding of the server's functions.
    pub(crate) fn binding(&self) -> String {
        self.bindings.first().cloned().unwrap_or_else(|| format!("ncacn_vi_shm:[{}-functions]", self.name))
    }

    /// Starts another client of the functions, which tries a context handle of this process.
    pub(crate) fn start_client(&self, what: &str, handle: &ContextHandle) -> Process {
        let mut command = rust();
        command.args([what, &self.binding(), &format!("{:032x}", handle.to_wire().1.to_u128())]);
        if let Some(directory) = &self.directory {
            command.env("OBVIA_RUNTIME_DIR", directory.path());
        }
        Process::start(&mut command)
    }
}

fn rust() -> Command {
    Command::new(env!("CARGO_BIN_EXE_matrix"))
}

fn native() -> Command {
    let mut command = Command::new(super::native::program());
    command.arg("serve");
    command
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server with sanitizers fails if it has leaked memory.
        if !self.is_killed && !std::thread::panicking() {
            self.process.finish();
        }
    }
}
