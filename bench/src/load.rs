//! Load for a running server: calls of one method over several connections, as fast as the server
//! answers, or at a fixed rate.
//!
//! At a fixed rate a call's latency counts from the time when the call was due. If the server is
//! slow, calls wait for a free connection, and this wait is a part of their latencies. Otherwise a
//! slow server would get fewer calls and better percentiles ("coordinated omission").

mod pace;
mod tally;

pub use tally::Failure;

use crate::{Histogram, Machine};
use obvia::{Error, code, dynamic};
use pace::Pace;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tally::{Tally, is_answer, is_lost_connection};

/// The called method of a server.
pub trait Target: Send + Sync {
    /// Opens a connection to the server for the current thread.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached before the thread's time limit.
    fn connect(&self) -> obvia::Result<Box<dyn Caller>>;

    /// Asks the server whether it still answers. Waits for the answer for up to `limit`.
    ///
    /// # Errors
    ///
    /// RPC_E_TIMEOUT if the server does not answer in this time; RPC_S_SERVER_UNAVAILABLE or
    /// RPC_E_DISCONNECTED if there is no server. Any other error is an answer of the server.
    fn probe(&self, limit: Duration) -> obvia::Result<()>;
}

/// A connection, which makes one call at a time.
pub trait Caller {
    /// Calls the method.
    ///
    /// # Errors
    ///
    /// If the method fails, if the server does not answer before the thread's time limit, or if the
    /// reply does not match the interface.
    fn call(&mut self) -> obvia::Result<()>;
}

/// The extent of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The number of connections, each with a thread.
    pub connections: u32,
    /// The calls per second of all connections together; `None` if each connection calls again as
    /// soon as it has its answer.
    pub rate: Option<f64>,
    /// The time for which calls are made before the measured time.
    pub warmup: Duration,
    /// The measured time; `None` for the time that `calls` calls take, up to a day.
    pub duration: Option<Duration>,
    /// The number of measured calls after which the run ends, even if the measured time has not
    /// passed.
    pub calls: Option<u64>,
    /// The time limit of each call.
    pub timeout: Duration,
}

/// The reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The time has passed.
    Duration,
    /// All planned calls were made.
    Calls,
    /// The user interrupted the run.
    Interrupt,
    /// The server no longer answered.
    Server,
}

/// The state of a run, reported once a second.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The time since the end of the warm-up; 0 during the warm-up.
    pub seconds: f64,
    /// The number of measured calls that succeeded.
    pub calls: u64,
    /// The number of measured calls that failed.
    pub failed: u64,
}

/// The results of a run.
#[derive(Debug)]
pub struct Load {
    /// The machine of the callers.
    pub machine: Machine,
    /// The extent of the run.
    pub plan: Plan,
    /// The reason for the end of the run.
    pub ended_by: Ending,
    /// The error of the probe that the server did not answer, if such a probe ended the run.
    pub lost: Option<Error>,
    /// The time from the end of the warm-up to the end of the run. If a number of calls limits the
    /// run, the run ends with its last answer. At a rate, such a run ends no earlier than the time
    /// when a further call would be due.
    pub measured: Duration,
    /// The latencies of the calls that succeeded.
    pub latency: Histogram,
    /// The calls that failed, by error.
    pub failures: Vec<Failure>,
    /// The number of measured calls that had no answer when the run ended.
    pub unanswered: u64,
    /// The number of calls that were due while all connections were busy.
    pub late: u64,
    /// The number of calls that were due before the end of the run and were not begun.
    pub still_due: u64,
}

impl Load {
    /// Returns the number of calls that failed.
    pub fn failed(&self) -> u64 {
        self.failures.iter().map(|failure| failure.count).sum()
    }

    /// Returns the number of calls per second that succeeded.
    pub fn rate(&self) -> f64 {
        let seconds = self.measured.as_secs_f64();
        if seconds > 0.0 { self.latency.total() as f64 / seconds } else { 0.0 }
    }
}

/// The least time limit of connecting, and of the preparation of a run. The time limit of a call
/// may be much shorter.
pub const PREPARATION_MIN: Duration = Duration::from_secs(10);
/// The time for which a run waits beyond its time limits, and for outstanding calls after an
/// interrupt.
const GRACE: Duration = Duration::from_millis(500);
/// The least time limit of a probe, which asks whether the server still answers.
const PROBE_MIN: Duration = Duration::from_secs(1);
/// The interval at which the run looks for an interrupt.
const LOOK: Duration = Duration::from_millis(50);
/// The interval of reports on the progress.
const REPORT: Duration = Duration::from_secs(1);

/// The state that the threads of a run share.
struct Run {
    target: Arc<dyn Target>,
    timeout: Duration,
    /// The pace of the calls. It is set when all connections are open.
    pace: OnceLock<Pace>,
    connections: Vec<Connection>,
    lost: OnceLock<Error>,
}

/// The state of a connection. Because of the alignment, the connections of different threads never
/// share a cache line. They also never share a pair of lines that processors fetch together.
#[derive(Default)]
#[repr(align(128))]
struct Connection {
    tally: Mutex<Tally>,
    /// Whether a measured call is outstanding.
    is_calling: AtomicBool,
}

impl Connection {
    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message of a thread.
enum Message {
    Connected(obvia::Result<()>),
    /// The thread has ended.
    Ended {
        /// The connection's position.
        index: usize,
        /// Whether the thread ended by a panic.
        has_panicked: bool,
    },
}

/// Makes the calls of a plan until the plan is done, the server no longer answers, or
/// `is_interrupted` becomes true.
///
/// # Errors
///
/// If not all connections can be opened before the time limit, which is at least
/// [`PREPARATION_MIN`]; if the system starts no thread; RPC_E_CALL_CANCELED if the run is
/// interrupted before the first call; E_UNEXPECTED if a thread panics.
pub fn run(
    target: Arc<dyn Target>,
    plan: &Plan,
    is_interrupted: &AtomicBool,
    mut progress: impl FnMut(Progress),
) -> obvia::Result<Load> {
    let machine = Machine::read(None);
    let connections = (0..plan.connections).map(|_| Connection::default()).collect();
    let (timeout, pace, lost) = (plan.timeout, OnceLock::new(), OnceLock::new());
    let run = Arc::new(Run { target, timeout, pace, connections, lost });
    let (says, messages) = mpsc::channel();
    let begins = start(&run, &says)?;
    run.await_connections(&messages, is_interrupted)?;
    let pace = run.pace.get_or_init(|| Pace::begin(plan));
    for begin in begins {
        // The send fails only for a thread that has panicked.
        let _ = begin.send(());
    }
    let was_interrupted = run.await_end(pace, &messages, is_interrupted, &mut progress)?;
    Ok(run.sum(machine, plan, pace, was_interrupted))
}

/// Starts a thread for each connection. Returns a sender for each thread. A message from the sender
/// makes the thread begin its calls.
fn start(run: &Arc<Run>, says: &Sender<Message>) -> obvia::Result<Vec<Sender<()>>> {
    let each = (0..run.connections.len()).map(|index| {
        let (begin, begins) = mpsc::channel();
        let (run, says) = (Arc::clone(run), says.clone());
        let work = move || {
            let _ended = Ended { says: &says, index };
            run.work(index, &says, &begins);
        };
        let started = std::thread::Builder::new().name(format!("connection {index}")).spawn(work);
        started.map(|_| begin).map_err(|error| {
            let text = format!("cannot start a thread for connection {}: {error}; use fewer connections", index + 1);
            Error::new(code::E_OUTOFMEMORY, text)
        })
    });
    each.collect()
}

/// Tells the run that a thread has ended, even if it panicked.
struct Ended<'a> {
    says: &'a Sender<Message>,
    index: usize,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        // The send fails only if the run no longer waits.
        let _ = self.says.send(Message::Ended { index: self.index, has_panicked: std::thread::panicking() });
    }
}

impl Run {
    /// Returns the time limit of connecting.
    fn connecting(&self) -> Duration {
        self.timeout.max(PREPARATION_MIN)
    }

    /// Returns the time limit of a probe, which asks whether the server still answers. A server
    /// that pauses for longer than the limit of a call is not lost.
    fn probing(&self) -> Duration {
        self.timeout.max(PROBE_MIN)
    }

    /// Opens a connection, and makes its calls when the run begins.
    fn work(&self, index: usize, says: &Sender<Message>, begins: &Receiver<()>) {
        let (mut caller, outcome) = match dynamic::with_unsent_timeout(self.connecting(), || self.target.connect()) {
            Ok(caller) => (Some(caller), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let is_awaited = says.send(Message::Connected(outcome)).is_ok() && begins.recv().is_ok();
        if let (Some(caller), Some(pace), true) = (&mut caller, self.pace.get(), is_awaited) {
            dynamic::with_unsent_timeout(self.timeout, || self.call(pace, &self.connections[index], &mut **caller));
        }
    }

    /// Makes the calls of a connection.
    fn call(&self, pace: &Pace, own: &Connection, caller: &mut dyn Caller) {
        while let Some(due) = pace.next() {
            own.is_calling.store(due.is_measured, Ordering::Relaxed);
            let outcome = caller.call();
            let now = Instant::now();
            own.tally().note(&due, now, &outcome);
            own.is_calling.store(false, Ordering::Relaxed);
            if let Err(error) = outcome
                && self.has_lost_server(&error, due.began)
            {
                pace.stop();
            }
        }
    }

    /// Whether the server no longer answers, after a call that began at `began` failed with
    /// `error`. If a connection was lost, or a call timed out and no call was answered since
    /// `began`, a probe decides.
    fn has_lost_server(&self, error: &Error, began: Instant) -> bool {
        let is_silent = || !self.connections.iter().any(|one| one.tally().answered > Some(began));
        let is_suspect = is_lost_connection(error) || (error.code() == code::RPC_E_TIMEOUT && is_silent());
        if !is_suspect {
            return false;
        }
        match self.target.probe(self.probing()) {
            Err(error) if !is_answer(&error) => {
                // The first error is kept.
                let _ = self.lost.set(error);
                true
            }
            _ => false,
        }
    }

    /// Waits until all connections are open.
    fn await_connections(&self, messages: &Receiver<Message>, is_interrupted: &AtomicBool) -> obvia::Result<()> {
        let end = Instant::now() + self.connecting() + GRACE;
        let mut opened = 0;
        while opened < self.connections.len() {
            match messages.recv_timeout(LOOK) {
                Ok(Message::Connected(outcome)) => {
                    outcome?;
                    opened += 1;
                }
                Ok(Message::Ended { index, .. }) => return Err(panicked(index)),
                // The run itself has a sender, so the channel is never disconnected.
                Err(_) => {}
            }
            if is_interrupted.load(Ordering::Relaxed) {
                return Err(Error::new(code::RPC_E_CALL_CANCELED, "interrupted before the first call"));
            }
            if Instant::now() > end {
                let (all, seconds) = (self.connections.len(), self.connecting().as_secs_f64());
                let text = format!("{opened} of {all} connections were open after {seconds} seconds");
                return Err(Error::new(code::RPC_E_TIMEOUT, text));
            }
        }
        Ok(())
    }

    /// Waits for the end of all threads, but no longer than [`GRACE`] after an interrupt. After the
    /// end of the run or the loss of the server, waits no longer than the sum of the time limit of
    /// a call, the time limit of a probe, and [`GRACE`]. Returns whether the run was interrupted.
    fn await_end(
        &self,
        pace: &Pace,
        messages: &Receiver<Message>,
        is_interrupted: &AtomicBool,
        progress: &mut impl FnMut(Progress),
    ) -> obvia::Result<bool> {
        let (mut running, mut report) = (self.connections.len(), Instant::now() + REPORT);
        let mut give_up: Option<Instant> = None;
        let mut was_interrupted = false;
        while running > 0 {
            match messages.recv_timeout(LOOK) {
                Ok(Message::Ended { index, has_panicked: true }) => {
                    pace.stop();
                    return Err(panicked(index));
                }
                Ok(_) => running -= 1,
                Err(_) => {}
            }
            let now = Instant::now();
            if is_interrupted.load(Ordering::Relaxed) && !was_interrupted && running > 0 {
                was_interrupted = true;
                pace.stop();
                give_up = Some(now + GRACE);
            } else if give_up.is_none() && (pace.is_over(now) || self.lost.get().is_some()) {
                give_up = Some(now + self.timeout + self.probing() + GRACE);
            }
            if give_up.is_some_and(|end| now >= end) {
                break;
            }
            if now >= report {
                report = now + REPORT;
                progress(self.progress(pace, now));
            }
        }
        Ok(was_interrupted)
    }

    fn progress(&self, pace: &Pace, now: Instant) -> Progress {
        let (mut calls, mut failed) = (0, 0);
        for connection in &self.connections {
            let tally = connection.tally();
            calls += tally.latency.total();
            failed += tally.failed();
        }
        let seconds = now.saturating_duration_since(pace.measured_from).as_secs_f64();
        Progress { seconds, calls, failed }
    }

    /// Adds up the results of all connections.
    fn sum(&self, machine: Machine, plan: &Plan, pace: &Pace, was_interrupted: bool) -> Load {
        let now = Instant::now();
        let (mut sum, mut unanswered) = (Tally::default(), 0);
        for connection in &self.connections {
            sum.add(&connection.tally());
            unanswered += u64::from(connection.is_calling.load(Ordering::Relaxed));
        }
        let begun = sum.latency.total() + sum.failed() + unanswered;
        let lost = self.lost.get().cloned();
        let ended_by = if lost.is_some() {
            Ending::Server
        } else if was_interrupted {
            Ending::Interrupt
        } else if plan.calls.is_some_and(|calls| begun >= calls) {
            Ending::Calls
        } else {
            Ending::Duration
        };
        let until = pace.ended_at(sum.last).unwrap_or(now);
        Load {
            machine,
            plan: plan.clone(),
            ended_by,
            lost,
            measured: until.saturating_duration_since(pace.measured_from),
            latency: sum.latency,
            failures: sum.failures,
            unanswered,
            late: sum.late,
            still_due: pace.due(now).saturating_sub(begun),
        }
    }
}

/// Returns the error for a thread that has panicked. The panic has printed its own message to the
/// standard error.
fn panicked(index: usize) -> Error {
    let text = format!("the thread of connection {} ended by a panic, a defect of its caller", index + 1);
    Error::new(code::E_UNEXPECTED, text)
}

#[cfg(test)]
mod tests;
