//! Servers end when they are told to, and leave nothing behind.

use super::Runtime;
use crate::error::{Error, Result, code};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_shutdown;
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What tells a server to end: a terminal's Ctrl-C, a service manager, and a terminal that is closed.
const WANTED: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// What a second signal ends a process with, as a shell has it for one that was interrupted.
const INTERRUPTED: i32 = 128 + SIGINT;

struct Caught {
    signals: Signals,
    /// Whether the next one ends the process at once.
    is_ending: Arc<AtomicBool>,
}

static CAUGHT: Mutex<Option<Caught>> = Mutex::new(None);

/// Serves until the process is told to end. A server's main function that does not care how it ends calls it last; see also [`wait_for_signal`].
pub fn wait() -> ! {
    loop {
        std::thread::park();
    }
}

/// Has SIGINT, SIGTERM and SIGHUP be kept for [`wait_for_signal`] from now on, and not end the process.
///
/// For servers that begin with it, so that a signal while they set out is not lost.
///
/// # Errors
///
/// When the system has no handlers for them.
pub fn catch_signals() -> Result<()> {
    let mut caught = CAUGHT.lock().unwrap_or_else(PoisonError::into_inner);
    if caught.is_none() {
        *caught = Some(Caught::new().map_err(failed)?);
    }
    Ok(())
}

/// Serves until SIGINT, SIGTERM or SIGHUP comes, and then takes this process's names out of the directory: nothing of it is left there. A
/// server's main function calls it last, and ends in order: whatever it holds is dropped.
///
/// ```no_run
/// fn main() -> obvia::Result<()> {
///     // let _export = obvia::export("calc", ICalc::from(Calc))?;
///     println!("serving calc");
///     obvia::wait_for_signal()
/// }
/// ```
///
/// Calls that are being performed are not waited for; their callers are told that the server is gone. A second signal ends the process at
/// once. One that comes before this is called, and before [`catch_signals`], ends it as the system has it.
///
/// # Errors
///
/// When the system has no handlers for them.
pub fn wait_for_signal() -> Result<()> {
    catch_signals()?;
    let caught = CAUGHT.lock().unwrap_or_else(PoisonError::into_inner).take();
    // Another thread waits already, and ends what there is.
    let Some(mut caught) = caught else { wait() };
    caught.signals.forever().next();
    caught.is_ending.store(true, Ordering::SeqCst);
    if let Some(runtime) = Runtime::made() {
        runtime.directory().give_up_names();
    }
    Ok(())
}

impl Caught {
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
