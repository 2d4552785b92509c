//! Seats: a port's access to its endpoint, which the port of the peer may close.
//!
//! Two endpoints of `shm` in one process use each other's memory without a mapping of their own.
//! After one of them is closed, the other must not be used any more. The ports of such a pair of
//! endpoints therefore share a *table* with two places: a port that closes its endpoint closes
//! both, and first takes the completions that the other port has not seen. An endpoint whose peer
//! is in another process has a table of its own.

use super::endpoint::Endpoint;
use super::ffi::Done;
use crate::Error;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The maximum number of completions kept for a port whose endpoint was closed: more than the port
/// can have posted operations.
const KEPT_MAX: usize = 1 << 16;

#[derive(Debug, Default)]
struct Place {
    endpoint: Option<Endpoint>,
    kept: VecDeque<Done>,
}

#[derive(Debug, Default)]
struct Table {
    places: Mutex<[Place; 2]>,
}

/// A port's access to its endpoint: one side of a table.
#[derive(Debug)]
pub(super) struct Seat {
    table: Arc<Table>,
    side: usize,
}

/// The endpoints of this process that request a connection, with their tables, by name. libfabric
/// keeps such a list of this process's endpoints, too.
static ASKING: Mutex<Vec<(Vec<u8>, Weak<Table>)>> = Mutex::new(Vec::new());

fn asking() -> MutexGuard<'static, Vec<(Vec<u8>, Weak<Table>)>> {
    ASKING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seat {
    /// Puts an endpoint at a table of its own. If the peer turns out to be in this process, it
    /// joins the table later: see [`Self::announce`].
    pub(super) fn new(endpoint: Endpoint) -> Self {
        let seat = Self { table: Arc::default(), side: 0 };
        seat.places()[0].endpoint = Some(endpoint);
        seat
    }

    /// Lets an endpoint of this process that accepts the connection join the table: see
    /// [`Self::opposite`].
    pub(super) fn announce(&self, name: &[u8]) {
        let mut asking = asking();
        asking.retain(|(other, table)| table.strong_count() > 0 && other != name);
        asking.push((name.to_vec(), Arc::downgrade(&self.table)));
    }

    /// Puts an endpoint at the table of the endpoint named `name`, if that endpoint is in this
    /// process.
    pub(super) fn opposite(name: &[u8], endpoint: Endpoint) -> Self {
        let found = {
            let mut asking = asking();
            let at = asking.iter().position(|(other, _)| other == name);
            at.and_then(|at| asking.swap_remove(at).1.upgrade())
        };
        let Some(table) = found else { return Self::new(endpoint) };
        let seat = Self { table, side: 1 };
        seat.places()[1].endpoint = Some(endpoint);
        seat
    }

    fn places(&self) -> MutexGuard<'_, [Place; 2]> {
        self.table.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `work` with the endpoint. Returns `None` if the endpoint was closed.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut Endpoint) -> R) -> Option<R> {
        self.places()[self.side].endpoint.as_mut().map(work)
    }

    /// Returns the next completion. The outer `None` says that the endpoint was closed and no
    /// completion is left; the inner `None` says that no completion has arrived.
    pub(super) fn next(&self) -> Option<Result<Option<Done>, Error>> {
        let place = &mut self.places()[self.side];
        match (place.kept.pop_front(), &place.endpoint) {
            (Some(done), _) => Some(Ok(Some(done))),
            (None, Some(endpoint)) => Some(endpoint.completions.next()),
            (None, None) => None,
        }
    }

    /// Closes the endpoint, and that of a peer in this process.
    pub(super) fn close(&self, last: impl FnOnce(&Endpoint)) {
        let places = &mut *self.places();
        let other = 1 - self.side;
        if let Some(endpoint) = &places[self.side].endpoint {
            last(endpoint);
            endpoint.shutdown();
        }
        let Place { endpoint, kept } = &mut places[other];
        if let Some(theirs) = endpoint {
            while kept.len() < KEPT_MAX
                && let Ok(Some(done)) = theirs.completions.next()
            {
                kept.push_back(done);
            }
        }
        *endpoint = None;
        places[self.side] = Place::default();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.close(|_| {});
    }
}
