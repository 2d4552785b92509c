//! Waits for events, with a limit for tests that hang.

use std::time::{Duration, Instant};

/// The time limit of waits for which the test sets no limit. A test that reaches this limit hangs.
pub const LATEST: Duration = Duration::from_secs(120);

/// The time limit of the wait for the end of a program. A program in Java that makes all checks at
/// every server takes minutes beside dozens of busy processes.
pub(crate) const LATEST_END: Duration = Duration::from_secs(600);

/// The interval between two checks of a condition.
pub(crate) const LOOK: Duration = Duration::from_millis(2);

/// A time limit that counts only the time in which this process ran.
pub(crate) struct Patience {
    last: Instant,
    left: Duration,
}

impl Patience {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { last: Instant::now(), left: limit }
    }

    /// The maximum time that counts between two calls of [`Self::is_over`], so that a machine that
    /// stands still causes no timeout.
    pub(crate) const COUNTED_MAX: Duration = Duration::from_millis(50);

    /// Whether the limit has passed. The caller must call this function repeatedly.
    pub(crate) fn is_over(&mut self) -> bool {
        let now = Instant::now();
        self.left = self.left.saturating_sub(now.duration_since(self.last).min(Self::COUNTED_MAX));
        self.last = now;
        self.left.is_zero()
    }
}

/// Calls `look` repeatedly, until it succeeds.
///
/// # Panics
///
/// With the last complaint, if `look` has not succeeded within the limit.
#[track_caller]
pub fn within<T>(limit: Duration, mut look: impl FnMut() -> Result<T, String>) -> T {
    let mut patience = Patience::new(limit);
    loop {
        match look() {
            Ok(found) => return found,
            Err(complaint) => assert!(!patience.is_over(), "not within {limit:?}: {complaint}"),
        }
        std::thread::sleep(LOOK);
    }
}

/// Makes up to three attempts, because a busy machine may delay an attempt. One of them must take
/// less than the limit.
///
/// # Panics
///
/// When all attempts take longer.
#[track_caller]
pub fn takes_less(limit: Duration, mut attempt: impl FnMut()) {
    let mut times = Vec::new();
    while times.len() < 3 {
        let begun = Instant::now();
        attempt();
        let time = begun.elapsed();
        if time < limit {
            return;
        }
        times.push(time);
    }
    panic!("three attempts took {times:?}; the limit is {limit:?}");
}

/// Calls `look` repeatedly, until it returns a value.
///
/// # Panics
///
/// When there is no value within [`LATEST`].
#[track_caller]
pub fn poll<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    within(LATEST, || look().ok_or_else(|| what.to_owned()))
}

/// Checks a condition repeatedly, until it holds.
///
/// # Panics
///
/// When the condition does not hold within [`LATEST`].
#[track_caller]
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    poll(what, || is_so().then_some(()));
}
