//! The entrance of connections from networks, which share a limited number of descriptors.
//!
//! A client moves up from stage to stage: it connects, binds or authenticates, and calls. If no
//! descriptor is free, a newcomer takes the place of the oldest client at the lowest stage. Clients
//! that have called keep their places. Clients that have just connected have a short time,
//! [`MOMENT`], to bind and call.

use super::held::{AreaBudget, Held, Shares};
use crate::types::hosts;
use crate::types::threads::lock;
use obvia_via::datagram::Host;
use obvia_via::spi::Revocation;
use obvia_via::stream::Stream;
use obvia_via::window::{Alarm, Peer};
use obvia_via::{Budget, Request};
use rustix::process::{Resource, getrlimit};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The descriptors of a stream: its socket, and the bell that ends waits for it.
const STREAM_DESCRIPTORS: u64 = 2;
/// The greatest number of descriptors of all connections. Each connection has at least two
/// descriptors and one thread, so the number of threads is at most half of this.
const DESCRIPTORS_MAX: u64 = 1 << 15;

/// The time for which a new client keeps its place, if an older client can lose its place instead.
/// An authentication takes three round trips, and the first call one more.
const MOMENT: Duration = Duration::from_secs(2);

/// The stage of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Connected,
    /// The client has bound, introduced itself or authenticated.
    Bound,
    Called,
}

/// A connection that another thread can end.
pub(super) trait Abandon: Send + Sync {
    /// Ends the connection as if the peer had become silent. The peer can connect again, and
    /// continue.
    fn abandon(&self);
}

impl Abandon for Arc<Stream> {
    fn abandon(&self) {
        Stream::abandon(self);
    }
}

/// A connection by a virtual interface, during its setup and afterwards.
#[derive(Default)]
pub(super) struct NetworkWindow(Mutex<Setup>);

#[derive(Default)]
struct Setup {
    /// The alarm of the window. Until the setup is complete, the alarm belongs to no window.
    alarm: Alarm,
    /// The handle that ends the setup.
    revocation: Option<Arc<Revocation>>,
    is_abandoned: bool,
}

impl NetworkWindow {
    /// Begins the setup of the connection that a peer requests.
    pub(super) fn of(request: &Request) -> Self {
        Self(Mutex::new(Setup { revocation: request.revocation(), ..Setup::default() }))
    }

    /// Records that the setup is complete. If the connection was abandoned during the setup, it
    /// ends now.
    pub(super) fn is_complete(&self, alarm: Alarm) {
        let mut setup = lock(&self.0);
        if setup.is_abandoned {
            alarm.abandon();
        }
        setup.alarm = alarm;
        setup.revocation = None;
    }
}

impl Abandon for NetworkWindow {
    fn abandon(&self) {
        let mut setup = lock(&self.0);
        setup.is_abandoned = true;
        if let Some(revocation) = &setup.revocation {
            revocation.revoke();
        }
        setup.alarm.abandon();
    }
}

/// The connections from networks.
#[derive(Default)]
pub(super) struct Entrance {
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    next: u64,
    /// The taken places by their numbers, the oldest first.
    taken: BTreeMap<u64, Taken>,
    by_host: HashMap<Host, HostPlaces>,
    /// The number of descriptors of the connections in all places.
    descriptors: u64,
    /// The number of descriptors of connections that were abandoned, and are not closed yet.
    abandoned: u64,
    /// The memory that clients take up, including the memory of abandoned connections.
    shares: Shares<Host>,
}

/// The places of the clients of one host.
#[derive(Default)]
struct HostPlaces {
    descriptors: u64,
    /// The number of places of clients that have not called.
    waiting: u64,
}

struct Taken {
    host: Host,
    descriptors: u64,
    stage: Stage,
    since: Instant,
    is_abandoned: bool,
    connection: Arc<dyn Abandon>,
}

impl Taken {
    fn is_waiting(&self) -> bool {
        self.stage < Stage::Called && !self.is_abandoned
    }

    /// Whether the connection can lose its place to a newcomer: its client has not called, and runs
    /// on `host`, if a host is given.
    fn may_go_for(&self, host: Option<Host>) -> bool {
        self.is_waiting() && host.is_none_or(|only| only == self.host)
    }
}

/// A connection that needs a place.
struct Newcomer {
    host: Host,
    descriptors: u64,
    connection: Arc<dyn Abandon>,
}

impl Entrance {
    /// Gives a place to a stream from a host on a network.
    ///
    /// # Errors
    ///
    /// As [`Self::enter_by_window`].
    pub(super) fn enter(&'static self, address: &str, stream: &Arc<Stream>) -> Result<Place, Full> {
        self.give_place(address, STREAM_DESCRIPTORS, Arc::new(Arc::clone(stream)))
    }

    /// Gives a place to a connection by a virtual interface. `descriptors` is the number of the
    /// connection's descriptors.
    ///
    /// # Errors
    ///
    /// If all places, or the half that one host may have, are taken by clients that have called, or
    /// if too many clients that were abandoned still hold their descriptors.
    pub(super) fn enter_by_window(
        &'static self,
        address: &str,
        descriptors: u64,
        window: &Arc<NetworkWindow>,
    ) -> Result<Place, Full> {
        self.give_place(address, descriptors, Arc::clone(window) as Arc<_>)
    }

    /// Returns the number of taken places.
    #[cfg(test)]
    pub(super) fn taken(&self) -> usize {
        lock(&self.places).taken.len()
    }

    /// Returns the share of the memory that the peers of a host take up.
    pub(super) fn held(&self, address: &str) -> Arc<Held> {
        lock(&self.places).shares.of(hosts::counted(address))
    }

    /// Returns the budget for the areas of a connection with a peer. `None` for a peer on this
    /// host, whose areas are not counted.
    pub(super) fn area_budget(&self, peer: &Peer) -> Option<Arc<dyn Budget>> {
        match peer {
            Peer::Host(address) => Some(Arc::new(AreaBudget::new(&self.held(address), peer))),
            Peer::Process { .. } => None,
        }
    }

    fn give_place(&'static self, address: &str, descriptors: u64, connection: Arc<dyn Abandon>) -> Result<Place, Full> {
        let host = hosts::counted(address);
        let newcomer = Newcomer { host, descriptors, connection };
        let mut places = lock(&self.places);
        let (number, abandoned) = places.enter(newcomer, descriptors_max(), Instant::now())?;
        let held = places.shares.of(host);
        drop(places);
        // The connections are ended while the lock is not held.
        abandoned.iter().for_each(|connection| connection.abandon());
        Ok(Place { entrance: self, number, held, has_called: AtomicBool::new(false) })
    }
}

/// The error for a connection without a free place, with the reason for the client.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full(pub(super) &'static str);

const OF_HOST: Full = Full("the server serves as many clients of this host as it can: see `ulimit -n`");
const OF_ALL: Full = Full("the server serves as many clients as it can: see `ulimit -n`");
const OF_HOST_AT_CAP: Full =
    Full("the server serves as many clients of one host as any server can: use several servers");
const OF_ALL_AT_CAP: Full = Full("the server serves as many clients as any server can: use several servers");
const ENDING: Full = Full("the server is ending connections for which it has no room: try again");

/// Returns the error for a newcomer for which too few descriptors can be freed. If `is_of_host` is
/// true, the half of its host is used up, otherwise all descriptors are. `most` is the limit on all
/// descriptors. A greater `ulimit -n` raises `most` up to [`DESCRIPTORS_MAX`].
fn full(is_of_host: bool, most: u64) -> Full {
    match (is_of_host, most < DESCRIPTORS_MAX) {
        (true, true) => OF_HOST,
        (false, true) => OF_ALL,
        (true, false) => OF_HOST_AT_CAP,
        (false, false) => OF_ALL_AT_CAP,
    }
}

/// Returns the greatest number of descriptors of all connections: three quarters of the number that
/// the process may open, but at most [`DESCRIPTORS_MAX`].
fn descriptors_max() -> u64 {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (descriptors / 4 * 3).min(DESCRIPTORS_MAX)
}

impl Places {
    /// Gives a place to a newcomer. Returns the number of the place, and the connections that have
    /// to end for the newcomer.
    fn enter(&mut self, newcomer: Newcomer, most: u64, now: Instant) -> Result<(u64, Vec<Arc<dyn Abandon>>), Full> {
        let Newcomer { host, descriptors, connection } = newcomer;
        let abandoned = self.make_room(host, descriptors, most, now)?;
        let number = self.next;
        self.next += 1;
        let stage = Stage::Connected;
        self.taken.insert(number, Taken { host, descriptors, stage, since: now, is_abandoned: false, connection });
        self.descriptors += descriptors;
        let places = self.by_host.entry(host).or_default();
        places.descriptors += descriptors;
        places.waiting += 1;
        Ok((number, abandoned))
    }

    /// Makes room for a newcomer, and returns the connections that lose their places. If there
    /// cannot be enough room, all connections keep their places.
    fn make_room(
        &mut self,
        host: Host,
        descriptors: u64,
        most: u64,
        now: Instant,
    ) -> Result<Vec<Arc<dyn Abandon>>, Full> {
        // A host has half of the descriptors at most. This limit does not apply to peers without an
        // IP address, whose hosts are not known.
        let of_host = self.by_host.get(&host).map_or(0, |places| places.descriptors);
        let of_all = self.descriptors - self.abandoned;
        let lack = |taken: u64, most: u64| (taken + descriptors).saturating_sub(most);
        let known = (host != Host::NONE).then(|| (Some(host), lack(of_host, most.div_ceil(2))));
        let lacks = known.into_iter().chain([(None, lack(of_all, most))]);
        let lacks: Vec<_> = lacks.filter(|(_, lack)| *lack > 0).collect();
        for &(of, lack) in &lacks {
            let may_go = self.taken.values().filter(|taken| taken.may_go_for(of));
            if may_go.map(|taken| taken.descriptors).sum::<u64>() < lack {
                return Err(full(of.is_some(), most));
            }
        }
        // Abandoned connections keep their descriptors until they are closed. The number of these
        // descriptors is limited to an eighth.
        if !lacks.is_empty() && self.abandoned > 0 && self.abandoned + descriptors > most.div_ceil(8) {
            return Err(ENDING);
        }
        let (mut freed, mut abandoned) = (0, Vec::new());
        for (of, lack) in lacks {
            while freed < lack
                && let Some((descriptors, connection)) = self.evict(of, now)
            {
                freed += descriptors;
                abandoned.push(connection);
            }
            debug_assert!(freed >= lack, "there were enough connections to yield");
        }
        Ok(abandoned)
    }

    /// Takes away the place of the oldest connection at the lowest stage. If `host` is given, only
    /// connections of this host can lose their places, otherwise only connections of the hosts with
    /// the most waiting clients. A connection that is younger than [`MOMENT`] loses its place only
    /// if all candidates are. Returns the number of the connection's descriptors, and the
    /// connection.
    fn evict(&mut self, host: Option<Host>, now: Instant) -> Option<(u64, Arc<dyn Abandon>)> {
        let may_go = |taken: &&Taken| taken.may_go_for(host);
        let waiting = |taken: &Taken| self.by_host.get(&taken.host).map_or(0, |places| places.waiting);
        let most = self.taken.values().filter(may_go).map(waiting).max()?;
        let candidates = self.taken.iter().filter(|(_, taken)| may_go(taken) && waiting(taken) == most);
        let order = |number: u64, taken: &Taken| (now.duration_since(taken.since) < MOMENT, taken.stage, number);
        let (&number, _) = candidates.min_by_key(|(number, taken)| order(**number, taken))?;
        let taken = self.taken.get_mut(&number)?;
        taken.is_abandoned = true;
        self.abandoned += taken.descriptors;
        let (host, descriptors, connection) = (taken.host, taken.descriptors, Arc::clone(&taken.connection));
        self.forget(host, descriptors, true);
        Some((descriptors, connection))
    }

    /// Subtracts a place from the places of its host.
    fn forget(&mut self, host: Host, descriptors: u64, is_waiting: bool) {
        let Some(places) = self.by_host.get_mut(&host) else { return };
        places.descriptors -= descriptors;
        places.waiting -= u64::from(is_waiting);
        if places.descriptors == 0 {
            self.by_host.remove(&host);
        }
    }

    /// Moves a client up to a stage. Returns false if the client has lost its place.
    fn move_up(&mut self, number: u64, stage: Stage) -> bool {
        let Some(taken) = self.taken.get_mut(&number).filter(|taken| !taken.is_abandoned) else { return false };
        let was_waiting = taken.is_waiting();
        taken.stage = taken.stage.max(stage);
        if was_waiting
            && !taken.is_waiting()
            && let Some(places) = self.by_host.get_mut(&taken.host)
        {
            places.waiting -= 1;
        }
        true
    }

    fn leave(&mut self, number: u64) -> Option<Taken> {
        let taken = self.taken.remove(&number)?;
        self.descriptors -= taken.descriptors;
        if taken.is_abandoned {
            self.abandoned -= taken.descriptors;
        } else {
            self.forget(taken.host, taken.descriptors, taken.is_waiting());
        }
        Some(taken)
    }
}

/// The place of a connection. It is free again once this value is dropped.
pub(crate) struct Place {
    entrance: &'static Entrance,
    number: u64,
    /// The share of memory that all clients of this client's host use together.
    pub(super) held: Arc<Held>,
    has_called: AtomicBool,
}

impl Place {
    /// Records that the client has bound, introduced itself or authenticated.
    pub(super) fn is_bound(&self) {
        self.move_up(Stage::Bound);
    }

    /// Records that the client makes a permitted call. Returns false if the client has lost its
    /// place: the call must not run, since the connection is about to end. Takes no lock after the
    /// first call.
    pub(super) fn has_called(&self) -> bool {
        if self.has_called.load(Ordering::Relaxed) {
            return true;
        }
        let is_held = self.move_up(Stage::Called);
        self.has_called.store(is_held, Ordering::Relaxed);
        is_held
    }

    fn move_up(&self, stage: Stage) -> bool {
        lock(&self.entrance.places).move_up(self.number, stage)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The connection is dropped while the lock is not held.
        let taken = lock(&self.entrance.places).leave(self.number);
        drop(taken);
    }
}

#[cfg(test)]
mod tests;
