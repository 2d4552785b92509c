//! The SCM: it starts the server of a class when a client activates the class. Concurrent
//! activations share one start.

use super::folders;
use super::launch::launch;
use super::names::{class_endpoint, unknown};
use crate::runtime::Runtime;
use crate::server::is_cancelled;
use crate::types::error::{Error, Result, code};
use obvia_via::Deadline;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use windows_core::GUID;

/// The interval between checks whether the client still waits for a start.
const LOOK: Duration = Duration::from_millis(100);

/// The greatest number of servers that are being started at the same time.
const STARTING_MAX: usize = 64;

/// The servers that are being started.
#[derive(Default)]
pub(crate) struct Starter {
    /// The starts that are in progress, by CLSID.
    attempts: Mutex<HashMap<u128, Arc<Attempt>>>,
    /// Whether this process is the SCM.
    pub(super) is_serving: AtomicBool,
}

/// The start of a server, which several clients may await.
#[derive(Default)]
struct Attempt {
    outcome: Mutex<Option<Result<()>>>,
    is_over: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Attempt {
    fn finish(&self, outcome: Result<()>) {
        *lock(&self.outcome) = Some(outcome);
        self.is_over.notify_all();
    }

    /// Waits for the outcome; `None` if the deadline passes first, or if the client of the call
    /// that this thread performs no longer waits.
    fn wait(&self, deadline: Deadline) -> Option<Result<()>> {
        let deadline = deadline.start();
        let mut outcome = lock(&self.outcome);
        while outcome.is_none() && !deadline.is_over() && !is_cancelled() {
            let waited = self.is_over.wait_timeout(outcome, deadline.remaining().min(LOOK));
            outcome = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        outcome.clone()
    }
}

impl Starter {
    /// Returns the starter of this process.
    pub(crate) fn of(runtime: &Runtime) -> &'static Self {
        runtime.extension()
    }

    /// Whether this process is the SCM.
    pub(crate) fn is_serving(&self) -> bool {
        self.is_serving.load(Ordering::Relaxed)
    }

    /// Starts a server of a class unless one runs, and waits until the server has registered the
    /// class. Returns whether a start was needed.
    ///
    /// # Errors
    ///
    /// E_ACCESSDENIED where this process is not the SCM; REGDB_E_CLASSNOTREG for a class without a
    /// program; CO_E_SERVER_EXEC_FAILURE, with details, where the program does not register the
    /// class; RPC_E_TIMEOUT where the deadline passes first, or the client no longer waits.
    pub(crate) fn start(&'static self, runtime: &'static Runtime, class: &GUID, deadline: Deadline) -> Result<bool> {
        if !self.is_serving() {
            return Err(Error::new(code::E_ACCESSDENIED, "this process is not an SCM"));
        }
        let Some(attempt) = self.attempt(runtime, class)? else { return Ok(false) };
        let late = || {
            let text =
                format!("the server of the class {{{class:?}}} is still starting, and the client's deadline passed");
            Err(Error::new(code::RPC_E_TIMEOUT, text))
        };
        attempt.wait(deadline).unwrap_or_else(late).map(|()| true)
    }

    /// Returns the start of the class's server that is in progress, or begins a start. `None` if a
    /// server runs.
    fn attempt(&'static self, runtime: &'static Runtime, class: &GUID) -> Result<Option<Arc<Attempt>>> {
        let class = *class;
        // The registration file is read before the lock is taken: its file system may be slow, and
        // starts of other classes must not wait for it.
        let found = folders::find(&class);
        let mut attempts = lock(&self.attempts);
        if let Some(known) = attempts.get(&class.to_u128()) {
            return Ok(Some(Arc::clone(known)));
        }
        // The check needs the lock: otherwise an attempt could end between the look-up of attempts
        // and this check, and a second server would start.
        if runtime.directory().is_served(&class_endpoint(&class)) {
            return Ok(None);
        }
        if attempts.len() >= STARTING_MAX {
            return Err(Error::new(
                code::E_OUTOFMEMORY,
                format!("the SCM already starts {STARTING_MAX} other servers"),
            ));
        }
        let (found, path) = found?.ok_or_else(|| unknown(&class, "is not registered on this host"))?;
        let no_program = || unknown(&class, &format!("has no program: {} names none", path.display()));
        let program = found.program.ok_or_else(no_program)?;
        let attempt = Arc::new(Attempt::default());
        let run = {
            let attempt = Arc::clone(&attempt);
            move || {
                let launched = launch(runtime.directory(), &class, &program);
                // The attempt is removed before its outcome is published, so that a client that
                // finds no attempt finds the server.
                lock(&self.attempts).remove(&class.to_u128());
                match launched {
                    Ok(launched) => {
                        attempt.finish(Ok(()));
                        launched.attend();
                    }
                    Err(error) => attempt.finish(Err(error)),
                }
            }
        };
        std::thread::Builder::new().name("obvia-start".to_owned()).spawn(run).map_err(|error| {
            Error::new(code::E_OUTOFMEMORY, format!("starting a thread to watch a server: {error}"))
        })?;
        attempts.insert(class.to_u128(), Arc::clone(&attempt));
        Ok(Some(attempt))
    }
}
