//! Load for a running server: calls of one method over several connections, as fast as the answers
//! come, or at a fixed rate.
//!
//! At a fixed rate a call's latency counts from the time when it was due. If the server is slow,
//! calls wait for a free connection, and this wait is a part of their latencies: otherwise a slow
//! server would get fewer calls and better percentiles ("coordinated omission").

mod pace;
mod tally;

pub use tally::Failure;

use crate::{Histogram, Machine};
use obvia::{Error, code, dynamic};
use pace::Pace;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tally::{Tally, is_lost_connection};

/// The called method of a server.
pub trait Target: Send + Sync {
    /// Opens a connection of the current thread to the server.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached before the thread's time limit.
    fn connect(&self) -> obvia::Result<Box<dyn Caller>>;

    /// Asks whether the server still answers.
    ///
    /// # Errors
    ///
    /// If it does not before the thread's time limit.
    fn probe(&self) -> obvia::Result<()>;
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
    /// The calls per second of all connections together; `None` for as many as are answered.
    pub rate: Option<f64>,
    /// The time before the measured one.
    pub warmup: Duration,
    /// The measured time.
    pub duration: Duration,
    /// The number of measured calls after which the run ends earlier.
    pub calls: Option<u64>,
    /// The time limit of each call, and of connecting.
    pub timeout: Duration,
}

/// The reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The time has passed.
    Duration,
    /// The number of calls was made.
    Calls,
    /// The user interrupted the run.
    Interrupt,
    /// The server no longer answered.
    Server,
}

/// The state of a run, once a second.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The time since the end of the warm-up; 0 before.
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
    /// The extent.
    pub plan: Plan,
    /// The reason for the end.
    pub ended_by: Ending,
    /// The error by which the server was found not to answer.
    pub lost: Option<Error>,
    /// The time from the end of the warm-up to the end of the last measured call.
    pub measured: Duration,
    /// The latencies of the calls that succeeded.
    pub latency: Histogram,
    /// The calls that failed, by error.
    pub failures: Vec<Failure>,
    /// The number of calls that had no answer when the run ended.
    pub unanswered: u64,
    /// The number of calls that were due before a connection was free.
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

/// The time in which calls have to end after an interrupt, and threads after their last call.
const GRACE: Duration = Duration::from_millis(500);
/// The time limit of the question whether the server still answers.
const PROBE_MAX: Duration = Duration::from_secs(1);
/// The interval at which the run looks for an interrupt.
const LOOK: Duration = Duration::from_millis(50);
/// The interval of reports on the progress.
const REPORT: Duration = Duration::from_secs(1);

/// The state that the threads of a run share.
struct Run {
    target: Arc<dyn Target>,
    timeout: Duration,
    /// The pace, from the time at which all connections are open.
    pace: OnceLock<Pace>,
    connections: Vec<Connection>,
    lost: OnceLock<Error>,
}

#[derive(Default)]
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
    Ended,
}

/// Makes the calls of a plan, until it is done, the server no longer answers, or `is_interrupted`
/// becomes true.
///
/// # Errors
///
/// If not all connections can be opened before the time limit, or if the system starts no thread.
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
    let is_cut_short = run.await_end(pace, &messages, is_interrupted, &mut progress);
    Ok(run.sum(machine, plan, pace, is_cut_short))
}

/// Starts a thread for each connection, which begins its calls when the returned sender says so.
fn start(run: &Arc<Run>, says: &Sender<Message>) -> obvia::Result<Vec<Sender<()>>> {
    let each = (0..run.connections.len()).map(|index| {
        let (begin, begins) = mpsc::channel();
        let (run, says) = (Arc::clone(run), says.clone());
        let work = move || {
            let timeout = run.timeout;
            dynamic::with_unsent_timeout(timeout, || run.work(index, &says, &begins));
        };
        let started = std::thread::Builder::new().name(format!("connection {index}")).spawn(work);
        started.map(|_| begin).map_err(|error| {
            let text = format!("cannot start a thread for connection {}: {error}; use fewer connections", index + 1);
            Error::new(code::E_OUTOFMEMORY, text)
        })
    });
    each.collect()
}

/// Tells the run that a thread has ended, even if by a panic.
struct Ended<'a>(&'a Sender<Message>);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        // The send fails only if the run no longer waits.
        let _ = self.0.send(Message::Ended);
    }
}

impl Run {
    /// Opens a connection, and makes its calls.
    fn work(&self, index: usize, says: &Sender<Message>, begins: &Receiver<()>) {
        let _ended = Ended(says);
        let (mut caller, outcome) = match self.target.connect() {
            Ok(caller) => (Some(caller), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let is_awaited = says.send(Message::Connected(outcome)).is_ok() && begins.recv().is_ok();
        let (Some(caller), Some(pace), true) = (&mut caller, self.pace.get(), is_awaited) else { return };
        let own = &self.connections[index];
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

    /// Whether a call that began at a time, and failed, shows that the server no longer answers.
    fn has_lost_server(&self, error: &Error, began: Instant) -> bool {
        let is_silent = || !self.connections.iter().any(|one| one.tally().answered > Some(began));
        let is_suspect = is_lost_connection(error) || (error.code() == code::RPC_E_TIMEOUT && is_silent());
        if !is_suspect {
            return false;
        }
        match dynamic::with_unsent_timeout(self.timeout.min(PROBE_MAX), || self.target.probe()) {
            Ok(()) => false,
            Err(error) => {
                // The first error counts.
                let _ = self.lost.set(error);
                true
            }
        }
    }

    /// Waits until all connections are open.
    fn await_connections(&self, messages: &Receiver<Message>, is_interrupted: &AtomicBool) -> obvia::Result<()> {
        let end = Instant::now() + self.timeout + GRACE;
        let mut opened = 0;
        while opened < self.connections.len() {
            match messages.recv_timeout(LOOK) {
                Ok(Message::Connected(outcome)) => {
                    outcome?;
                    opened += 1;
                }
                Ok(Message::Ended) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::new(code::E_UNEXPECTED, "a thread ended before its connection was open"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if is_interrupted.load(Ordering::Relaxed) {
                return Err(Error::new(code::RPC_E_CALL_CANCELED, "interrupted before the first call"));
            }
            if Instant::now() > end {
                let (all, seconds) = (self.connections.len(), self.timeout.as_secs_f64());
                let text = format!("{opened} of {all} connections were open after {seconds} seconds");
                return Err(Error::new(code::RPC_E_TIMEOUT, text));
            }
        }
        Ok(())
    }

    /// Waits for the end of all threads, but not for calls that outlast the time limit or an
    /// interrupt. Returns whether the run was interrupted.
    fn await_end(
        &self,
        pace: &Pace,
        messages: &Receiver<Message>,
        is_interrupted: &AtomicBool,
        progress: &mut impl FnMut(Progress),
    ) -> bool {
        let (mut running, mut report) = (self.connections.len(), Instant::now() + REPORT);
        let mut give_up: Option<Instant> = None;
        let mut was_interrupted = false;
        while running > 0 {
            match messages.recv_timeout(LOOK) {
                Ok(_) => running -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = Instant::now();
            if is_interrupted.load(Ordering::Relaxed) && !was_interrupted {
                was_interrupted = running > 0;
                pace.stop();
                give_up = Some(now + GRACE);
            } else if give_up.is_none() && (pace.is_over(now) || self.lost.get().is_some()) {
                give_up = Some(now + self.timeout + PROBE_MAX + GRACE);
            }
            if give_up.is_some_and(|end| now >= end) {
                pace.stop();
                break;
            }
            if now >= report {
                report = now + REPORT;
                progress(self.progress(pace, now));
            }
        }
        was_interrupted
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
        let until = sum.last.unwrap_or(now);
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

#[cfg(test)]
mod tests;
