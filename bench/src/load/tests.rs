//! Tests of runs, against targets that the tests define.

use super::*;
use std::sync::atomic::AtomicU64;

/// A target whose calls take some time, and may fail.
struct Slow {
    takes: Duration,
    calls: Arc<AtomicU64>,
    /// The number of the call from which on there is no server.
    dies_at: u64,
    fails_with: Option<obvia::HRESULT>,
    /// The time after which a probe is answered.
    probe_takes: Duration,
    /// The error of probes while there is a server.
    probe_fails_with: Option<obvia::HRESULT>,
    panics_at: u64,
    /// The number of the call from which on calls take an hour.
    stalls_at: u64,
}

const HOUR: Duration = Duration::from_secs(3600);

impl Slow {
    fn of(takes: Duration) -> Self {
        Self {
            takes,
            calls: Arc::default(),
            dies_at: u64::MAX,
            fails_with: None,
            probe_takes: Duration::ZERO,
            probe_fails_with: None,
            panics_at: u64::MAX,
            stalls_at: u64::MAX,
        }
    }
}

impl Target for Slow {
    fn connect(&self) -> obvia::Result<Box<dyn Caller>> {
        let (calls, takes) = (Arc::clone(&self.calls), self.takes);
        Ok(Box::new(Self { takes, calls, ..*self }))
    }

    fn probe(&self, limit: Duration) -> obvia::Result<()> {
        if self.calls.load(Ordering::Relaxed) >= self.dies_at {
            Err(code::RPC_S_SERVER_UNAVAILABLE.into())
        } else if self.probe_takes > limit {
            Err(code::RPC_E_TIMEOUT.into())
        } else {
            self.probe_fails_with.map_or(Ok(()), |code| Err(code.into()))
        }
    }
}

impl Caller for Slow {
    fn call(&mut self) -> obvia::Result<()> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        assert!(number < self.panics_at, "the call panics, as the test wants");
        std::thread::sleep(if number < self.stalls_at { self.takes } else { HOUR });
        if number >= self.dies_at {
            return Err(code::RPC_E_DISCONNECTED.into());
        }
        self.fails_with.map_or(Ok(()), |code| Err(code.into()))
    }
}

fn plan() -> Plan {
    Plan {
        connections: 1,
        rate: None,
        warmup: Duration::ZERO,
        duration: Some(Duration::from_secs(600)),
        calls: Some(20),
        timeout: Duration::from_secs(60),
    }
}

fn measure(target: Slow, plan: &Plan) -> Load {
    run(Arc::new(target), plan, &AtomicBool::new(false), |_| ()).unwrap()
}

const MILLISECOND: Duration = Duration::from_millis(1);

#[test]
fn connections_share_the_calls_of_a_closed_loop() {
    let load = measure(Slow::of(MILLISECOND), &Plan { connections: 3, ..plan() });
    assert_eq!((load.ended_by, load.latency.total(), load.failed()), (Ending::Calls, 20, 0));
    assert!(load.latency.min().unwrap() >= 0.999e6, "{:?}", load.latency.min());
    assert_eq!((load.late, load.still_due, load.unanswered), (0, 0, 0));
}

#[test]
fn waits_for_a_free_connection_are_a_part_of_the_latency_at_a_rate() {
    // A call is due each millisecond and takes 20 ms, so the twentieth has a latency of more than
    // 300 ms.
    let slow = || Slow::of(20 * MILLISECOND);
    let open = measure(slow(), &Plan { rate: Some(1000.0), ..plan() });
    let closed = measure(slow(), &plan());
    assert!(open.latency.quantile(1.0).unwrap() > 300e6, "{:?}", open.latency.quantile(1.0));
    assert!(open.latency.quantile(0.5) > closed.latency.quantile(0.5));
    assert_eq!((open.latency.total(), open.still_due), (20, 0));
    assert!(open.late >= 18, "{}", open.late);
}

#[test]
fn calls_that_are_due_and_not_begun_are_counted_at_the_end() {
    let duration = Some(100 * MILLISECOND);
    let load = measure(Slow::of(20 * MILLISECOND), &Plan { rate: Some(1000.0), calls: None, duration, ..plan() });
    assert_eq!(load.ended_by, Ending::Duration);
    assert!(load.latency.total() <= 6, "{}", load.latency.total());
    assert_eq!(load.latency.total() + load.still_due, 100);
}

#[test]
fn failed_calls_are_counted_by_error_and_do_not_end_the_run() {
    let load = measure(Slow { fails_with: Some(code::E_INVALIDARG), ..Slow::of(Duration::ZERO) }, &plan());
    assert_eq!((load.ended_by, load.latency.total(), load.failed()), (Ending::Calls, 0, 20));
    assert_eq!((load.failures.len(), load.failures[0].code), (1, code::E_INVALIDARG.0));
}

#[test]
fn timeouts_do_not_end_the_run_while_the_server_answers() {
    let load = measure(Slow { fails_with: Some(code::RPC_E_TIMEOUT), ..Slow::of(Duration::ZERO) }, &plan());
    assert_eq!((load.ended_by, load.failed()), (Ending::Calls, 20));
}

#[test]
fn a_pause_that_is_shorter_than_a_probe_does_not_end_the_run() {
    // Three calls reach their time limit without an answer. The server answers a probe within the
    // least time limit of probes, and within the limit of a call if that is longer.
    let paused = |timeout: Duration, probe_takes| {
        let slow = Slow { fails_with: Some(code::RPC_E_TIMEOUT), probe_takes, ..Slow::of(Duration::ZERO) };
        measure(slow, &Plan { calls: Some(3), timeout, ..plan() })
    };
    for (timeout, pause) in [(100 * MILLISECOND, 400 * MILLISECOND), (60_000 * MILLISECOND, 50_000 * MILLISECOND)] {
        let load = paused(timeout, pause);
        assert_eq!((load.ended_by, load.failed()), (Ending::Calls, 3), "{timeout:?}");
    }
    let load = paused(100 * MILLISECOND, 1100 * MILLISECOND);
    assert_eq!((load.ended_by, load.lost.unwrap().code()), (Ending::Server, code::RPC_E_TIMEOUT));
}

#[test]
fn a_probe_that_is_refused_does_not_end_the_run() {
    let refused = Some(code::E_ACCESSDENIED);
    let slow = Slow { fails_with: Some(code::RPC_E_DISCONNECTED), probe_fails_with: refused, ..Slow::of(MILLISECOND) };
    let load = measure(slow, &plan());
    assert_eq!((load.ended_by, load.failed(), load.lost), (Ending::Calls, 20, None));
}

#[test]
fn a_panic_of_a_connection_is_an_error_of_the_run() {
    let slow = Slow { panics_at: 5, ..Slow::of(MILLISECOND) };
    let plan = Plan { connections: 2, calls: None, ..plan() };
    let error = run(Arc::new(slow), &plan, &AtomicBool::new(false), |_| ()).unwrap_err();
    assert_eq!(error.code(), code::E_UNEXPECTED);
    assert!(error.to_string().contains("ended by a panic"), "{error}");
}

#[test]
fn few_calls_at_a_rate_are_not_more_than_the_rate() {
    let load = measure(Slow::of(Duration::ZERO), &Plan { rate: Some(100.0), calls: Some(2), ..plan() });
    assert_eq!((load.latency.total(), load.ended_by), (2, Ending::Calls));
    assert!(load.measured >= 20 * MILLISECOND && load.rate() <= 100.0, "{:?}", load.measured);
}

#[test]
fn the_end_of_the_server_ends_the_run_of_all_connections() {
    let slow = Slow { dies_at: 10, ..Slow::of(MILLISECOND) };
    let load = measure(slow, &Plan { connections: 4, calls: None, ..plan() });
    assert_eq!((load.ended_by, load.latency.total()), (Ending::Server, 10));
    assert_eq!(load.lost.unwrap().code(), code::RPC_S_SERVER_UNAVAILABLE);
    assert!((1..=4).contains(&load.failures.iter().map(|failure| failure.count).sum::<u64>()));
}

/// Makes a run in which the call with the number `stalls_at` is the first that does not return.
/// Interrupts the run when `after` has passed since the beginning of that call.
fn interrupted(rate: Option<f64>, stalls_at: u64, after: Duration) -> Load {
    let is_interrupted = AtomicBool::new(false);
    let plan = Plan { rate, duration: Some(HOUR), calls: None, timeout: HOUR, ..plan() };
    std::thread::scope(|scope| {
        let calls = Arc::<AtomicU64>::default();
        let target = Arc::new(Slow { calls: Arc::clone(&calls), stalls_at, ..Slow::of(Duration::ZERO) });
        let run = scope.spawn(|| run(target, &plan, &is_interrupted, |_| ()).unwrap());
        ground::until("the call has begun", || calls.load(Ordering::Relaxed) > stalls_at);
        let begun = Instant::now();
        ground::until("the time has passed", || begun.elapsed() >= after);
        is_interrupted.store(true, Ordering::Relaxed);
        run.join().unwrap()
    })
}

#[test]
fn an_interrupt_ends_a_run_whose_calls_do_not_return() {
    let load = interrupted(None, 0, Duration::ZERO);
    assert_eq!((load.ended_by, load.latency.total(), load.unanswered), (Ending::Interrupt, 0, 1));
}

#[test]
fn an_interrupted_run_is_measured_until_the_interrupt() {
    let load = interrupted(Some(100.0), 1, 200 * MILLISECOND);
    assert_eq!((load.latency.total(), load.unanswered), (1, 1));
    assert!(load.measured >= 200 * MILLISECOND, "{:?}", load.measured);
    // Calls that are due while the run waits for the last answers do not count.
    let due = load.measured.as_secs_f64() * 100.0;
    let counted = (load.still_due + 2) as f64;
    assert!((due - 1.0..=due + 1.0).contains(&counted), "{counted} of {due}");
}
