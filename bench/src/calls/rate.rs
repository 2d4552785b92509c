//! Call rate: several threads call one server, each over a channel of its own.

use super::interface::IBench;
use super::{failed, start};
use crate::server::PATIENCE;
use crate::{Case, Error, Histogram, Label, Path, Placement, ServerProcess, Wait, Watch};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
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
    // Field order matters: the callers' connections end while the server's process can still learn
    // of it.
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
            // The send fails if the thread has ended, which `result` reports.
            let _ = caller.requests.send(request(share));
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

    /// A batch includes the start and the end of all threads, which should not affect the time.
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
        // The send fails if the thread has ended, which `result` reports.
        let _ = caller.requests.send(Request::Ask);
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
        for caller in self.callers.drain(..) {
            drop((caller.requests, caller.results));
            // The panic message of a thread was printed already.
            let _ = caller.thread.join();
        }
    }
}

/// A request to a thread.
enum Request {
    Batch(u32),
    Stamped(u32),
    Ask,
}

/// The result of a request.
enum Done {
    Connected,
    Called,
    Stamped(Histogram),
    Asked(i64),
}

/// A thread that performs requests, and ends once their sender is dropped.
struct Caller {
    requests: Sender<Request>,
    results: Receiver<Result<Done, Error>>,
    thread: JoinHandle<()>,
}

impl Caller {
    fn start(number: u32, address: &str) -> Result<Self, Error> {
        let (requests, ordered) = channel();
        let (resulted, results) = channel();
        let address = address.to_owned();
        let thread = std::thread::Builder::new()
            .name(format!("caller-{number}"))
            .spawn(move || call(&address, &ordered, &resulted))
            .map_err(Error::system("starting a thread"))?;
        Ok(Self { requests, results, thread })
    }

    /// Waits for the result of the last order. A batch may take long, so the wait checks for an
    /// ended server or a hung call.
    fn result(&mut self, server: &mut ServerProcess) -> Result<Done, Error> {
        let since = Instant::now();
        loop {
            match self.results.recv_timeout(Duration::from_millis(500)) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Failed { message: "a thread that calls has ended".to_owned() });
                }
                Err(RecvTimeoutError::Timeout) => server.check()?,
            }
            if since.elapsed() > 6 * PATIENCE {
                return Err(Error::Stalled { after: 6 * PATIENCE });
            }
        }
    }
}

/// The thread's main function.
fn call(address: &str, ordered: &Receiver<Request>, resulted: &Sender<Result<Done, Error>>) {
    let connected = || {
        let object: IBench = obvia::connect(address).map_err(failed)?;
        // The first call takes a connection.
        object.Null().map_err(failed)?;
        Ok(object)
    };
    let object = match connected() {
        Ok(object) => object,
        Err(error) => {
            // The send fails only if the case was dropped, here and below.
            let _ = resulted.send(Err(error));
            return;
        }
    };
    let mut done = Ok(Done::Connected);
    while resulted.send(done).is_ok() {
        let Ok(request) = ordered.recv() else { return };
        done = match request {
            Request::Batch(calls) => (0..calls).try_for_each(|_| object.Null().map_err(failed)).map(|()| Done::Called),
            Request::Stamped(calls) => stamped(&object, calls).map(Done::Stamped),
            Request::Ask => object.Calls().map_err(failed).map(Done::Asked),
        };
    }
}

fn stamped(object: &IBench, calls: u32) -> Result<Histogram, Error> {
    let mut histogram = Histogram::new();
    for _ in 0..calls {
        let before = Instant::now();
        object.Null().map_err(failed)?;
        histogram.record(before.elapsed());
    }
    Ok(histogram)
}
