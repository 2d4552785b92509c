//! The references of clients to the objects of this process, and the expiry of objects whose
//! clients are silent: the OID, IPID and SETID tables (MS-DCOM 3.1.1.1, 3.1.2.1), combined in one.
//!
//! **References**, public and private ones, are counted for each client. A client can release only
//! references that it has; any excess is ignored, since the additional references belong to other
//! clients. But public references may be passed on, and a client that received them in this way has
//! no count here. Therefore:
//!
//! - An interface pointer without references is dropped at once, since all references have been
//!   released.
//! - As long as any client has references, the interface pointer stays for all clients. The
//!   references of clients that must ping stay as long as any client pings the object, even a
//!   client that has no count.
//! - When an object has been in no ping set and unused for the time [`Pinging::patience`], all
//!   references of clients that must ping are dropped. References of obvia processes stay until
//!   they are released or the processes end.
//!
//! A client that passes references on and then dies, or that loses references, can thus at most
//! delay the release of an object. A client that releases too many references harms only the
//! clients to which it has passed references. (The standard has one count of public references,
//! which any client can decrement.)
//!
//! **Identifiers** come from outside. The exports supply OIDs and IPIDs. Set identifiers are random
//! numbers that peers cannot predict, since any client can ping a set whose identifier it knows.

use super::object_exporter::ComplexPing;
use super::{INVALID_OID, INVALID_SET, OUT_OF_RESOURCES};
use obvia_rpc::status::Status;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;
use windows_core::GUID;

mod merged;
mod share;
mod sources;
#[cfg(test)]
mod tests;
mod values;

use merged::Merged;
use share::{Share, share};
pub use sources::{SourceCounts, SourcedClient};
pub(crate) use values::is_older;
pub use values::{Client, ClientNumber, Dropped, Limits, PingAnswer, Pinging, Refs, SourceLimits};

#[derive(Debug)]
struct Object {
    ipids: HashSet<GUID>,
    /// The ping sets that contain the object.
    sets: HashSet<u64>,
    /// The number of clients that must ping and have references to the object. A client counts once
    /// for each interface pointer.
    peers: usize,
    /// The time of the object's last use. Pings of sets that contain the object do not change this
    /// time.
    // Invariant: `waiting` contains the object with this time if `waits` returns true, and
    // otherwise does not contain the object.
    used: Instant,
}

impl Object {
    /// Whether the object depends on pings but is in no set.
    fn waits(&self) -> bool {
        self.sets.is_empty() && self.peers > 0
    }
}

#[derive(Debug)]
struct Pointer {
    oid: u64,
    // Invariant: there is at least one holder, and every holder has references.
    holders: HashMap<Client, Refs>,
}

#[derive(Debug)]
struct Set {
    maker: SourcedClient,
    oids: HashSet<u64>,
    sequence: u16,
    // Invariant: `quiet` contains the set with this time.
    pinged: Instant,
}

/// The tables of the objects, their interface pointers, the ping sets and the clients.
#[derive(Debug)]
pub struct References {
    objects: HashMap<u64, Object>,
    pointers: HashMap<GUID, Pointer>,
    sets: HashMap<u64, Set>,
    /// The number of existing ping sets that each client, and each user or host, has made.
    set_makers: SourceCounts,
    // Invariant: no share is empty.
    shares: HashMap<Client, Share>,
    /// The number of receivers of each giver, and of each user or host of givers. A receiver is a
    /// client that is not connected and got its first references from another client, the giver.
    receivers: SourceCounts,
    merged: Merged,
    /// The objects that depend on pings but are in no ping set, in the order of their expiry.
    waiting: BTreeSet<(Instant, u64)>,
    /// The ping sets, in the order of their expiry.
    quiet: BTreeSet<(Instant, u64)>,
    pinging: Pinging,
    limits: Limits,
}

impl References {
    /// Makes empty tables.
    pub fn new(pinging: Pinging, limits: Limits) -> Self {
        Self {
            objects: HashMap::new(),
            pointers: HashMap::new(),
            sets: HashMap::new(),
            set_makers: SourceCounts::default(),
            shares: HashMap::new(),
            receivers: SourceCounts::default(),
            merged: Merged::default(),
            waiting: BTreeSet::new(),
            quiet: BTreeSet::new(),
            pinging,
            limits,
        }
    }

    /// Whether the tables are empty.
    pub fn is_empty(&self) -> bool {
        let are_tables_empty = self.objects.is_empty() && self.pointers.is_empty() && self.sets.is_empty();
        are_tables_empty && self.shares.is_empty() && self.receivers.is_empty()
    }

    /// Returns the object of an interface pointer, if the pointer has references.
    pub fn oid(&self, ipid: &GUID) -> Option<u64> {
        self.pointers.get(ipid).map(|pointer| pointer.oid)
    }

    /// Returns the references of a client to an interface pointer.
    pub fn held(&self, ipid: &GUID, client: Client) -> Refs {
        self.pointers.get(ipid).and_then(|pointer| pointer.holders.get(&client)).copied().unwrap_or_default()
    }

    /// Whether a client has references to an interface pointer. A client whose references have
    /// moved to another client counts as that other client.
    pub fn is_holder(&self, ipid: &GUID, client: Client) -> bool {
        let Some(Pointer { holders, .. }) = self.pointers.get(ipid) else { return false };
        holders.contains_key(&client) || self.merged.heir(client).is_some_and(|heir| holders.contains_key(&heir))
    }

    /// Returns the number of interface pointers to which a client has references.
    pub fn held_by(&self, client: Client) -> usize {
        self.shares.get(&client).map_or(0, |share| share.ipids.len())
    }

    /// Counts the references of a client to an interface pointer that is passed to the client. Adds
    /// the object and the interface pointer if they are new.
    ///
    /// # Errors
    ///
    /// [`OUT_OF_RESOURCES`] at a limit, and [`INVALID_OID`] for an interface pointer of another
    /// object.
    pub fn hand_out(&mut self, oid: u64, ipid: GUID, client: Client, refs: Refs, now: Instant) -> Result<(), Status> {
        if self.oid(&ipid).is_some_and(|known| known != oid) {
            return Err(INVALID_OID);
        }
        if !self.objects.contains_key(&oid) && self.objects.len() >= self.limits.objects {
            return Err(OUT_OF_RESOURCES);
        }
        if refs.is_none() {
            return Ok(());
        }
        let most = self.limits.clients.saturating_add(self.sets.len());
        let share = share(&mut self.shares, most, client)?;
        if share.ipids.len() >= self.limits.interfaces_per_client && !share.ipids.contains(&ipid) {
            return Err(OUT_OF_RESOURCES);
        }
        self.count(oid, ipid, client, refs, now);
        Ok(())
    }

    /// Performs RemAddRef of one interface pointer (MS-DCOM 3.1.1.5.6.1.2). `None` for an interface
    /// pointer without references: CO_E_OBJNOTREG. An obvia process that receives a reference from
    /// a peer makes this call at once.
    pub fn add(&mut self, ipid: &GUID, client: Client, refs: Refs, now: Instant) -> Option<Result<(), Status>> {
        Some(self.hand_out(self.oid(ipid)?, *ipid, client, refs, now))
    }

    /// Adds references as [`Self::add`] does, on behalf of `giver`, for a client that is not
    /// connected. Every peer can name such clients, so their number is limited:
    /// [`Limits::of_receivers`].
    pub fn pass_on(
        &mut self,
        ipid: &GUID,
        (giver, client): (SourcedClient, Client),
        refs: Refs,
        now: Instant,
    ) -> Option<Result<(), Status>> {
        let is_new = !self.shares.contains_key(&client);
        if is_new && !self.receivers.has_room(giver, self.limits.of_receivers()) {
            return Some(Err(OUT_OF_RESOURCES));
        }
        let added = self.add(ipid, client, refs, now);
        if let Some(share) = self.shares.get_mut(&client).filter(|_| is_new) {
            share.giver = Some(giver);
            self.receivers.add(giver);
        }
        added
    }

    /// Records that a client has connected. The client no longer counts towards
    /// [`Limits::of_receivers`].
    pub fn connected(&mut self, client: Client) {
        let giver = self.shares.get_mut(&client).and_then(|share| share.giver.take());
        giver.into_iter().for_each(|giver| self.receivers.remove(giver));
    }

    /// Performs RemRelease of one interface pointer (3.1.1.5.6.1.3). References that the client
    /// does not have are ignored. Returns the interface pointer if it has no more references.
    pub fn release(&mut self, ipid: &GUID, client: Client, refs: Refs) -> Option<Dropped> {
        let holders = &mut self.pointers.get_mut(ipid)?.holders;
        let client = if holders.contains_key(&client) { client } else { self.merged.heir(client)? };
        let held = holders.get_mut(&client)?;
        *held = held.minus(refs);
        if held.is_none() { self.drop_held(*ipid, client) } else { None }
    }

    /// Moves all references of the client `from` to the client `to`, which has turned out to be the
    /// same process. Returns false, and moves no references, if the numbers of interface pointers
    /// to which the two clients refer add up to more than the limit of one client.
    pub fn merge(&mut self, from: Client, to: Client, now: Instant) -> bool {
        if from == to {
            return true;
        }
        // The sum is an upper bound. An exact number would take a search, which a client could
        // cause with each of its connections.
        if self.held_by(from).saturating_add(self.held_by(to)) > self.limits.interfaces_per_client {
            return false;
        }
        self.merged.add(from, to);
        let moved: Vec<_> = self.shares.get(&from).into_iter().flat_map(|share| &share.ipids).copied().collect();
        for ipid in moved {
            let (Some(oid), held) = (self.oid(&ipid), self.held(&ipid, from)) else { continue };
            self.count(oid, ipid, to, held, now);
            self.drop_held(ipid, from);
        }
        true
    }

    /// Removes a client that is gone. The client may have passed public references on to other
    /// clients, which ping the object. Those references stay until the pings end. Returns the
    /// interface pointers that have no more references.
    pub fn drop_client(&mut self, client: Client, now: Instant) -> Vec<Dropped> {
        self.merged.forget(client);
        let Some(share) = self.shares.get(&client) else { return Vec::new() };
        let (ipids, sets) = (share.ipids.clone(), share.sets.clone());
        sets.into_iter().for_each(|set| self.end_set(set, now));
        let mut dropped = Vec::new();
        for ipid in ipids {
            let Some(oid) = self.oid(&ipid) else { continue };
            let handed_on = Refs::public(self.held(&ipid, client).public);
            if self.objects.get(&oid).is_some_and(|object| !object.sets.is_empty()) && !handed_on.is_none() {
                self.count(oid, ipid, Client::NOBODY, handed_on, now);
            }
            dropped.extend(self.drop_held(ipid, client));
        }
        Dropped::merged(dropped)
    }

    /// Drops all references to an object. Returns its interface pointers.
    pub fn disconnect(&mut self, oid: u64) -> Vec<Dropped> {
        Dropped::merged(self.drop_holders(oid, |_| true))
    }

    /// Whether a set with this identifier exists.
    pub fn has_set(&self, set: u64) -> bool {
        self.sets.contains_key(&set)
    }

    /// Records a call of an interface pointer, which counts as a use of the object (3.1.1.6.2).
    pub fn note_call(&mut self, ipid: &GUID, now: Instant) {
        if let Some(oid) = self.oid(ipid) {
            self.settle(oid, Some(now));
        }
    }

    /// Performs SimplePing (3.1.2.5.1.2): returns 0, or [`INVALID_SET`].
    pub fn simple_ping(&mut self, set: u64, now: Instant) -> Status {
        if self.ping(set, now) { Status(0) } else { INVALID_SET }
    }

    /// Performs ComplexPing (3.1.2.5.1.3) of a client. `fresh` is the identifier for a new set.
    pub fn complex_ping(&mut self, ping: &ComplexPing, pinger: SourcedClient, fresh: u64, now: Instant) -> PingAnswer {
        let is_new = ping.set == 0;
        let id = if is_new { fresh } else { ping.set };
        if is_new {
            if let Err(status) = self.make_set(id, pinger, ping.sequence, now) {
                return PingAnswer { set: 0, status };
            }
        } else {
            // Only the client that made a set can change it, even if another client guesses the
            // identifier.
            let own = self.sets.get_mut(&id).filter(|set| set.maker.client == pinger.client);
            let Some(set) = own else { return PingAnswer { set: id, status: INVALID_SET } };
            if is_older(ping.sequence, set.sequence) {
                return PingAnswer { set: id, status: Status(0) };
            }
            set.sequence = ping.sequence;
            self.ping(id, now);
        }
        let mut status = Status(0);
        for &oid in &ping.added {
            match self.join_set(id, oid) {
                // In the ping that makes a set, unknown OIDs are ignored.
                Err(INVALID_OID) if is_new => {}
                Err(error) => status = error,
                Ok(()) => {}
            }
        }
        ping.removed.iter().for_each(|&oid| self.leave_set(id, oid, now));
        PingAnswer { set: id, status }
    }

    /// Returns the obvia processes that have references.
    pub fn processes(&self) -> impl Iterator<Item = ClientNumber> {
        self.shares.keys().filter_map(|client| match client {
            Client::Process(number) => Some(*number),
            Client::Peer(_) | Client::Table => None,
        })
    }

    /// Returns the pinging parameters of clients.
    pub fn pinging(&self) -> Pinging {
        self.pinging
    }

    /// Sets the pinging parameters of clients.
    pub fn set_pinging(&mut self, pinging: Pinging) {
        self.pinging = pinging;
    }

    /// Returns the time at which [`Self::collect`] may next have work, if any.
    pub fn due(&self) -> Option<Instant> {
        let first = [self.waiting.first(), self.quiet.first()].into_iter().flatten().map(|(since, _)| *since).min();
        first.map(|since| since + self.pinging.patience())
    }

    /// Ends expired sets, and drops the peers' references to objects that have expired without
    /// pings or use. Returns the interface pointers that have no more references.
    pub fn collect(&mut self, now: Instant) -> Vec<Dropped> {
        let patience = self.pinging.patience();
        let mut dropped = Vec::new();
        while let Some(&(since, set)) = self.quiet.first().filter(|(since, _)| *since + patience <= now) {
            // The last ping of the set was at the time `since`.
            self.end_set(set, since);
        }
        while let Some(&(_, oid)) = self.waiting.first().filter(|(since, _)| *since + patience <= now) {
            dropped.extend(self.drop_holders(oid, Client::lives_by_pings));
        }
        Dropped::merged(dropped)
    }

    /// Counts references without checking the limits.
    fn count(&mut self, oid: u64, ipid: GUID, client: Client, refs: Refs, now: Instant) {
        let fresh = || Object { ipids: HashSet::new(), sets: HashSet::new(), peers: 0, used: now };
        let object = self.objects.entry(oid).or_insert_with(fresh);
        object.ipids.insert(ipid);
        let pointer = self.pointers.entry(ipid).or_insert_with(|| Pointer { oid, holders: HashMap::new() });
        let held = pointer.holders.entry(client).or_insert_with(|| {
            object.peers += usize::from(client.lives_by_pings());
            Refs::default()
        });
        *held = held.plus(refs);
        self.shares.entry(client).or_default().ipids.insert(ipid);
        self.settle(oid, Some(now));
    }

    /// Updates the time of an object's last use, and the object's entry in `waiting`.
    fn settle(&mut self, oid: u64, used: Option<Instant>) {
        let Some(object) = self.objects.get_mut(&oid) else { return };
        self.waiting.remove(&(object.used, oid));
        object.used = used.map_or(object.used, |used| object.used.max(used));
        if object.waits() {
            self.waiting.insert((object.used, oid));
        }
    }

    /// Removes all references of a client to an interface pointer. Returns the pointer if it has no
    /// more references.
    fn drop_held(&mut self, ipid: GUID, client: Client) -> Option<Dropped> {
        self.forget_share(client, |share| {
            share.ipids.remove(&ipid);
        });
        let pointer = self.pointers.get_mut(&ipid)?;
        let oid = pointer.oid;
        let was_held = pointer.holders.remove(&client).is_some();
        let is_held = !pointer.holders.is_empty();
        let object = self.objects.get_mut(&oid)?;
        object.peers -= usize::from(was_held && client.lives_by_pings());
        if is_held {
            self.settle(oid, None);
            return None;
        }
        self.pointers.remove(&ipid);
        object.ipids.remove(&ipid);
        let is_last = object.ipids.is_empty();
        self.settle(oid, None);
        if is_last {
            self.forget_object(oid);
        }
        Some(Dropped { oid, ipids: vec![ipid], is_last })
    }

    /// Removes all references of the selected clients to an object.
    fn drop_holders(&mut self, oid: u64, which: impl Fn(Client) -> bool) -> Vec<Dropped> {
        let ipids = self.objects.get(&oid).into_iter().flat_map(|object| &object.ipids);
        let pointers = ipids.filter_map(|ipid| Some((*ipid, self.pointers.get(ipid)?)));
        let held = pointers.flat_map(|(ipid, pointer)| pointer.holders.keys().map(move |client| (ipid, *client)));
        let held: Vec<_> = held.filter(|(_, client)| which(*client)).collect();
        held.into_iter().filter_map(|(ipid, client)| self.drop_held(ipid, client)).collect()
    }

    /// Removes an object without interface pointers.
    fn forget_object(&mut self, oid: u64) {
        let sets = self.objects.remove(&oid).map(|object| object.sets).unwrap_or_default();
        for set in sets {
            let Some(set) = self.sets.get_mut(&set) else { continue };
            set.oids.remove(&oid);
            let maker = set.maker.client;
            self.forget_share(maker, |share| share.pinged -= 1);
        }
    }

    /// Removes entries of a client by `forget`, and the client's [`Share`] if it is then empty.
    fn forget_share(&mut self, client: Client, forget: impl FnOnce(&mut Share)) {
        let Entry::Occupied(mut entry) = self.shares.entry(client) else { return };
        forget(entry.get_mut());
        if entry.get().ipids.is_empty() && entry.get().sets.is_empty() {
            let giver = entry.remove().giver;
            giver.into_iter().for_each(|giver| self.receivers.remove(giver));
        }
    }

    /// Records a ping of a set at the time `now`. Returns whether the set exists.
    fn ping(&mut self, id: u64, now: Instant) -> bool {
        let Some(set) = self.sets.get_mut(&id) else { return false };
        self.quiet.remove(&(set.pinged, id));
        set.pinged = set.pinged.max(now);
        self.quiet.insert((set.pinged, id));
        true
    }

    fn make_set(&mut self, id: u64, maker: SourcedClient, sequence: u16, now: Instant) -> Result<(), Status> {
        if id == 0 || self.sets.contains_key(&id) || !self.set_makers.has_room(maker, self.limits.of_sets()) {
            return Err(OUT_OF_RESOURCES);
        }
        share(&mut self.shares, usize::MAX, maker.client)?.sets.insert(id);
        self.set_makers.add(maker);
        self.sets.insert(id, Set { maker, oids: HashSet::new(), sequence, pinged: now });
        self.quiet.insert((now, id));
        Ok(())
    }

    fn join_set(&mut self, id: u64, oid: u64) -> Result<(), Status> {
        let set = self.sets.get_mut(&id).ok_or(INVALID_SET)?;
        if set.oids.contains(&oid) {
            return Ok(());
        }
        let object = self.objects.get_mut(&oid).ok_or(INVALID_OID)?;
        let share = self.shares.get_mut(&set.maker.client).ok_or(OUT_OF_RESOURCES)?;
        if share.pinged >= self.limits.pinged_per_client {
            return Err(OUT_OF_RESOURCES);
        }
        share.pinged += 1;
        set.oids.insert(oid);
        object.sets.insert(id);
        self.settle(oid, None);
        Ok(())
    }

    /// Removes an object from a set whose last ping was at the time `pinged`.
    fn leave_set(&mut self, id: u64, oid: u64, pinged: Instant) {
        let Some(set) = self.sets.get_mut(&id).filter(|set| set.oids.contains(&oid)) else { return };
        set.oids.remove(&oid);
        let maker = set.maker.client;
        self.forget_share(maker, |share| share.pinged -= 1);
        let Some(object) = self.objects.get_mut(&oid) else { return };
        object.sets.remove(&id);
        self.settle(oid, Some(pinged));
    }

    fn end_set(&mut self, id: u64, pinged: Instant) {
        let oids: Vec<u64> = self.sets.get(&id).map(|set| set.oids.iter().copied().collect()).unwrap_or_default();
        oids.into_iter().for_each(|oid| self.leave_set(id, oid, pinged));
        if let Some(set) = self.sets.remove(&id) {
            self.quiet.remove(&(set.pinged, id));
            self.set_makers.remove(set.maker);
            self.forget_share(set.maker.client, |share| {
                share.sets.remove(&id);
            });
        }
    }
}
