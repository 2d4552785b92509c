//! A thread that makes calls over a connection of its own.

use super::failed;
use super::interface::IBench;
use crate::server::PATIENCE;
use crate::{Error, Histogram, Watch};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A request to a thread.
pub(crate) enum Request {
    Batch(u32),
    Stamped(u32),
    Ask,
}

/// The result of a request.
pub(crate) enum Done {
    /// The time that the connection and the first call took.
    Connected(Duration),
    /// The time that a batch took.
    Called(Duration),
    Stamped(Histogram),
    Asked(i64),
}

impl Done {
    /// Returns the time that the request took; `None` for requests that are not timed as a whole.
    pub(crate) fn took(&self) -> Option<Duration> {
        match self {
            Self::Connected(took) | Self::Called(took) => Some(*took),
            Self::Stamped(_) | Self::Asked(_) => None,
        }
    }
}

/// A thread that connects, and then performs requests until it is dropped.
pub(crate) struct Caller {
    // `None` once the caller ends: without a sender, the thread ends.
    requests: Option<Sender<Request>>,
    results: Receiver<Result<Done, Error>>,
    thread: Option<JoinHandle<()>>,
}

impl Caller {
    /// Starts a thread, whose first result is [`Done::Connected`].
    pub(crate) fn start(number: u32, address: &str) -> Result<Self, Error> {
        let (requests, ordered) = channel();
        let (resulted, results) = channel();
        let address = address.to_owned();
        let thread = std::thread::Builder::new()
            .name(format!("caller-{number}"))
            .spawn(move || call(&address, &ordered, &resulted))
            .map_err(Error::system("starting a thread"))?;
        Ok(Self { requests: Some(requests), results, thread: Some(thread) })
    }

    /// Gives the thread a request.
    pub(crate) fn request(&self, request: Request) {
        // The send fails if the thread has ended, which `result` reports.
        let _ = self.requests.as_ref().map(|requests| requests.send(request));
    }

    /// Waits for the result of the last request. A batch may take long, so `watch` checks during
    /// the wait whether a process has ended or a call hangs.
    pub(crate) fn result(&mut self, watch: &mut impl Watch) -> Result<Done, Error> {
        let since = Instant::now();
        loop {
            match self.results.recv_timeout(Duration::from_millis(500)) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Failed { message: "a thread that calls has ended".to_owned() });
                }
                Err(RecvTimeoutError::Timeout) => watch.check()?,
            }
            if since.elapsed() > 6 * PATIENCE {
                return Err(Error::Stalled { after: 6 * PATIENCE });
            }
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.requests = None;
        // The panic message of a thread was printed already.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The thread's main function.
fn call(address: &str, ordered: &Receiver<Request>, resulted: &Sender<Result<Done, Error>>) {
    let before = Instant::now();
    let connected = || {
        let object: IBench = obvia::connect(address).map_err(failed)?;
        // The first call sets up a connection.
        object.Null().map_err(failed)?;
        Ok(object)
    };
    let object = match connected() {
        Ok(object) => object,
        Err(error) => {
            // The send fails only if the caller was dropped.
            let _ = resulted.send(Err(error));
            return;
        }
    };
    let mut done = Ok(Done::Connected(before.elapsed()));
    while resulted.send(done).is_ok() {
        let Ok(request) = ordered.recv() else { return };
        done = match request {
            Request::Batch(calls) => batch(&object, calls).map(Done::Called),
            Request::Stamped(calls) => stamped(&object, calls).map(Done::Stamped),
            Request::Ask => object.Calls().map_err(failed).map(Done::Asked),
        };
    }
}

fn batch(object: &IBench, calls: u32) -> Result<Duration, Error> {
    let before = Instant::now();
    (0..calls).try_for_each(|_| object.Null().map_err(failed))?;
    Ok(before.elapsed())
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
