//! A measured case: the server of a system, its connected clients, and the clients that call.

use crate::system::Place;
use crate::table::Entry;
use obvia_bench::calls::Rate;
use obvia_bench::{Case, Error, Histogram, Label, PATIENCE, Parent, Path, Placement, ServerProcess, Wait};
use serde::Serialize;
use std::path::Path as FilePath;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The subcommand of a server process.
pub(crate) const SERVE: &str = "serve";
/// The subcommand of a process with idle clients.
pub(crate) const CROWD: &str = "crowd";

/// The maximum number of idle clients in a process. All of them have to connect within ten seconds.
const CROWD_MAX: u32 = 100;

/// The kind of the measured calls, for any system.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub(crate) struct Load {
    /// The length of the array in bytes; 0 for calls without arguments.
    pub(crate) bytes: usize,
    /// The number of clients that call at once.
    pub(crate) callers: u32,
    /// The number of connected clients: at least `callers`.
    pub(crate) clients: u32,
}

/// The identity of a case in the report.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub(crate) struct Subject {
    pub(crate) system: &'static str,
    pub(crate) wait: Wait,
    #[serde(flatten)]
    pub(crate) load: Load,
}

impl Subject {
    /// Whether the case makes sense. Sides that poll need a processor each, so only one client of a
    /// polling server is measured.
    pub(crate) fn works(&self, placement: Placement) -> bool {
        self.wait != Wait::Poll || (self.load.clients == 1 && !placement.is_one_cpu())
    }

    fn label(&self) -> Label {
        let Load { bytes, callers, .. } = self.load;
        let case = if bytes == 0 { "null" } else { "MoveData" };
        Label { case, bytes, at_once: callers, path: Path::System(self.system), wait: self.wait }
    }
}

/// A case. The processes of a failed case end at once, so that they take no processor time from the
/// other cases.
pub(crate) struct Calls {
    label: Label,
    /// The processes and threads, or the reason for their end, which is reported once.
    running: Result<Rate, Option<Error>>,
}

impl Calls {
    /// Starts the processes of a case, with sockets in `folder`. A failure is reported when the
    /// case is used.
    pub(crate) fn start(entry: &Entry, subject: Subject, folder: &FilePath, placement: Placement) -> Self {
        let label = subject.label();
        let running = start(entry, subject, folder, placement).map_err(Some);
        Self { label, running }
    }

    fn attempt<T>(&mut self, work: impl FnOnce(&mut Rate) -> Result<T, Error>) -> Result<T, Error> {
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

    fn calls_min(&self) -> u32 {
        self.running.as_ref().map_or(1, Case::calls_min)
    }

    fn batch(&mut self, calls: u32) -> Result<Duration, Error> {
        self.attempt(|running| running.batch(calls))
    }

    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
        self.attempt(|running| running.stamped(calls, into))
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.attempt(Case::verify)
    }

    fn resume(&mut self) -> Result<(), Error> {
        self.attempt(Case::resume)
    }

    fn suspend(&mut self) -> Result<(), Error> {
        self.attempt(Case::suspend)
    }
}

/// Starts the processes and threads of a case.
fn start(entry: &Entry, subject: Subject, folder: &FilePath, placement: Placement) -> Result<Rate, Error> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let Load { bytes, callers, clients } = subject.load;
    // All processes of a user share obvia's names, so the name contains the number of the run.
    let run = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{run}-{}", NEXT.fetch_add(1, Relaxed));
    let place = Place { socket: folder.join(name), wait: subject.wait, clients, bytes };
    let start = |command, more: &[&str]| {
        let place = place.arguments();
        let arguments: Vec<&str> = [command, entry.name].into_iter().chain(place.iter().map(String::as_str)).collect();
        ServerProcess::start(&[&arguments[..], more].concat(), None)
    };
    let server = start(SERVE, &["--cpu", &placement.server.to_string()])?;
    let mut crowds = Vec::new();
    for first in (callers..clients).step_by(CROWD_MAX as usize) {
        let count = CROWD_MAX.min(clients - first);
        crowds.push(start(CROWD, &["--first", &first.to_string(), "--count", &count.to_string()])?);
    }
    let callers = (0..callers).map(|number| (entry.start)(&place, number)).collect::<Result<_, _>>()?;
    Rate::new(subject.label(), callers, clients, PATIENCE, crowds, server)
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
    use crate::client;
    use crate::fake::{Fake, Fault};
    use obvia_bench::{Plan, run};

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

    /// Returns a case of [`Fake`] with the given fault.
    fn case(fault: Fault, patience: Duration) -> Box<dyn Case> {
        let load = Load { bytes: 64, callers: 1, clients: 1 };
        let label = Subject { system: fault.name(), wait: Wait::Block, load }.label();
        let place = fault.place(load.bytes);
        let shell = ["-c", "echo ready; exec sleep 600"];
        let (server, ()) = ServerProcess::start_program("/bin/sh".as_ref(), &shell, None, || Ok(())).unwrap();
        let callers = vec![client::start::<Fake>(&place, 0).unwrap()];
        let running = Rate::new(label.clone(), callers, 1, patience, Vec::new(), server).map_err(Some);
        Box::new(Calls { label, running })
    }

    #[test]
    fn wrong_words_lost_calls_and_silence_are_reported_and_the_other_cases_go_on() {
        let mut cases = [
            case(Fault::WrongWord, PATIENCE),
            case(Fault::LostCall, PATIENCE),
            case(Fault::Silence, Duration::from_secs(1)),
            case(Fault::None, PATIENCE),
        ];
        let plan = Plan { rounds: 3, batch: 16, batch_time: Duration::from_millis(1), placement: None };
        let measured = run(&mut cases, &plan, |_| ()).unwrap();
        let failures = measured.iter().map(|measured| measured.failure.as_ref().map(ToString::to_string));
        let failures: Vec<String> = failures.map(Option::unwrap_or_default).collect();
        assert!(failures[0].starts_with("wrong answer: a word of the array is "), "{failures:?}");
        assert!(failures[1].starts_with("wrong answer: the count of calls is "), "{failures:?}");
        assert_eq!(failures[2..], ["no answer within 1 s", ""]);
        assert_eq!(measured[3].batches.len(), 3);
        assert!(measured[3].batches.iter().all(|took| *took > 0.0));
    }
}
