//! Seats: shared access to an endpoint, which its peer's port may close.
//!
//! Two endpoints of `shm` in one process use each other's memory without a mapping of their own.
//! After one of them is closed, the other must not be used any more. Such two sit at one table: a
//! port that closes its endpoint closes both, and first takes the completions that the other port
//! has not seen. An endpoint whose peer is in another process has a table of its own.

use super::endpoint::Endpoint;
use super::ffi::Done;
use crate::Error;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The maximum number of completions kept for the port of a closed endpoint: more than it can have
/// posted.
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

/// The place of an endpoint at a table.
#[derive(Debug)]
pub(super) struct Seat {
    table: Arc<Table>,
    side: usize,
}

/// The endpoints of this process that request a connection, by name. libfabric has such a list of
/// the process itself.
static ASKING: Mutex<Vec<(Vec<u8>, Weak<Table>)>> = Mutex::new(Vec::new());

fn asking() -> MutexGuard<'static, Vec<(Vec<u8>, Weak<Table>)>> {
    ASKING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seat {
    /// Seats an endpoint whose peer is in another process, or in this one and comes later: see
    /// [`Self::announce`].
    pub(super) fn new(endpoint: Endpoint) -> Self {
        let seat = Self { table: Arc::default(), side: 0 };
        seat.places()[0].endpoint = Some(endpoint);
        seat
    }

    /// Lets a peer of this process find the endpoint.
    pub(super) fn announce(&self, name: &[u8]) {
        let mut asking = asking();
        asking.retain(|(other, table)| table.strong_count() > 0 && other != name);
        asking.push((name.to_vec(), Arc::downgrade(&self.table)));
    }

    /// Seats an endpoint opposite the endpoint of that name, which is in this process.
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

    /// Uses the endpoint. Returns `None` when it has been closed.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut Endpoint) -> R) -> Option<R> {
        self.places()[self.side].endpoint.as_mut().map(work)
    }

    /// Returns the next completion. The outer `None` says that there is none left and the endpoint
    /// has been closed.
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
