//! Activation on this host: which classes are registered, in plain files, and the service that starts their servers on demand.
//!
//! A process that makes objects of a class has a name for the class in the directory of this user's servers, as long as it lives and has the
//! class registered. So whoever looks for a running server finds it without the service, which keeps nothing in mind but what it is
//! starting: it may be killed and started again at any time.

mod folders;
mod launch;
mod registration;
mod remote;
mod service;

pub use folders::{VARIABLE, classes, find, install, remove};
pub use registration::{Class, Program, Remote};
pub(crate) use remote::{activate_for, is_for, reference_for, resolve_for};
pub(crate) use service::Starter;
pub use service::{Service, serve};

use crate::error::{Error, Result, code};
use crate::runtime::Runtime;
use crate::{system, thread};
use obvia_via::Deadline;
use obvia_via::provider::shm::Listener;
use std::io;
use std::sync::{Arc, Once};
use std::time::Duration;
use windows_core::{GUID, HRESULT};

/// The name of the service in the directory of this user's servers.
const SERVICE: &str = "scm";
/// How the names of processes begin that make objects of a class.
const CLASS: &str = "class-";

/// How often a server is started that ends before it has made an object.
const STARTS_MAX: usize = 3;
/// How long a server that is about to come, or to go, is left alone.
const PAUSE: Duration = Duration::from_millis(5);

/// In the environment of a server that the service starts: which pipe its standard error is until it has registered its class.
const STARTED: &str = "OBVIA_STARTED";
/// How long a server stays when nobody uses it, in seconds, where its registration says so.
const IDLE: &str = "OBVIA_IDLE_TIMEOUT";

/// A class of which a process of this user makes objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// Which.
    pub class: GUID,
    /// The process, where it could be read.
    pub pid: Option<u32>,
}

/// The name in the directory of who makes objects of a class.
pub(crate) fn class_endpoint(class: &GUID) -> String {
    format!("{CLASS}{:032x}", class.to_u128())
}

/// The class that such a name is for.
fn class_of(endpoint: &str) -> Option<GUID> {
    let digits = endpoint.strip_prefix(CLASS)?;
    let class = GUID::from_u128(u128::from_str_radix(digits, 16).ok()?);
    (class_endpoint(&class) == endpoint).then_some(class)
}

/// Whether a name in the directory is one of these.
pub(crate) fn is_own_name(name: &str) -> bool {
    name == SERVICE || class_of(name).is_some()
}

/// The classes of which processes of this user make objects now.
///
/// # Errors
///
/// When the directory of names cannot be read.
pub fn running() -> Result<Vec<Running>> {
    let entries = Runtime::of_process()?.directory().list()?;
    Ok(entries
        .into_iter()
        .filter_map(|entry| Some(Running { class: class_of(&entry.name)?, pid: entry.pid }))
        .collect())
}

/// The process of this user's service for activation, if there is one.
///
/// # Errors
///
/// When the directory of names cannot be read.
pub fn service() -> Result<Option<u32>> {
    let entries = Runtime::of_process()?.directory().list()?;
    Ok(entries.into_iter().find(|entry| entry.name == SERVICE).and_then(|entry| entry.pid))
}

/// Has this process be found as one that makes objects of a class. `None` where another one is found already.
pub(crate) fn announce(runtime: &'static Runtime, class: &GUID) -> Result<Option<Arc<Listener>>> {
    let listener = match runtime.bind_name(&class_endpoint(class)) {
        Err(error) if error.code() == code::RPC_S_DUPLICATE_ENDPOINT => None,
        listener => Some(listener?),
    };
    static ONCE: Once = Once::new();
    ONCE.call_once(leave_service);
    Ok(listener)
}

/// The service that started this process may end before it from here on, and does not listen to its standard error any longer: that goes
/// where the standard output does, which is the service's own standard error.
fn leave_service() {
    let pipe = std::env::var(STARTED).ok().and_then(|pipe| pipe.parse().ok());
    let own = rustix::fs::fstat(io::stderr()).ok().map(|found| found.st_ino);
    if pipe.is_some() && pipe == own {
        // Otherwise what is written is lost when the service ends.
        let _ = rustix::stdio::dup2_stderr(io::stdout());
        let _ = rustix::process::set_parent_process_death_signal(None);
    }
}

/// How long this process is to stay when nobody uses it, where its registration says so.
pub(crate) fn idle_timeout() -> Option<Duration> {
    std::env::var(IDLE).ok()?.parse().ok().map(Duration::from_secs)
}

/// Has this user's service start a server of a class, if none runs. Whether it had to be started; `None` where there is no service.
pub(crate) fn start(runtime: &'static Runtime, class: &GUID) -> Result<Option<bool>> {
    match runtime.link_at(SERVICE) {
        Ok(link) => system::start::start(&link, class).map(Some),
        Err(error) if error.code() == code::RPC_S_SERVER_UNAVAILABLE => Ok(None),
        Err(error) => Err(error.told(|what| format!("the service for activation cannot be reached: {what}"))),
    }
}

/// Does something by a process that makes objects of a class: one that runs, or that `start` has started where `attempt` finds none. `start` says
/// whether it had to, and both are to end by this thread's deadline.
pub(crate) fn by_server<R>(attempt: impl Fn() -> Result<R>, start: impl Fn(Deadline) -> Result<bool>) -> Result<R> {
    let deadline = thread::deadline().start();
    let mut starts = 0;
    loop {
        let failure = match thread::with(deadline, &attempt) {
            Err(error) if may_be_ending(error.code()) => error,
            done => return done,
        };
        if starts == STARTS_MAX || deadline.is_over() {
            return Err(failure);
        }
        match thread::with(deadline, || start(deadline))? {
            true => starts += 1,
            // It was there a moment ago: another process has started it, or it is ending.
            false => std::thread::sleep(PAUSE),
        }
    }
}

/// Whether a server that answers so may just have ended, or be about to: another one can be started.
fn may_be_ending(result: HRESULT) -> bool {
    [code::RPC_S_SERVER_UNAVAILABLE, code::RPC_E_DISCONNECTED, code::REGDB_E_CLASSNOTREG].contains(&result)
}

/// What a class that nobody makes objects of is refused with.
pub(crate) fn unknown(class: &GUID, why: &str) -> Error {
    Error::new(code::REGDB_E_CLASSNOTREG, format!("the class {{{class:?}}} {why}"))
}
