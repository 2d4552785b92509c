//! The times at which calls are due.

use super::Plan;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time before a due call during which a thread yields its processor instead of sleeping,
/// because a sleep may exceed the requested time by this much.
const YIELDING: Duration = Duration::from_micros(100);
/// The longest sleep between two checks whether the run was stopped.
const SLEEP_MAX: Duration = Duration::from_millis(50);
/// The time between the end of connecting and the first call at a rate. All threads are thus
/// waiting when the first call is due.
const LEAD: Duration = Duration::from_millis(10);
/// The longest measured time, a day.
const LONGEST: Duration = Duration::from_secs(86_400);

/// The pace of a run, which all connections share.
pub(super) struct Pace {
    begin: Instant,
    /// The time from which calls are measured: the end of the warm-up.
    pub(super) measured_from: Instant,
    end: Instant,
    /// The nanoseconds from one call to the next; `None` without a rate.
    interval_ns: Option<f64>,
    /// The number of the first measured call at a rate.
    first: u64,
    /// The greatest number of measured calls.
    calls: u64,
    /// The number of the next call. At a rate, all calls have numbers; otherwise only the measured
    /// calls have numbers.
    next: AtomicU64,
    /// The time at which the run was ended early.
    stopped: OnceLock<Instant>,
}

/// The next call of a connection.
pub(super) struct Due {
    /// The time from which the call's latency counts.
    pub(super) at: Instant,
    /// The time at which the connection begins the call.
    pub(super) began: Instant,
    pub(super) is_measured: bool,
    /// Whether the call was due while all connections were busy.
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
            end: measured_from + plan.duration.unwrap_or(LONGEST),
            interval_ns,
            first: interval_ns.map_or(0, |interval| due_before(plan.warmup, interval)),
            calls: plan.calls.unwrap_or(u64::MAX),
            next: AtomicU64::new(0),
            stopped: OnceLock::new(),
        }
    }

    /// Ends the run: no further call begins. If the run is stopped several times, the first time
    /// counts.
    pub(super) fn stop(&self) {
        self.stopped.get_or_init(Instant::now);
    }

    fn is_stopped(&self) -> bool {
        self.stopped.get().is_some()
    }

    /// Whether no further call will begin: the time of the run has passed, or all calls have begun.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.has_passed(now) || (self.has_given_all() && now >= self.due_at(self.limit().saturating_sub(1)))
    }

    fn has_passed(&self, now: Instant) -> bool {
        now >= self.end
    }

    /// Returns the number of the first call beyond the greatest number of measured calls.
    fn limit(&self) -> u64 {
        self.first.saturating_add(self.calls)
    }

    /// Whether the connections have taken all calls. Some of these may not be due yet.
    fn has_given_all(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.limit()
    }

    /// Returns the time when a call is due. Without a rate, all calls are due at the beginning of
    /// the run.
    fn due_at(&self, number: u64) -> Instant {
        self.begin + self.interval_ns.map_or(Duration::ZERO, |interval| due_after(number, interval))
    }

    /// Returns the end of the measured time; `None` if a closed loop has begun all its calls and
    /// none has ended. `last` is the end of the last measured call.
    ///
    /// A run at a rate lasts until a further call would be due: otherwise two calls at a rate of
    /// one a second would take one second, and count as two a second. A closed loop ends with its
    /// last call.
    pub(super) fn ended_at(&self, last: Option<Instant>) -> Option<Instant> {
        let planned = match self.interval_ns {
            Some(_) => Some(self.end.min(self.due_at(self.limit()))),
            None => (!self.has_given_all()).then_some(self.end),
        };
        let early = self.stopped.get().copied();
        [planned, early].into_iter().flatten().min().max(last)
    }

    /// Waits until the next call of a connection is due. Returns `None` at the end of the run.
    pub(super) fn next(&self) -> Option<Due> {
        if self.is_stopped() {
            return None;
        }
        match self.interval_ns {
            Some(_) => self.next_at_rate(),
            None => self.next_at_once(),
        }
    }

    fn next_at_once(&self) -> Option<Due> {
        let now = Instant::now();
        let is_measured = now >= self.measured_from;
        // Each use of the shared counter fetches a cache line from another processor, so the
        // counter is used only if the number of calls is limited.
        let is_allowed = !self.has_passed(now)
            && (!is_measured || self.calls == u64::MAX || self.next.fetch_add(1, Ordering::Relaxed) < self.calls);
        is_allowed.then_some(Due { at: now, began: now, is_measured, is_late: false })
    }

    fn next_at_rate(&self) -> Option<Due> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let at = self.due_at(number);
        let now = Instant::now();
        if self.has_passed(at) || self.has_passed(now) || number >= self.limit() {
            return None;
        }
        let is_late = now > at;
        if !is_late && !self.wait_until(at) {
            return None;
        }
        Some(Due { at, began: now.max(at), is_measured: number >= self.first, is_late })
    }

    /// Waits until the time `at`. Returns false if the run is stopped earlier.
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

    /// Returns the number of measured calls that were due before `now` and before the end of the
    /// run; 0 without a rate.
    pub(super) fn due(&self, now: Instant) -> u64 {
        let Some(interval_ns) = self.interval_ns else { return 0 };
        let until = self.stopped.get().map_or(self.end, |stopped| self.end.min(*stopped)).min(now);
        let passed = until.saturating_duration_since(self.begin);
        due_before(passed, interval_ns).saturating_sub(self.first).min(self.calls)
    }
}

/// Returns the time from the first call until the call `number` is due.
fn due_after(number: u64, interval_ns: f64) -> Duration {
    Duration::from_nanos((number as f64 * interval_ns) as u64)
}

/// Returns the number of calls that are due within `time` from the first call on. A call that is
/// due at the end does not count.
fn due_before(time: Duration, interval_ns: f64) -> u64 {
    let mut number = (time.as_nanos() as f64 / interval_ns) as u64;
    // Because of rounding, the quotient may be one too large or one too small.
    while number > 0 && due_after(number - 1, interval_ns) >= time {
        number -= 1;
    }
    while due_after(number, interval_ns) < time {
        number += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            connections: 1,
            rate: None,
            warmup: Duration::ZERO,
            duration: Some(Duration::from_secs(3600)),
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
            assert_eq!(pace.next.load(Ordering::Relaxed), pace.limit() + 1, "{rate:?}");
            assert!(pace.is_over(Instant::now()), "{rate:?}: all calls have begun");
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

    #[test]
    fn all_calls_are_given_before_the_last_is_due() {
        let pace = Pace::begin(&Plan { rate: Some(0.01), calls: Some(2), ..plan() });
        assert!(pace.next().is_some());
        pace.next.store(2, Ordering::Relaxed);
        assert!(!pace.is_over(pace.begin + Duration::from_secs(99)));
        assert!(pace.is_over(pace.begin + Duration::from_secs(100)));
    }

    #[test]
    fn the_measured_time_of_a_rate_lasts_until_the_next_call_would_be_due() {
        let (second, begin) = (Duration::from_secs(1), |pace: &Pace| pace.measured_from);
        let pace = Pace::begin(&Plan { rate: Some(1.0), calls: Some(2), warmup: 3 * second, ..plan() });
        let measured = |last| pace.ended_at(last).map(|end| end - begin(&pace));
        assert_eq!(measured(Some(begin(&pace) + second)), Some(2 * second));
        assert_eq!(measured(Some(begin(&pace) + 5 * second)), Some(5 * second));
        let timed = Pace::begin(&Plan { rate: Some(1.0), duration: Some(7 * second), ..plan() });
        assert_eq!(timed.ended_at(None), Some(begin(&timed) + 7 * second));
    }

    #[test]
    fn a_closed_loop_ends_with_its_last_call_or_with_its_time() {
        let pace = Pace::begin(&Plan { calls: Some(1), ..plan() });
        assert_eq!(pace.ended_at(Some(pace.begin)), Some(pace.end), "no call has begun");
        assert!(pace.next().is_some());
        let last = pace.begin + Duration::from_secs(5);
        assert_eq!(pace.ended_at(Some(last)), Some(last));
    }

    #[test]
    fn calls_that_are_due_after_a_stop_are_not_counted() {
        let pace = Pace::begin(&Plan { rate: Some(1e6), ..plan() });
        pace.stop();
        assert_eq!(pace.due(pace.end), 0, "the first call is due later");
        assert_eq!(pace.ended_at(None), pace.stopped.get().copied());
    }

    #[test]
    fn a_call_is_due_before_each_later_time_and_not_before_its_own() {
        for interval in [1e9 / 3.0, 1e9 / 7e6, 1e2, 1e9] {
            for number in [0, 1, 7, 1_000, 259_199, 6_999_999, 864_000_000_000] {
                if number as f64 * interval > 2.0 * LONGEST.as_nanos() as f64 {
                    continue;
                }
                let at = due_after(number, interval);
                assert_eq!(due_before(at, interval), number, "{interval}");
                assert_eq!(due_before(at + Duration::from_nanos(1), interval), number + 1, "{interval}");
            }
        }
    }
}
