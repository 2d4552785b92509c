//! Call rate: several threads call one server, each over a channel of its own.

use super::caller::{Caller, Done, Request};
use super::start;
use crate::{Case, Error, Histogram, Label, Path, Placement, ServerProcess, Wait};
use std::time::{Duration, Instant};

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
    callers: Vec<Caller>,
    server: ServerProcess,
    unverified: i64,
    // The server's count at the last check.
    seen: i64,
}

impl Rate {
    fn start(path: Path, wait: Wait, threads: u32, placement: Option<Placement>) -> Result<Self, Error> {
        let (mut server, address) = start(path, wait, placement)?;
        let mut callers = Vec::new();
        for number in 0..threads {
            callers.push(Caller::start(number, &address)?);
        }
        for caller in &mut callers {
            caller.result(&mut server)?;
        }
        server.suspend()?;
        let label = Label { case: "null", bytes: 0, at_once: threads, path, wait };
        // Each thread makes its first call while connecting.
        Ok(Self { label, callers, server, unverified: 0, seen: threads.into() })
    }

    /// Distributes calls among the threads and waits for all of them.
    fn share(&mut self, calls: u32, request: fn(u32) -> Request) -> Result<Vec<Done>, Error> {
        self.unverified += i64::from(calls);
        let threads = self.label.at_once;
        for (number, caller) in (0..threads).zip(&self.callers) {
            let share = calls / threads + u32::from(number < calls % threads);
            caller.request(request(share));
        }
        // Wait for all threads even after a failure, so that no result is left over for the next
        // turn.
        let outcomes: Vec<_> = self.callers.iter_mut().map(|caller| caller.result(&mut self.server)).collect();
        outcomes.into_iter().collect()
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
        let before = Instant::now();
        self.share(calls, Request::Batch)?;
        Ok(before.elapsed())
    }

    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
        for done in self.share(calls, Request::Stamped)? {
            if let Done::Stamped(histogram) = done {
                into.add(&histogram);
            }
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<(), Error> {
        let expected = self.seen + std::mem::take(&mut self.unverified);
        let Some(caller) = self.callers.first_mut() else { return Ok(()) };
        caller.request(Request::Ask);
        if let Done::Asked(seen) = caller.result(&mut self.server)? {
            self.seen = seen;
        }
        if self.seen == expected {
            return Ok(());
        }
        Err(Error::Corrupt { what: "the count of calls", expected: expected as u64, found: self.seen as u64 })
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
        self.callers.clear();
    }
}
