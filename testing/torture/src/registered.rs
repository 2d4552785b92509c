//! A host with a class whose server is started on demand.

use crate::process::{Directory, Process, kill_if_it_runs};
use crate::state::CLASS;
use obvia::scm::{Class, Program, Remote};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A runtime directory with a registered class. Its servers write their process IDs to a file, and
/// are killed on drop.
pub struct Host {
    program: String,
    directory: Directory,
}

impl Drop for Host {
    fn drop(&mut self) {
        let program = Path::new(&self.program).canonicalize().unwrap_or_default();
        self.starts().into_iter().for_each(|pid| kill_if_it_runs(&program, pid));
    }
}

/// Returns the path of the file that lets waiting servers continue. The file is in the same folder
/// as the file `starts`.
pub(crate) fn go_file(starts: &Path) -> PathBuf {
    starts.with_extension("go")
}

impl Host {
    /// Creates a host with a class whose server is `program`. The arguments `how` determine the
    /// server's behaviour.
    pub fn new(program: &str, how: &[&str]) -> Self {
        let host = Self { program: program.to_owned(), directory: Directory::new() };
        host.register(&host.class(how).to_string());
        host
    }

    /// Creates a host whose class is open to clients of other hosts, which have to ping at this
    /// period.
    pub fn with_remote(program: &str, remote: &[Remote], period: Duration) -> Self {
        let host = Self::new(program, &[]);
        let mut class = Class { remote: remote.to_vec(), ..host.class(&[]) };
        let period = ("TORTURE_PINGING".to_owned(), period.as_millis().to_string());
        class.program.as_mut().into_iter().for_each(|program| program.environment.push(period.clone()));
        host.register(&class.to_string());
        host
    }

    fn class(&self, how: &[&str]) -> Class {
        let program = Program {
            arguments: ["serve"].iter().chain(how).map(|&word| word.to_owned()).collect(),
            environment: vec![("TORTURE_STARTS".to_owned(), self.starts_file().display().to_string())],
            start_timeout: Duration::from_secs(if how == ["hang"] { 5 } else { 120 }),
            idle_timeout: Some(Duration::from_secs(1)),
            ..Program::new(&self.program)
        };
        Class { id: CLASS, name: None, library: None, program: Some(program), host: None, remote: Vec::new() }
    }

    /// Returns the directory of names and registrations.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Replaces the class's registration.
    pub fn register(&self, text: &str) {
        let folder = self.directory.classes();
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{CLASS:?}.class").to_lowercase()), text).unwrap();
    }

    fn starts_file(&self) -> PathBuf {
        self.directory.path().join("starts")
    }

    /// Lets waiting servers register the class.
    pub fn go(&self) {
        fs::write(go_file(&self.starts_file()), "").unwrap();
    }

    /// Returns the process IDs of all started servers.
    pub fn starts(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.starts_file()).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Starts a process of this host.
    pub fn process(&self) -> Process {
        self.directory.start(&self.program, &[])
    }

    /// Starts a process with the service for activation.
    pub fn service(&self) -> Process {
        let mut service = self.process();
        service.good("scm");
        service
    }

    /// Starts a process as [`Self::service`] does. Also returns the path of the file with the
    /// service's standard error.
    pub fn logged_service(&self) -> (Process, PathBuf) {
        let log = self.directory.path().join("scm.log");
        let mut command = Command::new(&self.program);
        command.stderr(File::create(&log).unwrap());
        let mut service = self.directory.run(command, &[]);
        service.good("scm");
        (service, log)
    }
}
