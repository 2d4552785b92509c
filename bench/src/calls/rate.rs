//! Call rate: several threads call one server, each over a channel of its own.

use super::caller::Callers;
use super::{REQUEST_MAX, caller, start};
use crate::{Case, Error, Histogram, Label, Path, Placement, ServerProcess, Wait};
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
            cases.push(Box::new(Rate::start(path, wait, threads, placement)?));
        }
    }
    Ok(cases)
}

/// The case: as many calls are outstanding as there are threads.
struct Rate {
    label: Label,
    // Field order matters: the callers' connections end before the server's process does.
    callers: Callers,
    server: ServerProcess,
}

impl Rate {
    fn start(path: Path, wait: Wait, threads: u32, placement: Option<Placement>) -> Result<Self, Error> {
        let (mut server, address) = start(path, wait, placement)?;
        let callers = (0..threads).map(|number| caller(number, &address)).collect::<Result<_, _>>()?;
        let callers = Callers::new(callers, REQUEST_MAX, &mut server)?;
        server.suspend()?;
        let label = Label { case: "null", bytes: 0, at_once: threads, path, wait };
        Ok(Self { label, callers, server })
    }
}

impl Case for Rate {
    fn label(&self) -> &Label {
        &self.label
    }

    /// A batch includes the start and the end of all threads, which should not affect the time per
    /// call.
    fn calls_min(&self) -> u32 {
        16 * self.label.at_once
    }

    fn batch(&mut self, calls: u32) -> Result<Duration, Error> {
        self.callers.batch(calls, &mut self.server)
    }

    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
        self.callers.stamped(calls, into, &mut self.server)
    }

    fn verify(&mut self) -> Result<(), Error> {
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
