//! Who refers to which object of this process, and for how long objects wait for clients that say nothing: the OID, IPID and SETID
//! tables (MS-DCOM 3.1.1.1, 3.1.2.1), as one.
//!
//! **References** are counted for each client, public and private ones. A client can give back what it took, and no more: what it says
//! beyond that is passed over, since it can only be references of others. Public references may be handed on, though, and who got them
//! so has none in these books. So
//!
//! - an interface pointer that nobody has references to is dropped at once: nobody took any that were not given back;
//! - as long as anyone has, whoever was handed one on is safe, too, while it pings;
//! - when an object was in no ping set, and in nobody's use, for the patience of [`Pinging`], all references of peers that have to ping are
//!   dropped. Those of obvia's processes stay until these give them back or end.
//!
//! A client that hands references on, and dies or forgets them, thus costs time and nothing else; and one that lies about what it gives
//! back cannot take away what it has not handed on. (The standard has one count of public references, which any client can
//! release.)
//!
//! **Identifiers** come from outside: OIDs and IPIDs from who exports, set identifiers from a source of random numbers that peers cannot
//! foresee, since whoever knows a set can change it.

use super::object_exporter::ComplexPing;
use super::{INVALID_OID, INVALID_SET, OUT_OF_RESOURCES};
use obvia_rpc::status::Status;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;
use windows_core::GUID;

#[cfg(test)]
mod tests;
mod values;

pub use values::{Client, Dropped, Limits, PingAnswer, Pinging, Refs};

#[derive(Debug)]
struct Object {
    ipids: HashSet<GUID>,
    /// Sets that it is in.
    sets: HashSet<u64>,
    /// Those holders of its interface pointers, each counted for each, who have to ping.
    peers: usize,
    /// When it was last heard of, but for pings of sets that it is in.
    // Invariant: `waiting` has it by this time if it waits, and else not at all.
    used: Instant,
}

impl Object {
    /// Whether somebody would have to ping it, and nobody does.
    fn waits(&self) -> bool {
        self.sets.is_empty() && self.peers > 0
    }
}

#[derive(Debug)]
struct Pointer {
    oid: u64,
    // Invariant: none has no references, and there is one at least.
    holders: HashMap<Client, Refs>,
}

#[derive(Debug)]
struct Set {
    maker: Client,
    oids: HashSet<u64>,
    sequence: u16,
    // Invariant: `quiet` has it by this time.
    pinged: Instant,
}

/// What is there of a client's.
#[derive(Debug, Default)]
struct Share {
    ipids: HashSet<GUID>,
    sets: HashSet<u64>,
    /// Objects in its sets.
    pinged: usize,
}

/// The tables.
#[derive(Debug)]
pub struct References {
    objects: HashMap<u64, Object>,
    pointers: HashMap<GUID, Pointer>,
    sets: HashMap<u64, Set>,
    // Invariant: each has something.
    shares: HashMap<Client, Share>,
    /// Objects that nobody pings, the first to be dropped first.
    waiting: BTreeSet<(Instant, u64)>,
    /// Sets, the first to end first.
    quiet: BTreeSet<(Instant, u64)>,
    pinging: Pinging,
    limits: Limits,
}

impl References {
    /// Tables without entries.
    pub fn new(pinging: Pinging, limits: Limits) -> Self {
        Self {
            objects: HashMap::new(),
            pointers: HashMap::new(),
            sets: HashMap::new(),
            shares: HashMap::new(),
            waiting: BTreeSet::new(),
            quiet: BTreeSet::new(),
            pinging,
            limits,
        }
    }

    /// Whether there is nothing in them.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.pointers.is_empty() && self.sets.is_empty() && self.shares.is_empty()
    }

    /// The object of an interface pointer, as long as somebody refers to it.
    pub fn oid(&self, ipid: &GUID) -> Option<u64> {
        self.pointers.get(ipid).map(|pointer| pointer.oid)
    }

    /// What a client has of an interface pointer.
    pub fn held(&self, ipid: &GUID, client: Client) -> Refs {
        self.pointers.get(ipid).and_then(|pointer| pointer.holders.get(&client)).copied().unwrap_or_default()
    }

    /// How many interface pointers a client has references to.
    pub fn held_by(&self, client: Client) -> usize {
        self.shares.get(&client).map_or(0, |share| share.ipids.len())
    }

    /// Counts references of a client to an interface pointer of an object, which may both be new: it is handed to the client.
    ///
    /// # Errors
    ///
    /// [`OUT_OF_RESOURCES`] at a limit, and [`INVALID_OID`] for an interface pointer of another object.
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
        let share = share(&mut self.shares, &self.limits, client)?;
        if share.ipids.len() >= self.limits.interfaces_per_client && !share.ipids.contains(&ipid) {
            return Err(OUT_OF_RESOURCES);
        }
        self.count(oid, ipid, client, refs, now);
        Ok(())
    }

    /// RemAddRef of one interface pointer (MS-DCOM 3.1.1.5.6.1.2). `None` when nobody refers to it: CO_E_OBJNOTREG. A process of obvia's
    /// that was handed one by a peer calls this at once.
    pub fn add(&mut self, ipid: &GUID, client: Client, refs: Refs, now: Instant) -> Option<Result<(), Status>> {
        Some(self.hand_out(self.oid(ipid)?, *ipid, client, refs, now))
    }

    /// RemRelease of one interface pointer (3.1.1.5.6.1.3). What the client has not got is passed over.
    pub fn release(&mut self, ipid: &GUID, client: Client, refs: Refs) -> Option<Dropped> {
        let held = self.pointers.get_mut(ipid)?.holders.get_mut(&client)?;
        *held = held.minus(refs);
        if held.is_none() { self.drop_held(*ipid, client) } else { None }
    }

    /// A client is known to be gone. What it may have handed on to others, who ping the object, stays until they no longer do.
    pub fn drop_client(&mut self, client: Client, now: Instant) -> Vec<Dropped> {
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
        merged(dropped)
    }

    /// Nobody refers to an object any more, whatever they had.
    pub fn disconnect(&mut self, oid: u64) -> Vec<Dropped> {
        merged(self.drop_holders(oid, |_| true))
    }

    /// Whether there is a set with this identifier.
    pub fn has_set(&self, set: u64) -> bool {
        self.sets.contains_key(&set)
    }

    /// A call came to an interface pointer: somebody uses the object (3.1.1.6.2).
    pub fn note_call(&mut self, ipid: &GUID, now: Instant) {
        if let Some(oid) = self.oid(ipid) {
            self.settle(oid, Some(now));
        }
    }

    /// SimplePing (3.1.2.5.1.2): 0, or [`INVALID_SET`].
    pub fn simple_ping(&mut self, set: u64, now: Instant) -> Status {
        if self.ping(set, now) { Status(0) } else { INVALID_SET }
    }

    /// ComplexPing (3.1.2.5.1.3). `fresh` is the identifier that a set made by it will have.
    pub fn complex_ping(&mut self, ping: &ComplexPing, client: Client, fresh: u64, now: Instant) -> PingAnswer {
        let is_new = ping.set == 0;
        let id = if is_new { fresh } else { ping.set };
        if is_new {
            if let Err(status) = self.make_set(id, client, ping.sequence, now) {
                return PingAnswer { set: 0, status };
            }
        } else {
            // Whoever guesses the number of another's set cannot change it.
            let own = self.sets.get_mut(&id).filter(|set| set.maker == client);
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
                // A new set passes over what is not known.
                Err(INVALID_OID) if is_new => {}
                Err(error) => status = error,
                Ok(()) => {}
            }
        }
        ping.removed.iter().for_each(|&oid| self.leave_set(id, oid, now));
        PingAnswer { set: id, status }
    }

    /// The processes of obvia's that have references.
    pub fn processes(&self) -> impl Iterator<Item = u64> {
        self.shares.keys().filter_map(|client| match client {
            Client::Process(oxid) => Some(*oxid),
            Client::Peer(_) | Client::Table => None,
        })
    }

    /// How often clients have to ping.
    pub fn pinging(&self) -> Pinging {
        self.pinging
    }

    /// Has clients ping as often as this from now on.
    pub fn set_pinging(&mut self, pinging: Pinging) {
        self.pinging = pinging;
    }

    /// When [`Self::collect`] may have something to do next.
    pub fn due(&self) -> Option<Instant> {
        let first = [self.waiting.first(), self.quiet.first()].into_iter().flatten().map(|(since, _)| *since).min();
        first.map(|since| since + self.pinging.patience())
    }

    /// Ends sets that nobody pinged, and drops what peers have of objects that nobody pinged or used, for as long as that may be.
    pub fn collect(&mut self, now: Instant) -> Vec<Dropped> {
        let patience = self.pinging.patience();
        let mut dropped = Vec::new();
        while let Some(&(since, set)) = self.quiet.first().filter(|(since, _)| *since + patience <= now) {
            // That is when its objects were pinged last.
            self.end_set(set, since);
        }
        while let Some(&(_, oid)) = self.waiting.first().filter(|(since, _)| *since + patience <= now) {
            dropped.extend(self.drop_holders(oid, Client::lives_by_pings));
        }
        merged(dropped)
    }

    /// Counts references, whatever the limits are.
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

    /// Has an object wait or not, as it is now, and from the time on when it was used.
    fn settle(&mut self, oid: u64, used: Option<Instant>) {
        let Some(object) = self.objects.get_mut(&oid) else { return };
        self.waiting.remove(&(object.used, oid));
        object.used = used.map_or(object.used, |used| object.used.max(used));
        if object.waits() {
            self.waiting.insert((object.used, oid));
        }
    }

    /// Takes all references of a client to an interface pointer.
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

    /// Takes all references of such clients to an object.
    fn drop_holders(&mut self, oid: u64, which: impl Fn(Client) -> bool) -> Vec<Dropped> {
        let ipids = self.objects.get(&oid).into_iter().flat_map(|object| &object.ipids);
        let pointers = ipids.filter_map(|ipid| Some((*ipid, self.pointers.get(ipid)?)));
        let held = pointers.flat_map(|(ipid, pointer)| pointer.holders.keys().map(move |client| (ipid, *client)));
        let held: Vec<_> = held.filter(|(_, client)| which(*client)).collect();
        held.into_iter().filter_map(|(ipid, client)| self.drop_held(ipid, client)).collect()
    }

    /// Forgets an object without interface pointers.
    fn forget_object(&mut self, oid: u64) {
        let sets = self.objects.remove(&oid).map(|object| object.sets).unwrap_or_default();
        for set in sets {
            let Some(set) = self.sets.get_mut(&set) else { continue };
            set.oids.remove(&oid);
            let maker = set.maker;
            self.forget_share(maker, |share| share.pinged -= 1);
        }
    }

    /// Takes something out of a client's share, and the share when nothing is left.
    fn forget_share(&mut self, client: Client, forget: impl FnOnce(&mut Share)) {
        let Entry::Occupied(mut entry) = self.shares.entry(client) else { return };
        forget(entry.get_mut());
        if entry.get().ipids.is_empty() && entry.get().sets.is_empty() {
            entry.remove();
        }
    }

    /// Resets a set's timer. Whether there is one.
    fn ping(&mut self, id: u64, now: Instant) -> bool {
        let Some(set) = self.sets.get_mut(&id) else { return false };
        self.quiet.remove(&(set.pinged, id));
        set.pinged = set.pinged.max(now);
        self.quiet.insert((set.pinged, id));
        true
    }

    fn make_set(&mut self, id: u64, maker: Client, sequence: u16, now: Instant) -> Result<(), Status> {
        if id == 0 || self.sets.contains_key(&id) {
            return Err(OUT_OF_RESOURCES);
        }
        let share = share(&mut self.shares, &self.limits, maker)?;
        if share.sets.len() >= self.limits.sets_per_client {
            return Err(OUT_OF_RESOURCES);
        }
        share.sets.insert(id);
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
        let share = self.shares.get_mut(&set.maker).ok_or(OUT_OF_RESOURCES)?;
        if share.pinged >= self.limits.pinged_per_client {
            return Err(OUT_OF_RESOURCES);
        }
        share.pinged += 1;
        set.oids.insert(oid);
        object.sets.insert(id);
        self.settle(oid, None);
        Ok(())
    }

    /// Takes an object out of a set, where it was pinged last at the time given.
    fn leave_set(&mut self, id: u64, oid: u64, pinged: Instant) {
        let Some(set) = self.sets.get_mut(&id).filter(|set| set.oids.contains(&oid)) else { return };
        set.oids.remove(&oid);
        let maker = set.maker;
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
            self.forget_share(set.maker, |share| {
                share.sets.remove(&id);
            });
        }
    }
}

/// A client's share, which may be new.
fn share<'a>(shares: &'a mut HashMap<Client, Share>, limits: &Limits, client: Client) -> Result<&'a mut Share, Status> {
    let count = shares.len();
    match shares.entry(client) {
        Entry::Occupied(entry) => Ok(entry.into_mut()),
        Entry::Vacant(_) if count >= limits.clients => Err(OUT_OF_RESOURCES),
        Entry::Vacant(entry) => Ok(entry.insert(Share::default())),
    }
}

/// Whether a change comes after one that was made later (MS-DCOM 3.1.2.5.1.3). Numbers begin anew behind the last one.
pub(crate) fn is_older(sequence: u16, known: u16) -> bool {
    sequence < known && known - sequence < 1 << 15
}

/// One entry for each object.
fn merged(dropped: Vec<Dropped>) -> Vec<Dropped> {
    let mut all: Vec<Dropped> = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    for one in dropped {
        match places.get(&one.oid) {
            Some(&place) => {
                all[place].ipids.extend(one.ipids);
                all[place].is_last |= one.is_last;
            }
            None => {
                places.insert(one.oid, all.len());
                all.push(one);
            }
        }
    }
    all
}
