//! The option `--timeout`: a time limit for the whole command.

use crate::exit;
use clap::Args;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The time after the deadline in which the command can report the call that timed out.
const GRACE: Duration = Duration::from_millis(500);
/// The stack of the thread that runs the subcommand, in bytes: as much as the main thread has.
const STACK: usize = 8 << 20;

/// The time limit of subcommands that call other processes.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Limit {
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    timeout: Duration,
}

/// Parses a time in seconds, greater than 0.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    if duration.is_zero() { Err("must be greater than 0".to_owned()) } else { Ok(duration) }
}

impl Limit {
    /// Returns a limit of this time.
    pub(crate) fn of(timeout: Duration) -> Self {
        Self { timeout }
    }

    /// Runs a subcommand with a deadline.
    ///
    /// All calls of the subcommand together have to end by the deadline. Other work, such as the
    /// compilation of a server's description, is abandoned when `GRACE` has passed after the
    /// deadline.
    pub(crate) fn run<R: Send + 'static>(
        self,
        command: impl FnOnce() -> anyhow::Result<R> + Send + 'static,
    ) -> anyhow::Result<R> {
        let Self { timeout } = self;
        let (result, outcome) = channel();
        // If the clock cannot represent the end of the timeout, each call has the timeout instead
        // of a common deadline.
        let end = Instant::now().checked_add(timeout);
        let work = move || {
            let done = match end {
                Some(end) => obvia::with_deadline(end, command),
                None => obvia::with_timeout(timeout, command),
            };
            // The send fails if the main thread has given up.
            let _ = result.send(done);
        };
        let thread = thread::Builder::new().name("command".to_owned()).stack_size(STACK).spawn(work)?;
        match outcome.recv_timeout(timeout.saturating_add(GRACE)) {
            Ok(done) => done,
            Err(RecvTimeoutError::Timeout) => {
                Err(exit::timed_out(format!("gave up after {} seconds", timeout.as_secs_f64())))
            }
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => Err(anyhow::anyhow!("the command ended without a result")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Limit;
    use crate::exit;
    use std::time::Duration;

    #[test]
    fn the_time_limit_ends_a_command_that_does_not_return() {
        let limit = Limit { timeout: Duration::from_millis(20) };
        let error = limit
            .run(|| -> anyhow::Result<()> {
                loop {
                    std::thread::park();
                }
            })
            .unwrap_err();
        assert!(exit::is_timeout(&error) && error.to_string().contains("gave up after 0.02 seconds"), "{error}");
    }

    #[test]
    fn the_time_limit_returns_the_result_of_the_command() {
        assert_eq!(Limit { timeout: Duration::MAX }.run(|| Ok(7)).unwrap(), 7);
    }
}
