//! Processes that tests start, give orders to, stop and kill, and the files that they leave behind.

use ground::{Folder, thread_states};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub use ground::{LATEST, within};

/// Compares two values, for [`within`].
pub fn same<T: PartialEq + std::fmt::Debug>(found: T, wanted: T) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("found {found:?}, wanted {wanted:?}")) }
}

/// A runtime directory, removed on drop.
pub struct Directory(Folder);

impl Directory {
    /// Creates an empty directory.
    #[expect(clippy::new_without_default, reason = "makes a directory")]
    pub fn new() -> Self {
        Self(Folder::new("torture"))
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the folder of the registrations for the processes that use the directory.
    pub fn classes(&self) -> PathBuf {
        self.0.join("classes")
    }

    /// Returns the names of the directory's files.
    pub fn files(&self) -> BTreeSet<String> {
        let files = fs::read_dir(self.path()).into_iter().flatten();
        files.filter_map(|file| Some(file.ok()?.file_name().to_string_lossy().into_owned())).collect()
    }

    /// Checks that the directory has exactly the files that `processes` servers with these exported
    /// names need.
    pub fn files_of(&self, names: &[&str], processes: usize) -> Result<(), String> {
        let files = self.files();
        let named = names.iter().flat_map(|name| [format!("{name}.lock"), format!("{name}.sock")]);
        let named: BTreeSet<String> = named.collect();
        let (own, others): (BTreeSet<_>, BTreeSet<_>) =
            files.iter().cloned().partition(|file| file.starts_with("oxid-"));
        same((own.len(), others), (2 * processes, named)).map_err(|what| format!("{what}; all: {files:?}"))
    }

    /// Starts a process that uses this directory.
    pub fn start(&self, program: &str, options: &[&str]) -> Process {
        self.run(Command::new(program), options)
    }

    /// Starts a process that uses this directory, with environment variables.
    pub fn start_with(&self, program: &str, variables: &[(&str, &str)]) -> Process {
        let mut command = Command::new(program);
        command.envs(variables.iter().copied());
        self.run(command, &[])
    }

    /// Starts a process in a network namespace.
    pub fn start_on(&self, namespace: &str, program: &str, options: &[&str]) -> Process {
        let mut command = Command::new("ip");
        // `ip` executes the program in its own process, so the process ID is the
        // program's.
        command.args(["netns", "exec", namespace, program]);
        self.run(command, options)
    }

    /// Starts a process as another user. The test has to run as the superuser.
    pub fn start_as(&self, uid: u32, program: &str, options: &[&str]) -> Process {
        let mut command = Command::new(program);
        command.uid(uid).gid(uid);
        self.run(command, options)
    }

    /// Starts a process that can have this number of descriptors.
    pub fn start_with_descriptors(&self, program: &str, most: u32) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -n {most} && exec \"$0\""), program]);
        self.run(command, &[])
    }

    /// Lets all users read the directory.
    pub fn open(&self) {
        fs::set_permissions(self.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn run(&self, mut command: Command, options: &[&str]) -> Process {
        command.args(options).env("OBVIA_RUNTIME_DIR", self.path()).env(obvia::scm::VARIABLE, self.classes());
        Process(ground::Process::start(&mut command))
    }
}

/// A running process that takes orders. It is killed on drop, and ends by itself with the test.
pub struct Process(ground::Process);

impl Deref for Process {
    type Target = ground::Process;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Process {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Process {
    /// Sends an order, which must succeed. Returns the answer without its first word, "ok".
    #[track_caller]
    pub fn good(&mut self, order: &str) -> String {
        self.say(order);
        let line = self.line();
        let rest = line.strip_prefix("ok");
        rest.unwrap_or_else(|| panic!("{order}: {line}")).trim_start().to_owned()
    }

    /// Sends an order, which must fail. Returns the answer without its first word, "error".
    #[track_caller]
    pub fn bad(&mut self, order: &str) -> String {
        self.say(order);
        let line = self.line();
        let rest = line.strip_prefix("error ");
        rest.unwrap_or_else(|| panic!("{order}: {line}")).to_owned()
    }

    /// Makes a client call its server, take callbacks, and pass objects in both directions.
    #[track_caller]
    pub fn passes_objects(&mut self) {
        self.good("make 3");
        assert_eq!(self.number("add 7"), 7);
        assert_eq!(self.number("callback 5"), 16);
        // An object of the server arrives at the server as itself; an object of the client arrives
        // as a proxy.
        assert_eq!(self.good("pass"), "true true");
        assert_eq!(self.good("pass-own"), "true false");
        self.good("keep-own");
        assert_eq!(self.number("add-to-kept 4"), 4);
        self.good("keep-none");
        self.good("context");
        self.good("halve 10");
        self.good("halve 1");
        // The error information of a failed method reaches the caller.
        let why = self.bad("fail -2147024809");
        let told = "the counter was told to fail by -2147024809 counter (\"counter.chm\", 7)";
        assert!(why.contains(told), "{why}");
    }

    /// Makes a call that times out after the server has begun it. Doubles the timeout until the
    /// server begins the call before the timeout ends.
    #[track_caller]
    pub fn times_out(&mut self, server: &mut Self) {
        let before = server.number("begun");
        let mut timeout = Duration::from_millis(100);
        while server.number("begun") == before {
            assert!(timeout < LATEST, "no call is begun");
            self.good(&format!("timeout {}", timeout.as_millis()));
            let error = self.bad("sleep 600000");
            assert!(error.contains("RPC_E_TIMEOUT"), "{error}");
            timeout *= 2;
        }
        self.good("timeout");
        // All begun sleeps notice their cancellation.
        within(LATEST, || same(server.number("noticed"), server.number("begun")));
        server.becomes(LATEST, "sleeping", 0);
    }

    /// Sends an order, and returns the number in its answer.
    #[track_caller]
    pub fn number(&mut self, order: &str) -> i64 {
        self.good(order).parse().unwrap()
    }

    /// Repeats an order until its answer is this number.
    #[track_caller]
    pub fn becomes(&mut self, limit: Duration, order: &str, wanted: i64) {
        within(limit, || same(self.number(order), wanted).map_err(|what| format!("{order}: {what}")));
    }

    /// Stops the process by a signal, and waits until it is stopped.
    pub fn stop(&self) {
        stop(self.id());
    }

    /// Continues a stopped process.
    pub fn go_on(&self) {
        go_on(self.id());
    }

    fn status(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        line.unwrap().trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Returns the number of the process's threads with this name.
    pub fn threads_called(&self, name: &str) -> usize {
        let threads = fs::read_dir(format!("/proc/{}/task", self.id())).unwrap();
        let names = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok());
        names.filter(|found| found.trim_end() == name).count()
    }

    /// Returns the number of the process's threads.
    pub fn threads(&self) -> u64 {
        self.status("Threads")
    }

    /// Waits until each thread of the process is asleep. The states of the threads are read one
    /// after the other, not at the same moment.
    #[track_caller]
    pub fn sleeps(&self) {
        within(LATEST, || are(self.id(), 'S'));
    }

    /// Returns the process's resident memory, in KiB.
    pub fn resident_kib(&self) -> u64 {
        self.status("VmRSS")
    }

    /// Returns the processor time that the process has used.
    pub fn processor_time(&self) -> Duration {
        /// The unit of the kernel's figures: proc_pid_stat(5), sysconf(_SC_CLK_TCK) on x86-64.
        const TICK: Duration = Duration::from_millis(10);
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap();
        // The second field is the name, in parentheses. It may have spaces, and the third field
        // follows its closing parenthesis.
        let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        TICK * fields[11..13].iter().map(|field| field.parse::<u32>().unwrap()).sum::<u32>()
    }

    /// Returns the number of the process's file descriptors.
    pub fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.id())).unwrap().count()
    }

    /// Returns the files in /dev/shm that the process has mapped. They outlive a killed process,
    /// unlike memory files, which have no path.
    pub fn shared_memory(&self) -> Vec<String> {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.id())).unwrap();
        let paths = maps.lines().filter_map(|line| Some(&line[line.find("/dev/shm/")?..]));
        paths.filter(|path| !path.ends_with(" (deleted)")).map(str::to_owned).collect()
    }
}

/// Whether a process has threads. Its first thread may have ended while its other threads run and
/// hold its files.
fn is_there(pid: u32) -> bool {
    !thread_states(pid).is_empty()
}

/// Checks that all threads of a process are in a state.
fn are(pid: u32, state: char) -> Result<(), String> {
    let states = thread_states(pid);
    let are = !states.is_empty() && states.chars().all(|found| found == state);
    if are { Ok(()) } else { Err(format!("the threads of process {pid} are in the states {states:?}")) }
}

/// Waits for the end of a process that is not a child.
#[track_caller]
pub fn ends(pid: u32) {
    within(LATEST, || if is_there(pid) { Err(format!("process {pid} is there")) } else { Ok(()) });
}

/// Stops a process by a signal, and waits until all its threads are stopped.
#[track_caller]
pub fn stop(pid: u32) {
    signal(pid, Signal::STOP);
    within(LATEST, || are(pid, 'T'));
}

/// Continues a stopped process.
pub fn go_on(pid: u32) {
    signal(pid, Signal::CONT);
}

/// Kills a process that is not a child.
pub fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// Kills the process `pid` if it runs `program`. After the end of a process, another process may
/// get its ID.
pub(crate) fn kill_if_it_runs(program: &Path, pid: u32) {
    let runs = fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| path == program);
    if let Some(pid) = Pid::from_raw(pid.cast_signed()).filter(|_| runs) {
        let _ = kill_process(pid, Signal::KILL);
    }
}
