//! The names in the directory by which the SCM and the servers of classes are found.

use crate::runtime::Runtime;
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use obvia_via::Deadline;
use obvia_via::provider::shm::Listener;
use std::io;
use std::sync::{Arc, Once};
use std::time::Duration;
use windows_core::{GUID, HRESULT};

/// The name of the SCM in the directory of this user's servers.
pub(super) const SERVICE: &str = "scm";
/// The prefix of the names by which servers of a class are found.
const CLASS: &str = "class-";

/// The greatest number of starts of a server that ends before it has made an object.
const STARTS_MAX: usize = 3;
/// The pause before the next attempt if another process is starting the server, or if the server is
/// ending.
const PAUSE: Duration = Duration::from_millis(5);

/// The environment variable with the inode of a pipe. The pipe is the standard error of a started
/// server until the server has registered its class.
pub(super) const STARTED: &str = "OBVIA_STARTED";
/// The environment variable with a server's idle timeout in seconds, if the server's registration
/// has a timeout.
pub(super) const IDLE: &str = "OBVIA_IDLE_TIMEOUT";

/// Returns the name in the directory by which the server of a class is found.
pub(crate) fn class_endpoint(class: &GUID) -> String {
    format!("{CLASS}{:032x}", class.to_u128())
}

/// Returns the class whose server is found by this name; `None` for other names.
pub(super) fn class_of(endpoint: &str) -> Option<GUID> {
    let digits = endpoint.strip_prefix(CLASS)?;
    let class = GUID::from_u128(u128::from_str_radix(digits, 16).ok()?);
    (class_endpoint(&class) == endpoint).then_some(class)
}

/// Whether a name in the directory belongs to the SCM or to a server of a class.
pub(crate) fn is_own_name(name: &str) -> bool {
    name == SERVICE || class_of(name).is_some()
}

/// Listens on the name of a class. Returns `None` where another process already listens on it.
pub(crate) fn announce(runtime: &'static Runtime, class: &GUID) -> Result<Option<Arc<Listener>>> {
    let listener = match runtime.bind_name(&class_endpoint(class)) {
        Err(error) if error.code() == code::RPC_S_DUPLICATE_ENDPOINT => None,
        listener => Some(listener?),
    };
    static ONCE: Once = Once::new();
    ONCE.call_once(leave_service);
    Ok(listener)
}

/// Detaches this process from the SCM that started it, so that the process may outlive the SCM. The
/// standard error of this process no longer goes to the SCM's pipe, but to the standard output of
/// this process, which is the SCM's own standard error.
fn leave_service() {
    let pipe = std::env::var(STARTED).ok().and_then(|pipe| pipe.parse().ok());
    let own = rustix::fs::fstat(io::stderr()).ok().map(|found| found.st_ino);
    if pipe.is_some() && pipe == own {
        // Without the replacement, output would be lost when the SCM ends.
        let _ = rustix::stdio::dup2_stderr(io::stdout());
        let _ = rustix::process::set_parent_process_death_signal(None);
    }
}

/// Returns the idle timeout of this process, where its registration has one.
pub(crate) fn idle_timeout() -> Option<Duration> {
    std::env::var(IDLE).ok()?.parse().ok().map(Duration::from_secs)
}

/// Asks this user's SCM to start a server of a class, unless one runs. Returns whether the SCM had
/// to start one; `None` if there is no SCM.
pub(crate) fn start(runtime: &'static Runtime, class: &GUID) -> Result<Option<bool>> {
    match runtime.link_at(SERVICE) {
        Ok(link) => super::start::start(&link, class).map(Some),
        Err(error) if error.code() == code::RPC_S_SERVER_UNAVAILABLE => Ok(None),
        Err(error) => Err(error.with_detail(|what| format!("the SCM cannot be reached: {what}"))),
    }
}

/// Performs `attempt`, which needs a running server of a class. If `attempt` finds none, calls
/// `start`, and then `attempt` again. `start` returns whether a server had to be started. All
/// attempts and starts must end by this thread's deadline.
pub(crate) fn by_server<R>(attempt: impl Fn() -> Result<R>, start: impl Fn(Deadline) -> Result<bool>) -> Result<R> {
    let deadline = deadline::of_thread().start();
    let mut starts = 0;
    loop {
        let failure = match deadline::with(deadline, &attempt) {
            Err(error) if may_be_ending(error.code()) => error,
            done => return done,
        };
        if starts == STARTS_MAX || deadline.is_over() {
            return Err(failure);
        }
        match deadline::with(deadline, || start(deadline))? {
            true => starts += 1,
            // `attempt` found no server, but `start` has found one: another process has started the
            // server, or the server is ending.
            false => std::thread::sleep(PAUSE),
        }
    }
}

/// Whether the error may mean that the server has just ended or is about to end, so that a new
/// server can be started.
fn may_be_ending(result: HRESULT) -> bool {
    [code::RPC_S_SERVER_UNAVAILABLE, code::RPC_E_DISCONNECTED, code::REGDB_E_CLASSNOTREG].contains(&result)
}

/// Returns the error for a class without a server.
pub(crate) fn unknown(class: &GUID, why: &str) -> Error {
    Error::new(code::REGDB_E_CLASSNOTREG, format!("the class {{{class:?}}} {why}"))
}
