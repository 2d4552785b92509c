//! A thread that makes calls over a connection of its own.

use crate::peer::{Connection, PATIENCE, Peer, Place};
use obvia_bench::{Error, Histogram, Payload};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

/// A request to the thread.
pub(crate) enum Request {
    /// Makes calls one after the other.
    Batch(u32),
    /// Makes calls and records the time of each.
    Stamped(u32),
    /// Checks the results of all calls since the last check.
    Verify,
}

/// The result of a request.
pub(crate) enum Done {
    Connected,
    /// The begin and the end of a batch.
    Called(Instant, Instant),
    Stamped(Histogram),
    /// The number of calls without arguments that the server has answered.
    Verified(u64),
}

/// A thread that connects, and then performs requests until it is dropped.
pub(crate) struct Caller {
    // `None` once the caller ends: without a sender, the thread ends.
    requests: Option<Sender<Request>>,
    results: Receiver<Result<Done, Error>>,
    thread: Option<JoinHandle<()>>,
    /// Whether the thread has a request whose result it has not delivered.
    is_busy: bool,
}

impl Caller {
    /// Starts a thread that connects as the client `number`. Returns once it is connected.
    pub(crate) fn start<P: Peer + 'static>(place: &Place, number: u32) -> Result<Self, Error> {
        let (requests, ordered) = channel();
        let (resulted, results) = channel();
        let place = place.clone();
        let thread = std::thread::Builder::new()
            .name(format!("caller-{number}"))
            .spawn(move || {
                if let Err(error) = perform::<P>(&place, number, &ordered, &resulted) {
                    // The send fails only if the caller was dropped.
                    let _ = resulted.send(Err(error));
                }
            })
            .map_err(Error::system("starting a thread"))?;
        let mut caller = Self { requests: Some(requests), results, thread: Some(thread), is_busy: true };
        caller.result()?;
        Ok(caller)
    }

    /// Gives the thread a request.
    pub(crate) fn request(&mut self, request: Request) {
        self.is_busy = true;
        // The send fails if the thread has ended, which `result` reports.
        let _ = self.requests.as_ref().map(|requests| requests.send(request));
    }

    /// Waits for the result of the last request, for ten seconds at most.
    pub(crate) fn result(&mut self) -> Result<Done, Error> {
        match self.results.recv_timeout(PATIENCE) {
            Ok(result) => {
                self.is_busy = false;
                result
            }
            Err(RecvTimeoutError::Timeout) => Err(Error::Stalled { after: PATIENCE }),
            Err(RecvTimeoutError::Disconnected) => {
                self.is_busy = false;
                Err(Error::Failed { message: "a thread that calls has ended".to_owned() })
            }
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.requests = None;
        // A thread in a call that hangs is left alone. It ends with the process.
        if !self.is_busy {
            // The panic message of a thread was printed already.
            let _ = self.thread.take().map(JoinHandle::join);
        }
    }
}

/// The thread's main function.
fn perform<P: Peer>(
    place: &Place,
    number: u32,
    ordered: &Receiver<Request>,
    resulted: &Sender<Result<Done, Error>>,
) -> Result<(), Error> {
    let mut calls =
        Calls { connection: P::connect(place, number)?, payload: Payload::new(place.bytes)?, unverified: 0 };
    // The first call completes the connection.
    calls.connection.null()?;
    let mut done = Done::Connected;
    while resulted.send(Ok(done)).is_ok() {
        let Ok(request) = ordered.recv() else { break };
        done = match request {
            Request::Batch(number) => {
                let before = Instant::now();
                for _ in 0..number {
                    calls.call()?;
                }
                Done::Called(before, Instant::now())
            }
            Request::Stamped(number) => {
                let mut histogram = Histogram::new();
                for _ in 0..number {
                    let before = Instant::now();
                    calls.call()?;
                    histogram.record(before.elapsed());
                }
                Done::Stamped(histogram)
            }
            Request::Verify => Done::Verified(calls.verify()?),
        };
    }
    Ok(())
}

struct Calls<C> {
    connection: C,
    payload: Payload,
    /// The number of calls with the array since the last check.
    unverified: u32,
}

impl<C: Connection> Calls<C> {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        if self.payload.words().is_empty() {
            return self.connection.null();
        }
        self.unverified += 1;
        self.connection.move_data(self.payload.words_mut())
    }

    /// Checks every word of the array, and returns the server's count of calls without arguments.
    fn verify(&mut self) -> Result<u64, Error> {
        if !self.payload.words().is_empty() {
            self.payload.verify(std::mem::take(&mut self.unverified))?;
        }
        self.connection.calls()
    }
}
