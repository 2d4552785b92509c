//! The orderly end of server processes.

use super::Runtime;
use crate::types::error::{Error, Result, code};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_shutdown;
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The signals that end a server: from a terminal's Ctrl-C, from a service manager, and from a
/// terminal that is closed.
const WANTED: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The exit status of a process that a second signal ends. It is the status that shells report for
/// a process that SIGINT has ended.
const INTERRUPTED: i32 = 128 + SIGINT;

struct SignalHandling {
    signals: Signals,
    /// Whether the next signal ends the process at once.
    is_ending: Arc<AtomicBool>,
}

static HANDLING: Mutex<Option<SignalHandling>> = Mutex::new(None);

/// Serves until the process is ended. A server that needs no orderly end calls this function last
/// in its main function; see also [`wait_for_signal`].
pub fn wait() -> ! {
    loop {
        std::thread::park();
    }
}

/// Keeps SIGINT, SIGTERM and SIGHUP for [`wait_for_signal`] from now on, instead of letting them
/// end the process.
///
/// A server that begins with this call loses no signal during its start.
///
/// # Errors
///
/// If the system refuses the signal handlers.
pub fn catch_signals() -> Result<()> {
    let mut handling = HANDLING.lock().unwrap_or_else(PoisonError::into_inner);
    if handling.is_none() {
        *handling = Some(SignalHandling::new().map_err(failed)?);
    }
    Ok(())
}

/// Serves until SIGINT, SIGTERM or SIGHUP arrives, and then removes the names of this process from
/// the directory. A server calls this function last in its main function, which then returns, so
/// that its values are dropped.
///
/// ```no_run
/// fn main() -> obvia::Result<()> {
///     // let _export = obvia::export("calc", ICalc::from(Calc))?;
///     println!("serving calc");
///     obvia::wait_for_signal()
/// }
/// ```
///
/// Running calls are not awaited; their callers are told that the server is gone. A second signal
/// ends the process at once. A signal that arrives before this call and before [`catch_signals`]
/// has its default effect.
///
/// # Errors
///
/// If the system refuses the signal handlers.
pub fn wait_for_signal() -> Result<()> {
    catch_signals()?;
    let handling = HANDLING.lock().unwrap_or_else(PoisonError::into_inner).take();
    // Another thread already waits for the signals, and ends the process when a signal arrives.
    let Some(mut handling) = handling else { wait() };
    handling.signals.forever().next();
    handling.is_ending.store(true, Ordering::SeqCst);
    if let Some(runtime) = Runtime::made() {
        runtime.directory().give_up_names();
    }
    Ok(())
}

impl SignalHandling {
    fn new() -> std::io::Result<Self> {
        let is_ending = Arc::new(AtomicBool::new(false));
        for signal in WANTED {
            register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&is_ending))?;
        }
        Ok(Self { signals: Signals::new(WANTED)?, is_ending })
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::new(code::E_FAIL, format!("catching signals: {error}"))
}
