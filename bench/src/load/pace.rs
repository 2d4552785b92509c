//! The times at which calls are due.

use super::Plan;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time before a call is due at which a thread stops sleeping and yields its processor instead:
/// a sleep may last this much too long.
const YIELDING: Duration = Duration::from_micros(100);
/// The longest sleep between two looks at whether the run has been stopped.
const SLEEP_MAX: Duration = Duration::from_millis(50);
/// The time between the end of connecting and the first call at a rate, in which all threads begin
/// to wait.
const LEAD: Duration = Duration::from_millis(10);

/// The pace of a run, which all connections share.
pub(super) struct Pace {
    begin: Instant,
    /// The time from which calls are measured: the end of the warm-up.
    pub(super) measured_from: Instant,
    end: Instant,
    /// The nanoseconds from one call at a rate to the next.
    interval_ns: Option<f64>,
    /// The number of the first measured call at a rate.
    first: u64,
    /// The greatest number of measured calls.
    calls: u64,
    /// The number of the next call: of all calls at a rate, else of the measured ones.
    next: AtomicU64,
    is_stopped: AtomicBool,
}

/// A call whose time has come.
pub(super) struct Due {
    /// The time from which its latency counts.
    pub(super) at: Instant,
    /// The time at which the connection begins the call.
    pub(super) began: Instant,
    pub(super) is_measured: bool,
    /// Whether all connections were occupied when the call was due.
    pub(super) is_late: bool,
}

impl Pace {
    /// Begins a run now.
    pub(super) fn begin(plan: &Plan) -> Self {
        let interval_ns = plan.rate.map(|rate| 1e9 / rate);
        let now = Instant::now();
        let begin = if interval_ns.is_some() { now + LEAD } else { now };
        let measured_from = begin + plan.warmup;
        Self {
            begin,
            measured_from,
            end: measured_from + plan.duration,
            interval_ns,
            first: interval_ns.map_or(0, |interval| due_before(plan.warmup, interval)),
            calls: plan.calls.unwrap_or(u64::MAX),
            next: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
        }
    }

    /// Ends the run: no further call begins.
    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Whether the time of the run has passed.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now >= self.end
    }

    /// Waits for the next call of a connection. `None` at the end of the run.
    pub(super) fn next(&self) -> Option<Due> {
        if self.is_stopped() {
            return None;
        }
        match self.interval_ns {
            Some(interval) => self.next_at_rate(interval),
            None => self.next_at_once(),
        }
    }

    fn next_at_once(&self) -> Option<Due> {
        let now = Instant::now();
        let is_measured = now >= self.measured_from;
        // The shared counter costs a cache line from another processor: only a limit needs it.
        let is_allowed =
            !is_measured || self.calls == u64::MAX || self.next.fetch_add(1, Ordering::Relaxed) < self.calls;
        (is_allowed && !self.is_over(now)).then_some(Due { at: now, began: now, is_measured, is_late: false })
    }

    fn next_at_rate(&self, interval_ns: f64) -> Option<Due> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let at = self.begin + Duration::from_nanos((number as f64 * interval_ns) as u64);
        let now = Instant::now();
        if self.is_over(at) || self.is_over(now) || number >= self.first.saturating_add(self.calls) {
            return None;
        }
        let is_late = now > at;
        if !is_late && !self.wait_until(at) {
            return None;
        }
        Some(Due { at, began: now.max(at), is_measured: number >= self.first, is_late })
    }

    /// Waits; returns false if the run was stopped meanwhile.
    fn wait_until(&self, at: Instant) -> bool {
        loop {
            let left = at.saturating_duration_since(Instant::now());
            if self.is_stopped() {
                return false;
            } else if left.is_zero() {
                return true;
            } else if left > YIELDING {
                std::thread::sleep((left - YIELDING).min(SLEEP_MAX));
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// Returns the number of measured calls that were due before `now`; 0 without a rate.
    pub(super) fn due(&self, now: Instant) -> u64 {
        let Some(interval_ns) = self.interval_ns else { return 0 };
        let passed = now.min(self.end).saturating_duration_since(self.begin);
        due_before(passed, interval_ns).saturating_sub(self.first).min(self.calls)
    }
}

/// Returns the number of calls that are due in a time from the first one on, its end excluded.
fn due_before(time: Duration, interval_ns: f64) -> u64 {
    (time.as_nanos() as f64 / interval_ns).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            connections: 1,
            rate: None,
            warmup: Duration::ZERO,
            duration: Duration::from_secs(3600),
            calls: None,
            timeout: Duration::from_secs(1),
        }
    }

    #[test]
    fn calls_at_a_rate_are_due_at_fixed_times_however_late_they_begin() {
        let pace = Pace::begin(&Plan { rate: Some(1000.0), ..plan() });
        let first = pace.next().unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let later: Vec<Due> = (0..3).map(|_| pace.next().unwrap()).collect();
        for (number, due) in later.iter().enumerate() {
            assert_eq!(due.at - first.at, Duration::from_millis(number as u64 + 1));
            assert!(due.is_late && due.began > due.at);
        }
    }

    #[test]
    fn due_calls_are_counted_without_those_of_the_warm_up_and_up_to_the_limit() {
        let (second, hour) = (Duration::from_secs(1), Duration::from_secs(3600));
        let pace = Pace::begin(&Plan { rate: Some(1000.0), warmup: second, ..plan() });
        assert_eq!(pace.due(pace.measured_from), 0);
        assert_eq!(pace.due(pace.measured_from + second), 1000);
        assert_eq!(pace.due(pace.measured_from + 2 * hour), 3_600_000);
        let limited = Pace::begin(&Plan { rate: Some(1000.0), calls: Some(7), ..plan() });
        assert_eq!(limited.due(limited.measured_from + second), 7);
        assert_eq!(Pace::begin(&plan()).due(Instant::now() + hour), 0);
    }

    #[test]
    fn the_limit_of_calls_holds_for_measured_calls() {
        for rate in [None, Some(1e6)] {
            let pace = Pace::begin(&Plan { rate, calls: Some(3), warmup: Duration::from_millis(1), ..plan() });
            let dues: Vec<Due> = std::iter::from_fn(|| pace.next()).collect();
            assert_eq!(dues.iter().filter(|due| due.is_measured).count(), 3, "{rate:?}");
            assert!(dues.len() > 3, "{rate:?}");
        }
    }

    #[test]
    fn a_stopped_run_ends_the_wait_for_the_next_call() {
        let pace = Pace::begin(&Plan { rate: Some(0.001), ..plan() });
        assert!(pace.next().is_some());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| pace.next().is_none());
            pace.stop();
            assert!(waiting.join().unwrap());
        });
    }
}
