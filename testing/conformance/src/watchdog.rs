//! Runs a statement with a time limit: a provider that hangs makes its test fail.

use crate::{Fixture, Run};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The time limit of a statement. The longest statement takes half a minute of processor time with
/// the slowest provider. A machine with ten times more work than it can do needs ten times as long.
/// [`crate::soon`] limits single steps more closely.
pub const LIMIT: Duration = Duration::from_secs(500);

/// Runs a statement, with a fixture of its own.
///
/// # Errors
///
/// Returns a description of the failure.
pub fn run<F: Fixture>(module: &'static str, statement: fn(&Run)) -> Result<(), String> {
    run_within::<F>(LIMIT, module, statement)
}

/// Runs a statement like [`run`], with another limit.
///
/// # Errors
///
/// Returns a description of the failure.
pub fn run_within<F: Fixture>(limit: Duration, module: &'static str, statement: fn(&Run)) -> Result<(), String> {
    let (tell, told) = channel();
    let name = std::thread::current().name().unwrap_or("statement").to_owned();
    let body = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| statement(&Run::new(F::new(), module))));
        let text = outcome.map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
        });
        // The send fails when the limit has passed.
        let _ = tell.send(text);
    };
    let thread = std::thread::Builder::new().name(name).spawn(body).map_err(|error| error.to_string())?;
    match told.recv_timeout(limit) {
        Ok(outcome) => {
            let _ = thread.join();
            outcome
        }
        // The thread hangs until the process ends.
        Err(RecvTimeoutError::Timeout) => Err(format!("hangs: not over after {} s", limit.as_secs())),
        Err(RecvTimeoutError::Disconnected) => Err("ended without a word".to_owned()),
    }
}
