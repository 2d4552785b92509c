//! Pairs of endpoints: a port's access to its endpoint, which the port of the peer may close.
//!
//! Two endpoints of `shm` in one process use each other's memory without a mapping of their own.
//! After one of them is closed, the other must not be used any more. The ports of such a pair of
//! endpoints therefore share a *pair* with two sides. A port that closes its endpoint closes both
//! endpoints, and first takes the completions that the other port has not seen. An endpoint whose
//! peer is in another process has a pair of its own.

use super::endpoint::Endpoint;
use super::ffi::Done;
use crate::Error;
use crate::sync::lock;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// The maximum number of completions kept for a port whose endpoint was closed: more than the port
/// can have posted operations.
const KEPT_MAX: usize = 1 << 16;

#[derive(Debug, Default)]
struct Side {
    endpoint: Option<Endpoint>,
    kept: VecDeque<Done>,
}

#[derive(Debug, Default)]
struct EndpointPair {
    sides: Mutex<[Side; 2]>,
}

/// A port's access to its endpoint: one side of a pair.
#[derive(Debug)]
pub(super) struct EndpointHandle {
    pair: Arc<EndpointPair>,
    side: usize,
}

/// The endpoints of this process that request a connection, with their pairs, by name. libfabric
/// keeps such a list of this process's endpoints, too.
static CONNECTING: Mutex<Vec<(Vec<u8>, Weak<EndpointPair>)>> = Mutex::new(Vec::new());

fn connecting() -> MutexGuard<'static, Vec<(Vec<u8>, Weak<EndpointPair>)>> {
    lock(&CONNECTING)
}

impl EndpointHandle {
    /// Makes a pair for an endpoint. If the peer turns out to be in this process, the peer's
    /// endpoint joins the pair later: see [`Self::publish`].
    pub(super) fn new(endpoint: Endpoint) -> Self {
        let handle = Self { pair: Arc::default(), side: 0 };
        handle.sides()[0].endpoint = Some(endpoint);
        handle
    }

    /// Publishes the pair under the endpoint's name. If an endpoint of this process accepts the
    /// connection, that endpoint joins the pair by [`Self::join`].
    pub(super) fn publish(&self, name: &[u8]) {
        let mut connecting = connecting();
        connecting.retain(|(other, pair)| pair.strong_count() > 0 && other != name);
        connecting.push((name.to_vec(), Arc::downgrade(&self.pair)));
    }

    /// Puts an endpoint into the pair of the endpoint named `name`, if that endpoint is in this
    /// process.
    pub(super) fn join(name: &[u8], endpoint: Endpoint) -> Self {
        let found = {
            let mut connecting = connecting();
            let at = connecting.iter().position(|(other, _)| other == name);
            at.and_then(|at| connecting.swap_remove(at).1.upgrade())
        };
        let Some(pair) = found else { return Self::new(endpoint) };
        let handle = Self { pair, side: 1 };
        handle.sides()[1].endpoint = Some(endpoint);
        handle
    }

    fn sides(&self) -> MutexGuard<'_, [Side; 2]> {
        lock(&self.pair.sides)
    }

    /// Calls `work` with the endpoint. Returns `None` if the endpoint was closed.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut Endpoint) -> R) -> Option<R> {
        self.sides()[self.side].endpoint.as_mut().map(work)
    }

    /// Returns the next completion. The outer `None` says that the endpoint was closed and no
    /// completion is left; the inner `None` says that no completion has arrived.
    pub(super) fn next(&self) -> Option<Result<Option<Done>, Error>> {
        let side = &mut self.sides()[self.side];
        match (side.kept.pop_front(), &side.endpoint) {
            (Some(done), _) => Some(Ok(Some(done))),
            (None, Some(endpoint)) => Some(endpoint.completions.next()),
            (None, None) => None,
        }
    }

    /// Closes the endpoint, and the peer's endpoint if the peer is in this process.
    pub(super) fn close(&self, last: impl FnOnce(&Endpoint)) {
        let sides = &mut *self.sides();
        let other = 1 - self.side;
        if let Some(endpoint) = &sides[self.side].endpoint {
            last(endpoint);
            endpoint.shutdown();
        }
        let Side { endpoint, kept } = &mut sides[other];
        if let Some(theirs) = endpoint {
            while kept.len() < KEPT_MAX
                && let Ok(Some(done)) = theirs.completions.next()
            {
                kept.push_back(done);
            }
        }
        *endpoint = None;
        sides[self.side] = Side::default();
    }
}

impl Drop for EndpointHandle {
    fn drop(&mut self) {
        self.close(|_| {});
    }
}
