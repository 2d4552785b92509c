//! Call rate: several threads call one server, each over a channel of its own.

use super::caller::{Caller, Callers};
use super::{REQUEST_MAX, caller, start};
use crate::case::CALLS_MIN;
use crate::{Case, Error, Histogram, Label, Path, Placement, ServerProcess, Wait, Watch};
use std::time::Duration;

/// Starts a case for each number of threads and each policy.
///
/// A given placement applies to all threads of a side; otherwise the system places them.
pub fn cases(
    path: Path,
    threads: &[u32],
    waits: &[Wait],
    placement: Option<Placement>,
) -> Result<Vec<Box<dyn Case>>, Error> {
    let mut cases: Vec<Box<dyn Case>> = Vec::new();
    let one_cpu = placement.is_some_and(Placement::is_one_cpu);
    for wait in waits.iter().copied().filter(|wait| *wait != Wait::Poll || !one_cpu) {
        for threads in threads.iter().copied() {
            let (server, address) = start(path, wait, placement)?;
            let callers = (0..threads).map(|number| caller(number, &address)).collect::<Result<_, _>>()?;
            let label = Label { case: "null", bytes: 0, at_once: threads, path, wait };
            cases.push(Box::new(Rate::new(label, callers, threads, REQUEST_MAX, Vec::new(), server)?));
        }
    }
    Ok(cases)
}

/// A case with as many outstanding calls as there are threads.
#[derive(Debug)]
pub struct Rate {
    label: Label,
    // Field order matters: the clients disconnect before the server's process ends.
    callers: Callers,
    // Idle clients are not suspended. They sleep, and resuming them would wake each of their
    // threads, on the callers' processor.
    crowds: Vec<ServerProcess>,
    server: ServerProcess,
}

impl Rate {
    /// Creates a case from the threads that call, the processes with idle clients (`crowds`), and
    /// the server. Waits until the threads are connected, and suspends the server. `clients` is the
    /// number of all clients, each of which has made a call.
    pub fn new(
        label: Label,
        callers: Vec<Caller>,
        clients: u32,
        patience: Duration,
        crowds: Vec<ServerProcess>,
        mut server: ServerProcess,
    ) -> Result<Self, Error> {
        let callers = Callers::new(callers, clients, patience, &mut server)?;
        // A polling server would slow down the start of the next servers.
        server.suspend()?;
        Ok(Self { label, callers, crowds, server })
    }
}

impl Case for Rate {
    fn label(&self) -> &Label {
        &self.label
    }

    /// A batch includes the start and the end of its threads. Both add less to the time per call if
    /// the batch has more calls.
    fn calls_min(&self) -> u32 {
        if self.label.at_once == 1 { CALLS_MIN } else { 16 * self.label.at_once }
    }

    fn batch(&mut self, calls: u32) -> Result<Duration, Error> {
        self.callers.batch(calls, &mut self.server)
    }

    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
        self.callers.stamped(calls, into, &mut self.server)
    }

    /// Also checks that the processes of the idle clients still run.
    fn verify(&mut self) -> Result<(), Error> {
        self.crowds.iter_mut().try_for_each(Watch::check)?;
        self.callers.verify(&mut self.server)
    }

    fn resume(&mut self) -> Result<(), Error> {
        self.server.resume()
    }

    fn suspend(&mut self) -> Result<(), Error> {
        self.server.suspend()
    }
}

impl Drop for Rate {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.server.resume();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PATIENCE;
    use std::time::Instant;

    /// Starts a shell that reports that it is ready, and then executes the command `then`.
    fn process(then: &str) -> ServerProcess {
        let script = format!("echo ready; {then}");
        ServerProcess::start_program("/bin/sh".as_ref(), &["-c", &script], None, || Ok(())).unwrap().0
    }

    #[test]
    fn the_end_of_a_process_with_idle_clients_is_detected() {
        let rate = |crowds| {
            let label = Label { case: "null", bytes: 0, at_once: 0, path: Path::Unix, wait: Wait::Block };
            Rate::new(label, Vec::new(), 0, PATIENCE, crowds, process("exec sleep 600")).unwrap()
        };
        rate(vec![process("exec sleep 600")]).verify().unwrap();
        let mut rate = rate(vec![process("exec sleep 600"), process("exit 3")]);
        let since = Instant::now();
        let error = loop {
            match rate.verify() {
                Err(error) => break error.to_string(),
                Ok(()) => assert!(since.elapsed() < PATIENCE, "the end was not noticed"),
            }
            std::thread::yield_now();
        };
        assert_eq!(error, "the other process ended: exit status: 3");
    }
}
