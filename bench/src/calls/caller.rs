//! Threads that make calls, each over a connection of its own.

use crate::{Error, Histogram, Watch};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The interval at which a long wait checks whether a process has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// A connected client. Only the thread that has connected uses it.
pub trait Client {
    /// Makes a call.
    fn call(&mut self) -> Result<(), Error>;

    /// Checks the results of all calls since the last check. Returns the number of calls that the
    /// server has executed for all clients. Calls made by this method do not count.
    fn verify(&mut self) -> Result<u64, Error>;
}

/// A request to a [`Caller`].
#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// Makes this number of calls, one after the other.
    Batch(u32),
    /// Makes this number of calls, and records the time of each.
    Stamped(u32),
    /// Checks the results of all calls since the last check.
    Verify,
}

/// The result of a request.
#[derive(Debug)]
pub enum Done {
    /// The time that the connection and the first call took.
    Connected(Duration),
    /// The start and the end of a batch.
    Called(Instant, Instant),
    /// The time of each call.
    Stamped(Histogram),
    /// The number of calls that the server has executed.
    Verified(u64),
}

/// A thread that connects, and then performs requests until it is dropped.
#[derive(Debug)]
pub struct Caller {
    // `None` while the caller is being dropped: without a sender, the thread ends.
    requests: Option<Sender<Request>>,
    results: Receiver<Result<Done, Error>>,
    thread: Option<JoinHandle<()>>,
    /// Whether the thread has a request and has not yet delivered the result.
    is_busy: bool,
}

impl Caller {
    /// Starts a thread that connects by `connect` and makes a call, which completes the connection.
    /// The first result is [`Done::Connected`].
    pub fn start<C: Client>(
        number: u32,
        connect: impl FnOnce() -> Result<C, Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let (requests, ordered) = channel();
        let (resulted, results) = channel();
        let perform = move || {
            if let Err(error) = perform(connect, &ordered, &resulted) {
                // The send fails only if the caller was dropped.
                let _ = resulted.send(Err(error));
            }
        };
        let thread = std::thread::Builder::new()
            .name(format!("caller-{number}"))
            .spawn(perform)
            .map_err(Error::system("starting a thread"))?;
        Ok(Self { requests: Some(requests), results, thread: Some(thread), is_busy: true })
    }

    /// Gives the thread a request.
    pub fn request(&mut self, request: Request) {
        self.is_busy = true;
        // The send fails if the thread has ended, which `result` reports.
        let _ = self.requests.as_ref().map(|requests| requests.send(request));
    }

    /// Waits for the result of the last request, until `patience` has passed. During the wait,
    /// `watch` checks whether a process has ended.
    pub fn result(&mut self, watch: &mut impl Watch, patience: Duration) -> Result<Done, Error> {
        self.result_since(Instant::now(), watch, patience)
    }

    fn result_since(&mut self, since: Instant, watch: &mut impl Watch, patience: Duration) -> Result<Done, Error> {
        loop {
            let remaining = patience.saturating_sub(since.elapsed());
            match self.results.recv_timeout(remaining.min(CHECK_INTERVAL)) {
                Ok(result) => {
                    self.is_busy = false;
                    return result;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.is_busy = false;
                    return Err(Error::Failed { message: "a thread that calls has ended".to_owned() });
                }
                Err(RecvTimeoutError::Timeout) => watch.check()?,
            }
            if since.elapsed() >= patience {
                return Err(Error::Stalled { after: patience });
            }
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.requests = None;
        // A thread whose call hangs is not joined, and ends with the process.
        if !self.is_busy {
            // The panic message of a thread was printed already.
            let _ = self.thread.take().map(JoinHandle::join);
        }
    }
}

/// Connects, and handles the requests of a caller on the caller's thread.
fn perform<C: Client>(
    connect: impl FnOnce() -> Result<C, Error>,
    ordered: &Receiver<Request>,
    resulted: &Sender<Result<Done, Error>>,
) -> Result<(), Error> {
    let before = Instant::now();
    let mut client = connect()?;
    client.call()?;
    let mut done = Done::Connected(before.elapsed());
    while resulted.send(Ok(done)).is_ok() {
        let Ok(request) = ordered.recv() else { break };
        done = match request {
            Request::Batch(calls) => {
                let began = Instant::now();
                (0..calls).try_for_each(|_| client.call())?;
                Done::Called(began, Instant::now())
            }
            Request::Stamped(calls) => stamped(&mut client, calls).map(Done::Stamped)?,
            Request::Verify => Done::Verified(client.verify()?),
        };
    }
    Ok(())
}

fn stamped(client: &mut impl Client, calls: u32) -> Result<Histogram, Error> {
    let mut histogram = Histogram::new();
    for _ in 0..calls {
        let before = Instant::now();
        client.call()?;
        histogram.record(before.elapsed());
    }
    Ok(histogram)
}

/// Threads that share the calls to a server.
#[derive(Debug)]
pub struct Callers {
    callers: Vec<Caller>,
    /// The time limit of each request.
    patience: Duration,
    unverified: u64,
    /// The number of calls that the server had counted at the last check.
    seen: u64,
}

impl Callers {
    /// Waits until all threads are connected. Checks that the server has counted the first call of
    /// each of its `clients`. The threads of `callers` may be only some of the clients.
    pub fn new(
        mut callers: Vec<Caller>,
        clients: u32,
        patience: Duration,
        watch: &mut impl Watch,
    ) -> Result<Self, Error> {
        for caller in &mut callers {
            caller.result(watch, patience)?;
        }
        let mut callers = Self { callers, patience, unverified: clients.into(), seen: 0 };
        callers.verify(watch)?;
        Ok(callers)
    }

    /// Makes calls. Returns the time from the first thread's start to the last thread's end.
    pub fn batch(&mut self, calls: u32, watch: &mut impl Watch) -> Result<Duration, Error> {
        let mut whole: Option<(Instant, Instant)> = None;
        for done in self.share(calls, Request::Batch, watch)? {
            let Done::Called(began, ended) = done else { continue };
            let (first, last) = whole.unwrap_or((began, ended));
            whole = Some((first.min(began), last.max(ended)));
        }
        Ok(whole.map_or(Duration::ZERO, |(began, ended)| ended - began))
    }

    /// Makes calls, and records the time of each.
    pub fn stamped(&mut self, calls: u32, into: &mut Histogram, watch: &mut impl Watch) -> Result<(), Error> {
        for done in self.share(calls, Request::Stamped, watch)? {
            if let Done::Stamped(histogram) = done {
                into.add(&histogram);
            }
        }
        Ok(())
    }

    /// Has each thread check its results, and checks that the server has executed each call once.
    pub fn verify(&mut self, watch: &mut impl Watch) -> Result<(), Error> {
        let expected = self.seen + std::mem::take(&mut self.unverified);
        self.seen = self.count(watch)?;
        if self.seen == expected {
            return Ok(());
        }
        Err(Error::Corrupt { what: "the count of calls", expected, found: self.seen })
    }

    /// Distributes calls among the threads and waits for all of them.
    fn share(&mut self, calls: u32, request: fn(u32) -> Request, watch: &mut impl Watch) -> Result<Vec<Done>, Error> {
        self.unverified += u64::from(calls);
        let threads = self.callers.len() as u32;
        for (number, caller) in (0..threads).zip(&mut self.callers) {
            caller.request(request(calls / threads + u32::from(number < calls % threads)));
        }
        self.results(watch)
    }

    /// Has each thread check its results. Returns the server's count of calls.
    fn count(&mut self, watch: &mut impl Watch) -> Result<u64, Error> {
        self.callers.iter_mut().for_each(|caller| caller.request(Request::Verify));
        let counts = self.results(watch)?.into_iter();
        let counts = counts.filter_map(|done| if let Done::Verified(count) = done { Some(count) } else { None });
        Ok(counts.max().unwrap_or_default())
    }

    fn results(&mut self, watch: &mut impl Watch) -> Result<Vec<Done>, Error> {
        let since = Instant::now();
        let wait = |caller: &mut Caller| caller.result_since(since, watch, self.patience);
        // Wait for all threads even after a failure, so that no result is left over for the next
        // turn.
        let outcomes: Vec<_> = self.callers.iter_mut().map(wait).collect();
        outcomes.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Patient;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;

    /// A client whose server counts every call except one: the call that follows `lost` counted
    /// calls.
    struct Counting {
        executed: Arc<AtomicU64>,
        lost: u64,
    }

    impl Client for Counting {
        fn call(&mut self) -> Result<(), Error> {
            let is_lost = self.executed.load(Relaxed) == self.lost;
            self.lost = if is_lost { u64::MAX } else { self.lost };
            self.executed.fetch_add(u64::from(!is_lost), Relaxed);
            Ok(())
        }

        fn verify(&mut self) -> Result<u64, Error> {
            Ok(self.executed.load(Relaxed))
        }
    }

    const PATIENCE: Duration = Duration::from_secs(10);

    fn callers(threads: u32, lost: u64) -> Callers {
        let executed = Arc::new(AtomicU64::new(0));
        let start = |number| {
            let executed = executed.clone();
            Caller::start(number, move || Ok(Counting { executed, lost })).unwrap()
        };
        Callers::new((0..threads).map(start).collect(), threads, PATIENCE, &mut Patient).unwrap()
    }

    #[test]
    fn calls_of_unknown_clients_are_detected() {
        let executed = Arc::new(AtomicU64::new(5));
        let caller = Caller::start(0, || Ok(Counting { executed, lost: u64::MAX })).unwrap();
        let error = Callers::new(vec![caller], 5, PATIENCE, &mut Patient).unwrap_err().to_string();
        assert_eq!(error, "wrong answer: the count of calls is 6, expected 5");
    }

    /// A client that records the number and the duration of its calls.
    #[derive(Clone, Default)]
    struct Timed {
        pause: Duration,
        calls: Arc<AtomicU64>,
        nanoseconds: Arc<AtomicU64>,
    }

    impl Client for Timed {
        fn call(&mut self) -> Result<(), Error> {
            let before = Instant::now();
            std::thread::sleep(self.pause);
            self.calls.fetch_add(1, Relaxed);
            self.nanoseconds.fetch_add(before.elapsed().as_nanos() as u64, Relaxed);
            Ok(())
        }

        fn verify(&mut self) -> Result<u64, Error> {
            Ok(self.calls.load(Relaxed))
        }
    }

    #[test]
    fn a_batch_lasts_as_long_as_its_slowest_thread_and_each_thread_makes_its_share() {
        let clients = [0, 1, 5].map(|pause| Timed { pause: Duration::from_millis(pause), ..Timed::default() });
        let start = |(number, client): (u32, &Timed)| {
            let client = client.clone();
            Caller::start(number, move || Ok(client)).unwrap()
        };
        // Each of these clients has a server of its own, so the highest count is 1.
        let callers = (0..).zip(&clients).map(start).collect();
        let mut callers = Callers::new(callers, 1, PATIENCE, &mut Patient).unwrap();
        for client in &clients {
            client.calls.store(0, Relaxed);
            client.nanoseconds.store(0, Relaxed);
        }
        let took = callers.batch(11, &mut Patient).unwrap();
        assert_eq!(clients.each_ref().map(|client| client.calls.load(Relaxed)), [4, 4, 3]);
        let slowest = clients.iter().map(|client| client.nanoseconds.load(Relaxed)).max().unwrap();
        assert!(took > Duration::ZERO && took >= Duration::from_nanos(slowest), "{took:?}, {slowest} ns");
    }

    #[test]
    fn threads_share_calls_of_which_none_is_lost() {
        let mut callers = callers(3, u64::MAX);
        callers.batch(10, &mut Patient).unwrap();
        let mut histogram = Histogram::new();
        callers.stamped(7, &mut histogram, &mut Patient).unwrap();
        assert_eq!(histogram.total(), 7);
        callers.verify(&mut Patient).unwrap();
        // Each thread makes its first call when it connects.
        assert_eq!(callers.seen, 3 + 10 + 7);
    }

    #[test]
    fn a_lost_call_is_detected() {
        let mut callers = callers(1, 5);
        callers.batch(10, &mut Patient).unwrap();
        let error = callers.verify(&mut Patient).unwrap_err().to_string();
        assert_eq!(error, "wrong answer: the count of calls is 10, expected 11");
    }

    #[test]
    fn a_thread_that_hangs_is_reported_and_left_alone() {
        struct Hanging;
        impl Client for Hanging {
            fn call(&mut self) -> Result<(), Error> {
                loop {
                    std::thread::park();
                }
            }

            fn verify(&mut self) -> Result<u64, Error> {
                Ok(0)
            }
        }
        let mut caller = Caller::start(0, || Ok(Hanging)).unwrap();
        let error = caller.result(&mut Patient, Duration::from_millis(1)).unwrap_err();
        assert!(matches!(error, Error::Stalled { .. }), "{error}");
    }
}
