//! A measured case: the server of a system, its connected clients, and those of them that call.

use crate::system::Place;
use crate::table::Entry;
use obvia_bench::calls::Callers;
use obvia_bench::{Case, Error, Histogram, Label, PATIENCE, Parent, Path, Placement, ServerProcess, Wait};
use std::path::Path as FilePath;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

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
    pub(crate) system: &'static str,
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

/// A case. The processes of a failed case end at once, so that they take nothing from the others.
pub(crate) struct Calls {
    label: Label,
    /// The processes and threads, or the reason for their end, which is reported once.
    running: Result<Running, Option<Error>>,
}

impl Calls {
    /// Starts the processes of a case, with sockets in `folder`. A failure is reported when the
    /// case is used.
    pub(crate) fn start(entry: &Entry, subject: Subject, folder: &FilePath, placement: Placement) -> Self {
        let Load { bytes, callers, .. } = subject.load;
        let case = if bytes == 0 { "null" } else { "MoveData" };
        let label = Label { case, bytes, at_once: callers, path: Path::System(entry.name), wait: subject.wait };
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
        self.attempt(|running| running.callers.batch(calls, &mut running.server))
    }

    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
        self.attempt(|running| running.callers.stamped(calls, into, &mut running.server))
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.attempt(|running| running.callers.verify(&mut running.server))
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
    callers: Callers,
    // Idle clients are not suspended. They sleep, and resuming them would wake each of their
    // threads, on the callers' processor.
    _crowds: Vec<ServerProcess>,
    server: ServerProcess,
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
        let mut server = start(SERVE, &["--cpu", &placement.server.to_string()])?;
        let mut crowds = Vec::new();
        for first in (callers..clients).step_by(CROWD_MAX as usize) {
            let count = CROWD_MAX.min(clients - first);
            crowds.push(start(CROWD, &["--first", &first.to_string(), "--count", &count.to_string()])?);
        }
        let callers = (0..callers).map(|number| (entry.start)(&place, number)).collect::<Result<_, _>>()?;
        let callers = Callers::new(callers, PATIENCE, &mut server)?;
        // A polling server would slow down the start of the next ones.
        server.suspend()?;
        Ok(Self { callers, _crowds: crowds, server })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.server.resume();
    }
}

/// Runs idle clients in this process until a signal ends it: each connects, makes a call, and keeps
/// its connection.
pub(crate) fn crowd(entry: &Entry, place: &Place, first: u32, count: u32, mut parent: Parent) -> Result<(), Error> {
    let mut clients = Vec::new();
    for number in first..first + count {
        let mut client = (entry.start)(place, number)?;
        client.result(&mut parent, PATIENCE)?;
        clients.push(client);
    }
    parent.ready()?;
    loop {
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polling_needs_a_processor_for_the_only_client_and_one_for_the_server() {
        let works = |wait, clients, placement: &str| {
            let load = Load { bytes: 0, callers: 1, clients };
            Subject { system: "x", wait, load }.works(placement.parse().unwrap())
        };
        for wait in [Wait::Adaptive, Wait::Block] {
            assert!(works(wait, 1, "0,1") && works(wait, 10, "0,1") && works(wait, 1, "0,0"));
        }
        assert!(works(Wait::Poll, 1, "0,1"));
        assert!(!works(Wait::Poll, 10, "0,1") && !works(Wait::Poll, 1, "0,0"));
    }
}
