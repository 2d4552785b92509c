//! The entrance of streams from networks. Strangers share a limited number of places, so that they
//! leave descriptors and threads to other clients.
//!
//! A client moves up from stage to stage: it connects, binds, and calls. If no place is free, a
//! newcomer takes the place of the oldest client at the lowest stage. Clients that have called keep
//! their places, and clients that have just connected have a moment to bind and call.

use super::waiting::counted;
use crate::types::threads::lock;
use obvia_via::datagram::Host;
use obvia_via::stream::Stream;
use obvia_via::window::Peer;
use rustix::process::{Resource, getrlimit};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The descriptors of a stream: its socket, and the bell that ends waits for it.
const DESCRIPTORS: u64 = 2;
/// The greatest number of places. A stream has a thread, too.
const PLACES_MAX: u64 = 1 << 14;

/// The greatest number of bytes of incomplete messages, for all clients and for one host.
const HELD_MAX: usize = 1 << 30;
const HELD_BY_HOST_MAX: usize = HELD_MAX / 2;

/// The time for which a new client keeps its place, provided that an older client can lose its own.
const MOMENT: Duration = Duration::from_secs(2);

/// The stage of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Connected,
    Bound,
    Called,
}

/// The streams from networks.
#[derive(Default)]
pub(super) struct Entrance {
    places: Mutex<Places>,
    /// The bytes of all incomplete messages.
    held: AtomicUsize,
}

#[derive(Default)]
struct Places {
    next: u64,
    /// The taken places, the oldest first.
    taken: BTreeMap<u64, Taken>,
    by_host: HashMap<Host, Share>,
    /// The number of places whose streams were ended, and are not closed yet.
    evicted: u64,
}

/// The places and the memory of the clients of one host.
#[derive(Default)]
struct Share {
    places: u64,
    /// The number of places of clients that have not called.
    waiting: u64,
    /// The bytes of the incomplete messages of the host's clients.
    held: Arc<AtomicUsize>,
}

struct Taken {
    host: Host,
    stage: Stage,
    since: Instant,
    is_evicted: bool,
    stream: Arc<Stream>,
}

impl Taken {
    fn is_waiting(&self) -> bool {
        self.stage < Stage::Called && !self.is_evicted
    }
}

impl Entrance {
    /// Gives a place to a stream from a network. A process that connects by a name needs none.
    ///
    /// # Errors
    ///
    /// If all places, or the half that one host may have, are taken by clients that have called, or
    /// if too many clients that were ended still hold their descriptors.
    pub(super) fn enter(&'static self, stream: &Arc<Stream>) -> Result<Option<Place>, Full> {
        let Peer::Host(address) = stream.peer() else { return Ok(None) };
        let (number, held) = lock(&self.places).enter(counted(address), stream, places_max(), Instant::now())?;
        Ok(Some(Place { entrance: self, number, held }))
    }
}

/// The error for an entrance whose places are all taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// Returns the greatest number of places: they take three quarters of the descriptors at most.
fn places_max() -> u64 {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (descriptors / 4 * 3 / DESCRIPTORS).min(PLACES_MAX)
}

impl Places {
    fn enter(
        &mut self,
        host: Host,
        stream: &Arc<Stream>,
        most: u64,
        now: Instant,
    ) -> Result<(u64, Arc<AtomicUsize>), Full> {
        // A host has half of the places at most.
        let is_host_full = self.by_host.get(&host).is_some_and(|share| share.places >= most.div_ceil(2));
        if is_host_full || self.taken.len() as u64 - self.evicted >= most {
            // Ended streams still have descriptors.
            if self.evicted >= most.div_ceil(8) {
                return Err(Full);
            }
            self.evict(is_host_full.then_some(host), now)?;
        }
        let number = self.next;
        self.next += 1;
        let stream = Arc::clone(stream);
        let stage = Stage::Connected;
        self.taken.insert(number, Taken { host, stage, since: now, is_evicted: false, stream });
        let share = self.by_host.entry(host).or_default();
        share.places += 1;
        share.waiting += 1;
        Ok((number, Arc::clone(&share.held)))
    }

    /// Ends the oldest stream at the lowest stage: a stream of `host` if given, otherwise a stream
    /// of the hosts with the most waiting clients.
    fn evict(&mut self, host: Option<Host>, now: Instant) -> Result<(), Full> {
        let may_go = |taken: &&Taken| taken.is_waiting() && host.is_none_or(|only| only == taken.host);
        let waiting = |taken: &Taken| self.by_host.get(&taken.host).map_or(0, |share| share.waiting);
        let most = self.taken.values().filter(may_go).map(waiting).max().ok_or(Full)?;
        let candidates = self.taken.iter().filter(|(_, taken)| may_go(taken) && waiting(taken) == most);
        let order = |number: u64, taken: &Taken| (now.duration_since(taken.since) < MOMENT, taken.stage, number);
        let (&number, _) = candidates.min_by_key(|(number, taken)| order(**number, taken)).ok_or(Full)?;
        if let Some(taken) = self.taken.get_mut(&number) {
            taken.is_evicted = true;
            taken.stream.abandon();
            self.evicted += 1;
            let host = taken.host;
            self.forget(host, true);
        }
        Ok(())
    }

    /// Subtracts a place from the places of its host.
    fn forget(&mut self, host: Host, is_waiting: bool) {
        let Some(share) = self.by_host.get_mut(&host) else { return };
        share.places -= 1;
        share.waiting -= u64::from(is_waiting);
        if share.places == 0 {
            self.by_host.remove(&host);
        }
    }

    fn move_up(&mut self, number: u64, stage: Stage) {
        let Some(taken) = self.taken.get_mut(&number) else { return };
        let was_waiting = taken.is_waiting();
        taken.stage = taken.stage.max(stage);
        if was_waiting
            && !taken.is_waiting()
            && let Some(share) = self.by_host.get_mut(&taken.host)
        {
            share.waiting -= 1;
        }
    }

    fn leave(&mut self, number: u64) -> Option<Taken> {
        let taken = self.taken.remove(&number)?;
        if taken.is_evicted {
            self.evicted -= 1;
        } else {
            self.forget(taken.host, taken.is_waiting());
        }
        Some(taken)
    }
}

/// The place of a stream. It is free again once this value is dropped.
pub(crate) struct Place {
    entrance: &'static Entrance,
    number: u64,
    /// The bytes of the incomplete messages of the client's host.
    held: Arc<AtomicUsize>,
}

impl Place {
    /// Notes that the client has bound.
    pub(super) fn is_bound(&self) {
        self.move_up(Stage::Bound);
    }

    /// Notes that the client has made a permitted call.
    pub(super) fn has_called(&self) {
        self.move_up(Stage::Called);
    }

    fn move_up(&self, stage: Stage) {
        lock(&self.entrance.places).move_up(self.number, stage);
    }

    /// Takes bytes for an incomplete message. Returns false if fewer bytes are left.
    pub(super) fn hold(&self, bytes: usize) -> bool {
        let limits = [(&self.entrance.held, HELD_MAX), (&*self.held, HELD_BY_HOST_MAX)];
        for (at, (held, most)) in limits.iter().enumerate() {
            if held.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > *most {
                for (held, _) in &limits[..=at] {
                    held.fetch_sub(bytes, Ordering::Relaxed);
                }
                return false;
            }
        }
        true
    }

    /// Gives bytes of an incomplete message back.
    pub(super) fn let_go(&self, bytes: usize) {
        self.entrance.held.fetch_sub(bytes, Ordering::Relaxed);
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The stream is dropped without the lock.
        let taken = lock(&self.entrance.places).leave(self.number);
        drop(taken);
    }
}

#[cfg(test)]
mod tests;
