//! A measured case: the server of a system, its connected clients, and those of them that call.

use crate::caller::{Caller, Done, Request};
use crate::peer::Place;
use crate::table::Entry;
use obvia_bench::{Case, Error, Histogram, Label, Path, Placement, ServerProcess, Wait};
use std::path::Path as FilePath;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The subcommand of a server process.
pub(crate) const SERVE: &str = "serve";
/// The subcommand of a process with idle clients.
pub(crate) const CROWD: &str = "crowd";

/// The most idle clients of a process. All of them have to connect within ten seconds.
const CROWD_MAX: u32 = 100;

/// The calls that are measured, of any system.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Load {
    /// The length of the array; 0 for calls without arguments.
    pub(crate) bytes: usize,
    /// The number of clients that call at once.
    pub(crate) callers: u32,
    /// The number of connected clients, at least as many as call.
    pub(crate) clients: u32,
}

/// The identity of a case in the report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Subject {
    pub(crate) peer: &'static str,
    pub(crate) wait: Wait,
    pub(crate) load: Load,
}

impl Subject {
    /// Whether the case makes sense. Sides that poll need a processor each, so only one client of a
    /// polling server is measured.
    pub(crate) fn works(&self, placement: Placement) -> bool {
        self.wait != Wait::Poll || (self.load.clients == 1 && !placement.is_one_cpu())
    }
}

/// A case. If it fails at any time, its processes end at once, so that they take nothing from the
/// other cases.
pub(crate) struct Calls {
    label: Label,
    /// The processes and threads, or the reason why there are none, until it was reported.
    running: Result<Running, Option<Error>>,
}

impl Calls {
    /// Starts the processes of a case, with sockets in `folder`. A failure is reported when the
    /// case is used.
    pub(crate) fn start(entry: &Entry, subject: Subject, folder: &FilePath, placement: Placement) -> Self {
        let Load { bytes, callers, .. } = subject.load;
        let case = if bytes == 0 { "null" } else { "MoveData" };
        let label = Label { case, bytes, at_once: callers, path: Path::Peer(entry.name), wait: subject.wait };
        let running = Running::start(entry, subject, folder, placement).map_err(Some);
        Self { label, running }
    }

    fn attempt<T>(&mut self, work: impl FnOnce(&mut Running) -> Result<T, Error>) -> Result<T, Error> {
        let outcome = match &mut self.running {
            Ok(running) => work(running),
            Err(reason) => Err(reason.take().unwrap_or(Error::PeerDied { status: None })),
        };
        if outcome.is_err() {
            self.running = Err(None);
        }
        outcome
    }
}

impl Case for Calls {
    fn label(&self) -> &Label {
        &self.label
    }

    /// A batch of several callers includes the start and the end of each, which should not affect
    /// the time per call.
    fn calls_min(&self) -> u32 {
        if self.label.at_once == 1 { 4 } else { 16 * self.label.at_once }
    }

    fn batch(&mut self, calls: u32) -> Result<Duration, Error> {
        self.attempt(|running| running.batch(calls))
    }

    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
        self.attempt(|running| running.stamped(calls, into))
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.attempt(Running::verify)
    }

    fn resume(&mut self) -> Result<(), Error> {
        self.attempt(|running| running.server.resume())
    }

    fn suspend(&mut self) -> Result<(), Error> {
        self.attempt(|running| running.server.suspend())
    }
}

/// The processes and threads of a case.
struct Running {
    // Field order matters: the clients disconnect before the server's process ends.
    callers: Vec<Caller>,
    _crowds: Vec<ServerProcess>,
    server: ServerProcess,
    is_null: bool,
    unverified: u64,
    /// The server's count at the last check.
    seen: u64,
}

impl Running {
    fn start(entry: &Entry, subject: Subject, folder: &FilePath, placement: Placement) -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let Load { bytes, callers, clients } = subject.load;
        // Names of obvia are those of a user, so the name has the number of the run.
        let run = folder.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{run}-{}", NEXT.fetch_add(1, Relaxed));
        let place = Place { socket: folder.join(name), wait: subject.wait, clients, bytes };
        let start = |command, more: &[&str]| {
            let place = place.arguments();
            let arguments: Vec<&str> =
                [command, entry.name].into_iter().chain(place.iter().map(String::as_str)).collect();
            ServerProcess::start(&[&arguments[..], more].concat(), None)
        };
        let server = start(SERVE, &["--cpu", &placement.server.to_string()])?;
        let mut crowds = Vec::new();
        for first in (callers..clients).step_by(CROWD_MAX as usize) {
            let count = CROWD_MAX.min(clients - first);
            crowds.push(start(CROWD, &["--first", &first.to_string(), "--count", &count.to_string()])?);
        }
        let callers = (0..callers).map(|number| (entry.call)(&place, number)).collect::<Result<_, _>>()?;
        let mut running = Self { callers, _crowds: crowds, server, is_null: bytes == 0, unverified: 0, seen: 0 };
        running.seen = running.count()?;
        // A polling server would slow down the start of the next ones.
        running.server.suspend()?;
        Ok(running)
    }

    /// Distributes calls among the callers and waits for all of them.
    fn share(&mut self, calls: u32, request: fn(u32) -> Request) -> Result<Vec<Done>, Error> {
        if self.is_null {
            self.unverified += u64::from(calls);
        }
        let number = self.callers.len() as u32;
        for (index, caller) in (0..number).zip(&mut self.callers) {
            caller.request(request(calls / number + u32::from(index < calls % number)));
        }
        self.callers.iter_mut().map(Caller::result).collect()
    }

    fn batch(&mut self, calls: u32) -> Result<Duration, Error> {
        let mut whole: Option<(Instant, Instant)> = None;
        for done in self.share(calls, Request::Batch)? {
            let Done::Called(began, ended) = done else { continue };
            let (first, last) = whole.unwrap_or((began, ended));
            whole = Some((first.min(began), last.max(ended)));
        }
        Ok(whole.map_or(Duration::ZERO, |(began, ended)| ended - began))
    }

    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
        for done in self.share(calls, Request::Stamped)? {
            if let Done::Stamped(histogram) = done {
                into.add(&histogram);
            }
        }
        Ok(())
    }

    /// Checks the arrays of all callers, and the number of calls without arguments.
    fn verify(&mut self) -> Result<(), Error> {
        let expected = self.seen + std::mem::take(&mut self.unverified);
        self.seen = self.count()?;
        if self.seen == expected {
            return Ok(());
        }
        Err(Error::Corrupt { what: "the count of calls", expected, found: self.seen })
    }

    /// Has each caller check its array. Returns the server's count of calls without arguments.
    fn count(&mut self) -> Result<u64, Error> {
        self.callers.iter_mut().for_each(|caller| caller.request(Request::Verify));
        let mut most = 0;
        for caller in &mut self.callers {
            if let Done::Verified(seen) = caller.result()? {
                most = most.max(seen);
            }
        }
        Ok(most)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.server.resume();
        self.callers.clear();
    }
}

/// Runs idle clients in this process until a signal ends it: each connects, makes a call, and keeps
/// its connection.
pub(crate) fn crowd(
    entry: &Entry,
    place: &Place,
    first: u32,
    count: u32,
    ready: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let _clients = (first..first + count).map(|number| (entry.call)(place, number)).collect::<Result<Vec<_>, _>>()?;
    ready()?;
    loop {
        std::thread::park();
    }
}
