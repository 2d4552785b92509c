//! The ping sets of clients of other hosts. The objects of a set may be in several processes of
//! this user. The set has a part in each of these processes, which is a ping set of that process.
//! Only the parts contain the OIDs. This module has a list of the existing parts.

use super::resolver_call;
use crate::orpc::object_exporter::{ComplexPing, Request, Response};
use crate::orpc::{
    Client, INVALID_OID, INVALID_SET, Limits, OUT_OF_RESOURCES, PingAnswer, SourceCounts, SourcedClient, is_older,
};
use crate::runtime::Runtime;
use crate::server::Caller;
use crate::types::error::{Result, code};
use crate::types::identity::{self, oxid_of};
use obvia_rpc::status::Status;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use windows_core::HRESULT;

const DONE: Status = Status(0);

/// The ping sets.
#[derive(Default)]
pub(crate) struct PingSets(Mutex<Sets>);

#[derive(Default)]
struct Sets {
    by_id: HashMap<u64, Set>,
    /// The sets, in the order of their expiry.
    quiet: BTreeSet<(Instant, u64)>,
    /// The number of sets that each client, and each host, has made.
    makers: SourceCounts,
}

struct Set {
    maker: SourcedClient,
    // Invariant: `quiet` contains the set with this time.
    pinged: Instant,
    parts: Arc<Mutex<Parts>>,
}

impl Sets {
    fn remove(&mut self, id: u64) {
        if let Some(set) = self.by_id.remove(&id) {
            self.quiet.remove(&(set.pinged, id));
            self.makers.remove(set.maker);
        }
    }

    /// Removes the sets without a ping since `expired`. The parts of these sets expire by
    /// themselves, in the processes that have the parts.
    fn expire(&mut self, expired: Instant) {
        while let Some(&(pinged, id)) = self.quiet.first()
            && pinged <= expired
        {
            self.remove(id);
        }
    }

    fn insert(&mut self, id: u64, set: Set) {
        self.quiet.insert((set.pinged, id));
        self.makers.add(set.maker);
        self.by_id.insert(id, set);
    }
}

/// The parts of a set. They are locked during a ping, so that changes of the set happen one after
/// the other.
#[derive(Default)]
struct Parts {
    /// The identifier of the part in each process, by OXID.
    sets: HashMap<u64, u64>,
    /// The sequence number of the last change.
    sequence: u16,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the upper half of an OID or OXID, which identifies the process.
fn upper(number: u64) -> u32 {
    (number >> 32) as u32
}

impl PingSets {
    /// Returns the ping sets of clients of other hosts.
    pub(crate) fn of(runtime: &Runtime) -> &'static Self {
        runtime.extension()
    }

    /// Pings all objects of a set.
    pub(crate) fn simple_ping(&self, caller: &Caller, set: u64) -> Status {
        let Some(parts) = self.pinged(set, None) else { return INVALID_SET };
        let mut parts = lock(&parts);
        let status = parts.ping(caller, |_| true);
        if status == INVALID_SET {
            self.forget(set);
        }
        status
    }

    /// Changes a set, or makes a new one.
    pub(crate) fn complex_ping(&self, caller: &Caller, ping: &ComplexPing) -> PingAnswer {
        let is_new = ping.set == 0;
        let made = if is_new { self.make(caller, ping.sequence) } else { Ok(ping.set) };
        let set = match made {
            Ok(set) => set,
            Err(status) => return PingAnswer { set: 0, status },
        };
        let Some(parts) = self.pinged(set, Some(caller.holder())) else {
            return PingAnswer { set, status: INVALID_SET };
        };
        let mut parts = lock(&parts);
        let status = parts.change(caller, ping);
        if status == INVALID_SET {
            self.forget(set);
        }
        // In the ping that makes a set, unknown OIDs are ignored.
        PingAnswer { set, status: if is_new && status == INVALID_OID { DONE } else { status } }
    }

    /// Returns the parts of a set, if it exists, and records the ping. If `maker` is given, the set
    /// must have been made by that client.
    fn pinged(&self, id: u64, maker: Option<Client>) -> Option<Arc<Mutex<Parts>>> {
        let mut sets = lock(&self.0);
        let Sets { by_id, quiet, .. } = &mut *sets;
        let found = by_id.get_mut(&id).filter(|set| maker.is_none_or(|maker| set.maker.client == maker))?;
        quiet.remove(&(found.pinged, id));
        found.pinged = Instant::now();
        quiet.insert((found.pinged, id));
        Some(Arc::clone(&found.parts))
    }

    fn forget(&self, set: u64) {
        lock(&self.0).remove(set);
    }

    /// Makes a set without parts, and returns its identifier.
    fn make(&self, caller: &Caller, sequence: u16) -> std::result::Result<u64, Status> {
        self.make_for(caller.pinger(), sequence, caller.exporter.exports().patience())
    }

    /// Makes a set as [`Self::make`] does, for any client. Sets without a ping for the time
    /// `patience` have expired.
    fn make_for(&self, maker: SourcedClient, sequence: u16, patience: Duration) -> std::result::Result<u64, Status> {
        let (mut sets, now) = (lock(&self.0), Instant::now());
        now.checked_sub(patience).into_iter().for_each(|expired| sets.expire(expired));
        if !sets.makers.has_room(maker, Limits::default().of_sets()) {
            return Err(OUT_OF_RESOURCES);
        }
        for _ in 0..identity::DRAWS {
            let fresh = identity::draw_set().map_err(|_| Status::REMOTE_NO_MEMORY)?;
            if !sets.by_id.contains_key(&fresh) {
                let parts = Arc::new(Mutex::new(Parts { sequence, ..Parts::default() }));
                sets.insert(fresh, Set { maker, pinged: now, parts });
                return Ok(fresh);
            }
        }
        Err(OUT_OF_RESOURCES)
    }
}

impl Parts {
    /// Applies a change to the affected parts, and pings all other parts.
    fn change(&mut self, caller: &Caller, ping: &ComplexPing) -> Status {
        if is_older(ping.sequence, self.sequence) {
            return DONE;
        }
        self.sequence = ping.sequence;
        let mut changes: HashMap<u32, ComplexPing> = HashMap::new();
        for (oids, is_added) in [(&ping.added, true), (&ping.removed, false)] {
            for &oid in oids {
                let change = changes.entry(upper(oid)).or_default();
                if is_added { change.added.push(oid) } else { change.removed.push(oid) }
            }
        }
        let processes = self.processes(caller, &changes);
        let mut outcome = DONE;
        for (upper, change) in changes {
            let change = ComplexPing { sequence: ping.sequence, ..change };
            let status = match processes.get(&upper) {
                Some(&oxid) => self.change_part(caller, oxid, change),
                None if change.added.is_empty() => DONE,
                None => INVALID_OID,
            };
            // An invalid set takes precedence over an invalid OID.
            if status != DONE && outcome != INVALID_SET {
                outcome = status;
            }
        }
        let others = |oxid: &u64| !processes.contains_key(&upper(*oxid));
        if self.ping(caller, others) == INVALID_SET { INVALID_SET } else { outcome }
    }

    /// Returns the OXIDs of the processes that a change affects, by the upper halves of the OIDs.
    /// The processes are this process, those with a part of the set, and others of this user that
    /// have names in the directory.
    fn processes(&self, caller: &Caller, changes: &HashMap<u32, ComplexPing>) -> HashMap<u32, u64> {
        let own = caller.exporter.oxid();
        let known = self.sets.keys().copied().chain([own]).map(|oxid| (upper(oxid), oxid));
        let mut found: HashMap<u32, u64> = known.filter(|(upper, _)| changes.contains_key(upper)).collect();
        if changes.keys().any(|upper| !found.contains_key(upper)) {
            let names = caller.exporter.local().directory().list().unwrap_or_default();
            let oxids = names.iter().filter_map(|entry| oxid_of(&entry.name)).map(|oxid| (upper(oxid), oxid));
            oxids.filter(|(upper, _)| changes.contains_key(upper)).for_each(|(upper, oxid)| {
                found.entry(upper).or_insert(oxid);
            });
        }
        found
    }

    fn change_part(&mut self, caller: &Caller, oxid: u64, change: ComplexPing) -> Status {
        let set = self.sets.get(&oxid).copied().unwrap_or(0);
        if set == 0 && change.added.is_empty() {
            return DONE;
        }
        let is_added = !change.added.is_empty();
        match ask(caller, oxid, Request::ComplexPing(ComplexPing { set, ..change })) {
            Ok(Response::ComplexPing { set, status, .. }) => {
                if set != 0 {
                    self.sets.insert(oxid, set);
                }
                status
            }
            Err(error) if is_gone(error.code()) => {
                self.sets.remove(&oxid);
                if is_added { INVALID_OID } else { DONE }
            }
            _ => OUT_OF_RESOURCES,
        }
    }

    /// Pings the selected parts. Returns INVALID_SET where a part is gone although its process
    /// lives.
    fn ping(&mut self, caller: &Caller, which: impl Fn(&u64) -> bool) -> Status {
        let mut status = DONE;
        self.sets.retain(|oxid, set| {
            if !which(oxid) {
                return true;
            }
            match ask(caller, *oxid, Request::SimplePing { set: *set }) {
                Ok(Response::SimplePing(DONE)) => true,
                Ok(_) => {
                    status = INVALID_SET;
                    false
                }
                Err(error) => !is_gone(error.code()),
            }
        });
        status
    }
}

/// Performs a ping in this process or another process.
fn ask(caller: &Caller, oxid: u64, request: Request) -> Result<Response> {
    let exports = caller.exporter.exports();
    Ok(match request {
        Request::SimplePing { set } if oxid == caller.exporter.oxid() => Response::SimplePing(exports.simple_ping(set)),
        Request::ComplexPing(ping) if oxid == caller.exporter.oxid() => {
            let PingAnswer { set, status } = exports.complex_ping(&ping, caller.pinger())?;
            Response::ComplexPing { set, backoff: 0, status }
        }
        request => resolver_call(caller, oxid, &request)?,
    })
}

/// Whether an unreachable process has ended, so that its objects are gone.
fn is_gone(result: HRESULT) -> bool {
    [code::RPC_S_SERVER_UNAVAILABLE, code::RPC_E_DISCONNECTED].contains(&result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orpc::SourceLimits;

    fn pinger(client: u64, source: Option<u64>) -> SourcedClient {
        SourcedClient { client: Client::Peer(client), source }
    }

    #[test]
    fn the_clients_of_a_host_leave_ping_sets_for_others() {
        let SourceLimits { per_client, per_source, .. } = Limits::default().of_sets();
        let sets = PingSets::default();
        let make = |client, source| sets.make_for(pinger(client, source), 0, Duration::from_secs(360));
        let clients = (0..).map(|number| number / per_client as u64 + 1);
        let made = clients.take(per_source + 1).map(|client| make(client, Some(1)).is_ok());
        assert_eq!(made.filter(|is_made| *is_made).count(), per_source);
        assert!(make(1000, Some(2)).is_ok() && make(1001, None).is_ok());
        assert_eq!(make(1000, Some(1)), Err(OUT_OF_RESOURCES));
    }

    #[test]
    fn ping_sets_that_have_expired_or_are_forgotten_make_room() {
        let sets = PingSets::default();
        let most = Limits::default().of_sets().per_client;
        let make = |patience| sets.make_for(pinger(1, Some(2)), 0, Duration::from_secs(patience));
        let made: Vec<u64> = (0..most).map(|_| make(3600).unwrap()).collect();
        assert_eq!(make(3600), Err(OUT_OF_RESOURCES));
        sets.forget(made[1]);
        assert_eq!([3600, 3600].map(|patience| make(patience).is_ok()), [true, false]);
        // A ping renews a set, which then expires after all other sets.
        assert!(sets.pinged(made[0], None).is_some() && sets.pinged(made[0], Some(Client::Peer(9))).is_none());
        assert_eq!(lock(&sets.0).quiet.last().map(|(_, id)| *id), Some(made[0]));
        // If `patience` is 0, all other sets have expired.
        let fresh = make(0).unwrap();
        let left = lock(&sets.0);
        assert_eq!(left.by_id.keys().copied().collect::<Vec<_>>(), [fresh]);
        assert_eq!((left.quiet.len(), left.makers.is_empty()), (1, false));
    }
}
