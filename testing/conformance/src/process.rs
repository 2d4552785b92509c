//! Other processes: a test program starts itself again, with a task in its environment.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The environment variable that contains the task.
pub(crate) const TASK: &str = "OBVIA_CONFORMANCE_TASK";
/// The environment variable for the maximum time that a test waits for an expected event, in
/// seconds.
pub(crate) const PATIENCE: &str = "OBVIA_CONFORMANCE_PATIENCE";
/// The least value of [`PATIENCE`] in a process that a test starts, in seconds.
pub(crate) const PATIENCE_MIN: u64 = 20;

/// The task of another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Connects to this address, with a fixture that is made from the description of the parent's
    /// fixture, and stays connected until the process is killed.
    Stay {
        /// The description that [`Fixture::place`](crate::Fixture::place) returned.
        place: String,
        /// The listener's address.
        address: String,
    },
    /// Connects and disconnects many times within the process, and checks that no resources are
    /// left behind.
    Cycles,
}

impl Task {
    fn to_text(&self) -> String {
        match self {
            Self::Stay { place, address } => format!("stay\n{place}\n{address}"),
            Self::Cycles => "cycles".to_owned(),
        }
    }

    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.split('\n');
        Some(match lines.next()? {
            "stay" => Self::Stay { place: lines.next()?.to_owned(), address: lines.next()?.to_owned() },
            "cycles" => Self::Cycles,
            _ => return None,
        })
    }
}

/// A process that is killed when its value is dropped.
#[derive(Debug)]
pub struct Other {
    child: Child,
}

impl Other {
    /// Starts the program of this process again, for a task of the tests in this module.
    ///
    /// # Panics
    ///
    /// When the process cannot be started.
    pub fn start(module: &str, task: &Task) -> Self {
        let tests = module.split_once("::").map_or("", |(_, inside)| inside);
        let test = if tests.is_empty() {
            "task_of_another_process".to_owned()
        } else {
            format!("{tests}::task_of_another_process")
        };
        let program = std::env::current_exe().expect("the test program has a path");
        let mut command = Command::new(program);
        command.args([test.as_str(), "--exact", "--nocapture", "--test-threads=1"]).env(TASK, task.to_text());
        command.env(PATIENCE, crate::patience().to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self { child: command.spawn().expect("the test program can be started again") }
    }

    /// Kills the process at an arbitrary point, and waits for its end.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for the end of the process. `None` when it does not end in time.
    pub fn ended(&mut self, limit: Duration) -> Option<ExitStatus> {
        let began = Instant::now();
        while began.elapsed() < limit {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.kill();
    }
}
