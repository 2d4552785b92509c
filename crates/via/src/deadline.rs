//! The instant after which a wait gives up.

use std::time::{Duration, Instant};

/// The latest end of a wait.
///
/// Reading the clock costs as much as a tenth of a call. A deadline given as a span therefore
/// starts to run only if the wait does not end at once: see [`Deadline::start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// An instant on the monotonic clock.
    At(Instant),
    /// A span that begins when the wait first reads the clock.
    Within(Duration),
}

impl Deadline {
    /// Makes a deadline `seconds` after the time at which a wait first reads the clock.
    pub const fn after_secs(seconds: u64) -> Self {
        Self::Within(Duration::from_secs(seconds))
    }

    /// Reads the clock and fixes the instant. A fixed deadline stays as it is.
    #[must_use]
    pub fn start(self) -> Self {
        match self {
            Self::At(_) => self,
            Self::Within(span) => {
                let now = Instant::now();
                // A span too long for the clock counts as a year.
                let year = Duration::from_secs(365 * 24 * 3600);
                Self::At(now.checked_add(span).unwrap_or_else(|| now + year))
            }
        }
    }

    /// Returns the time left: zero if the deadline has passed, and the whole span if the deadline
    /// has not started.
    pub fn remaining(self) -> Duration {
        match self {
            Self::At(instant) => instant.saturating_duration_since(Instant::now()),
            Self::Within(span) => span,
        }
    }

    /// Whether the deadline has passed.
    pub fn is_over(self) -> bool {
        self.remaining().is_zero()
    }
}

/// A wait's time limit, from which the deadline is computed only if the wait needs it.
///
/// Most waits find a message before they need a deadline, and so save a costly look-up of the
/// limit.
pub trait Limit: Copy {
    /// Returns the deadline.
    fn deadline(self) -> Deadline;
}

impl Limit for Deadline {
    #[inline]
    fn deadline(self) -> Deadline {
        self
    }
}

/// A limit of `N` seconds, known at compile time.
#[derive(Clone, Copy, Debug)]
pub struct Seconds<const N: u64>;

impl<const N: u64> Limit for Seconds<N> {
    #[inline]
    fn deadline(self) -> Deadline {
        Deadline::after_secs(N)
    }
}

/// A limit of `N` milliseconds, known at compile time.
#[derive(Clone, Copy, Debug)]
pub struct Milliseconds<const N: u64>;

impl<const N: u64> Limit for Milliseconds<N> {
    #[inline]
    fn deadline(self) -> Deadline {
        Deadline::Within(Duration::from_millis(N))
    }
}
