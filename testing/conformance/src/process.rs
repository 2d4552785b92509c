//! Other processes: a test program starts itself again, with a task in its environment.

use crate::{Fixture, Run};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The variable that a task is in.
const TASK: &str = "OBVIA_CONFORMANCE_TASK";
/// The variable with how many seconds anything may take.
const PATIENCE: &str = "OBVIA_CONFORMANCE_PATIENCE";
/// The least that another process gets.
const PATIENCE_MIN: u64 = 20;

/// What another process is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Connect to this address, by a fixture at this place, and stay.
    Stay {
        /// The place.
        place: String,
        /// The address.
        address: String,
    },
    /// Connect and disconnect many times within the process, and see what is left of it.
    Cycles,
}

impl Task {
    fn to_text(&self) -> String {
        match self {
            Self::Stay { place, address } => format!("stay\n{place}\n{address}"),
            Self::Cycles => "cycles".to_owned(),
        }
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.split('\n');
        Some(match lines.next()? {
            "stay" => Self::Stay { place: lines.next()?.to_owned(), address: lines.next()?.to_owned() },
            "cycles" => Self::Cycles,
            _ => return None,
        })
    }
}

/// Does the task that this process was started for, if it was.
///
/// # Panics
///
/// When it cannot be done, which is how its process tells.
pub fn main<F: Fixture>() {
    let Ok(text) = std::env::var(TASK) else { return };
    let patience = std::env::var(PATIENCE).ok().and_then(|seconds| seconds.parse().ok());
    crate::set_patience(patience.unwrap_or(PATIENCE_MIN).max(PATIENCE_MIN));
    match Task::from_text(&text).expect("the task is one") {
        Task::Stay { place, address } => crate::statements::stay(&Run::new(F::at(&place), ""), &address),
        Task::Cycles => crate::statements::cycles(&Run::new(F::new(), "")),
    }
}

/// A process, which is killed when it is not wanted any more.
#[derive(Debug)]
pub struct Other {
    child: Child,
}

impl Other {
    /// Starts one, of the tests in this module.
    ///
    /// # Panics
    ///
    /// When the system does not let it.
    pub fn start(module: &str, task: &Task) -> Self {
        let tests = module.split_once("::").map_or("", |(_, inside)| inside);
        let test =
            if tests.is_empty() { "in_another_process".to_owned() } else { format!("{tests}::in_another_process") };
        let program = std::env::current_exe().expect("the test program has a path");
        let mut command = Command::new(program);
        command.args([test.as_str(), "--exact", "--nocapture", "--test-threads=1"]).env(TASK, task.to_text());
        command.env(PATIENCE, crate::patience().to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self { child: command.spawn().expect("the test program can be started again") }
    }

    /// Kills it, in the middle of whatever it does. It is gone when this returns.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for its end. `None` when it does not come in time.
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
