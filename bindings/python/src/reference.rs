//! Objects of servers, and the state that they share with their methods.

use crate::callee::Callee;
use crate::fork;
use crate::interface::Interface;
use crate::server::Server;
use obvia::{Error, IUnknown, code};
use pyo3::prelude::*;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// An object of a server, or the functions of one.
///
/// The attributes are the methods of the interface. The object's dictionary keeps each method after
/// its first use, so that later calls need no look-up in the description.
#[pyclass(frozen, dict, weakref, module = "obvia")]
pub(crate) struct Object {
    pub(crate) state: Arc<State>,
}

/// The state that an object shares with its methods.
pub(crate) struct State {
    pub(crate) interface: &'static Interface,
    /// The target of the object's calls; `None` once the object was closed.
    pub(crate) callee: RwLock<Option<Arc<Callee>>>,
    /// The server of the object.
    pub(crate) server: Arc<Server>,
    /// The time limit of each call, if the object has its own limit.
    pub(crate) timeout: Option<Duration>,
}

impl State {
    pub(crate) fn callee(&self) -> obvia::Result<Arc<Callee>> {
        fork::refuse()?;
        let callee = self.callee.read().unwrap_or_else(PoisonError::into_inner);
        callee.clone().ok_or_else(|| Error::new(code::RPC_E_DISCONNECTED, "the object was closed"))
    }

    /// Runs the steps of a call within the object's time limit, as [`limited`] does.
    pub(crate) fn limited<R>(&self, steps: impl FnOnce() -> R) -> R {
        limited(self.timeout, steps)
    }
}

/// Runs steps under one time limit, which begins now. `None` sets no limit.
pub(crate) fn limited<R>(timeout: Option<Duration>, steps: impl FnOnce() -> R) -> R {
    match timeout.and_then(|timeout| Instant::now().checked_add(timeout)) {
        Some(deadline) => obvia::with_deadline(deadline, steps),
        None => steps(),
    }
}

/// The drop does not hold the interpreter's lock while it releases the target, because the release
/// may send a message.
impl Drop for State {
    fn drop(&mut self) {
        let callee = self.callee.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(callee) = callee {
            // If the interpreter is ending, the closure does not run, and is dropped with the
            // reference to the target.
            Python::try_attach(|py| py.detach(|| fork::end(callee)));
        }
    }
}

impl Object {
    pub(crate) fn new(
        interface: &'static Interface,
        callee: Callee,
        server: Arc<Server>,
        timeout: Option<Duration>,
    ) -> Self {
        let callee = RwLock::new(Some(Arc::new(callee)));
        Self { state: Arc::new(State { interface, callee, server, timeout }) }
    }

    /// Returns the target of the object's calls.
    pub(crate) fn callee(&self) -> obvia::Result<Arc<Callee>> {
        self.state.callee()
    }

    /// Makes an object for an interface pointer from the arguments of a call.
    pub(crate) fn of_caller(interface: &'static Interface, object: &IUnknown) -> obvia::Result<Self> {
        Ok(Self::new(interface, Callee::of(object)?, Server::of_caller(), None))
    }
}
