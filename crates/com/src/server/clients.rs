//! The clients of this process: those that are connected, and those whose connections were lost and
//! that may come back.
//!
//! A client is known by its OXID and by what proves where its first connection comes from: the
//! kernel's number of its process, or its host. A connection with the same OXID from another
//! process of this host is refused. A connection with the same OXID and another origin otherwise
//! belongs to a client of its own, which has other references, unless it shows by the [proof of a
//! mark](crate::protocol::mark_proof) that it comes from the same process. So a peer that only
//! knows the OXID of a client cannot act for it.
//!
//! Each client has a number, under which its references and states are kept. It is the OXID for the
//! first client of an OXID, and is drawn for further ones.
//!
//! A client is gone when its last connection ends in order. A client of this host is gone however
//! its last connection ends. A broken network does not prove that a client is gone: its references
//! and states are kept for as long as objects wait for pings (MS-DCOM 3.1.2.2).

use super::entrance::Entrance;
use super::group::GroupClient;
use super::waiting::Waiting;
use crate::protocol::own_calls;
use crate::types::identity;
use obvia_rpc::co::{Group, Groups};
use obvia_rpc::security::Principal;
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::vi_call::TargetId;
use obvia_via::window::Peer;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// The greatest number of lost clients that may come back, over all hosts and for one host.
const LOST_MAX: usize = 1024;
const LOST_BY_HOST_MAX: usize = 64;
/// The greatest number of references and states that are kept for all lost clients, and for those
/// of one host. The total is what two clients may have at most.
const KEPT_MAX: usize = 1 << 17;
const KEPT_BY_HOST_MAX: usize = KEPT_MAX / 2;

/// The greatest number of entries in a client's list of references to give back. References beyond
/// it are not returned: the client drops them when this process ends.
const TO_RETURN_MAX: usize = own_calls::RELEASES_MAX;

/// The clients of a process.
#[derive(Default)]
pub(crate) struct Clients {
    register: Mutex<Register>,
    groups: Groups<GroupClient>,
    /// The keys of the hash that derives the marks of clients.
    marks: RandomState,
    pub(super) waiting: Waiting,
    pub(super) entrance: Entrance,
}

#[derive(Default)]
struct Register {
    /// The clients by number.
    known: HashMap<u64, Known>,
    /// The drawn numbers of the further clients of an OXID.
    further: HashMap<u64, Vec<u64>>,
    /// The lost clients, ordered by the time of the loss.
    lost: BTreeSet<(Instant, u64)>,
}

/// The origin of a connection, as far as the kernel or the network proves it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Origin {
    /// A process of this host, by its serial number.
    Process(u64),
    Host(String),
}

impl Origin {
    fn of(peer: &Peer) -> Self {
        match peer {
            Peer::Process { serial, .. } => Self::Process(*serial),
            Peer::Host(host) => Self::Host(host.clone()),
        }
    }
}

/// A connection of a client, as it enters.
pub(super) struct Arrival<'a> {
    pub(super) peer: &'a Peer,
    /// The host name by which the client reaches this process.
    pub(super) local: Option<&'a str>,
    pub(super) group: Option<&'a Arc<Group<GroupClient>>>,
    /// Returns the confirmation of the client's proof, if the proof is one of this mark.
    pub(super) confirm: &'a dyn Fn(u64) -> Option<u128>,
}

/// The client of a connection that has entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entered {
    pub(super) oxid: u64,
    pub(super) number: u64,
    /// The confirmation of the connection's proof, if the proof is valid.
    pub(super) confirmation: Option<u128>,
}

/// A client: its verified properties and the number of its connections.
struct Known {
    oxid: u64,
    origin: Origin,
    /// The host name by which the client reaches this process.
    local: Option<String>,
    /// The principal that has proved to own the process, if any.
    owner: Option<Arc<Principal>>,
    /// The group of the client's associations, where the client has not introduced itself. The
    /// group is kept so that a returning client can join it.
    group: Option<Arc<Group<GroupClient>>>,
    count: usize,
    /// The references in refused calls, which this process gives back once it has a link to the
    /// client.
    to_return: Vec<(TargetId, u32)>,
    // Invariant: `Some` exactly when there is no connection. `Register::lost` then has the client
    // under this time.
    lost: Option<Lost>,
}

/// The other end of a link, as far as it shows where the link leads.
pub(crate) struct LinkEnd<'a> {
    /// The peer that was reached.
    pub(crate) peer: &'a Peer,
    /// The host name by which the peer reaches this process over a network.
    pub(crate) local: Option<&'a str>,
    /// Returns the bindings by which this process has reached the peer.
    pub(crate) ways: &'a dyn Fn() -> Vec<StringBinding>,
}

impl Known {
    fn new(oxid: u64, origin: Origin) -> Self {
        let (local, owner, group, to_return) = (None, None, None, Vec::new());
        Self { oxid, origin, local, owner, group, count: 0, to_return, lost: None }
    }

    /// Whether a link leads to this client's process, as far as `end` shows. The link may be of
    /// another transport than the client's connections, or to another address of the same host.
    fn is_at(&self, end: &LinkEnd<'_>) -> bool {
        let is_reached_at = |host: &str| (end.ways)().iter().any(|way| way.address == host);
        match (end.peer, &self.origin) {
            (Peer::Process { serial, .. }, Origin::Process(known)) => serial == known,
            // The client's address equals the one at which it reaches this process, so it runs on
            // this host.
            (Peer::Process { .. }, Origin::Host(known)) => self.local.as_ref() == Some(known),
            (Peer::Host(host), Origin::Host(known)) => host == known || is_reached_at(known),
            // The peer's address equals the one at which it reaches this process, so it runs on
            // this host, as the client does.
            (Peer::Host(host), Origin::Process(_)) => end.local == Some(host),
        }
    }
}

#[derive(Clone, Copy)]
struct Lost {
    since: Instant,
    /// The number of references and states that are kept for the client.
    kept: usize,
}

/// The way in which a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The peer or its kernel reported the end.
    InOrder,
    /// The network failed, at this time.
    Lost(Instant),
}

impl Register {
    /// Removes a client.
    fn remove(&mut self, number: u64) {
        let Some(known) = self.known.remove(&number) else { return };
        if let Some(Lost { since, .. }) = known.lost {
            self.lost.remove(&(since, number));
        }
        if let Some(group) = known.group {
            group.shared().forget(number);
        }
        if let Entry::Occupied(mut further) = self.further.entry(known.oxid) {
            further.get_mut().retain(|other| *other != number);
            if further.get().is_empty() {
                further.remove();
            }
        }
    }

    /// Returns the clients of an OXID with their numbers.
    fn of(&self, oxid: u64) -> impl Iterator<Item = (u64, &Known)> {
        let numbers = [oxid].into_iter().chain(self.further.get(&oxid).into_iter().flatten().copied());
        let all = numbers.filter_map(|number| Some((number, self.known.get(&number)?)));
        all.filter(move |(_, known)| known.oxid == oxid)
    }

    /// Returns the number of the client of a connection that has no valid proof. A client that is
    /// not known yet gets a number.
    ///
    /// # Errors
    ///
    /// See [`Clients::enter`].
    fn number_for(&mut self, oxid: u64, origin: &Origin) -> Result<u64, Status> {
        if let Some((number, _)) = self.of(oxid).find(|(_, known)| known.origin == *origin) {
            return Ok(number);
        }
        let is_local = |origin: &Origin| matches!(origin, Origin::Process(_));
        if is_local(origin) && self.of(oxid).any(|(_, known)| is_local(&known.origin)) {
            return Err(Status::ACCESS_DENIED);
        }
        let number = if self.known.contains_key(&oxid) {
            let drawn = identity::draw().map_err(|_| Status::REMOTE_NO_MEMORY)?;
            self.further.entry(oxid).or_default().push(drawn);
            drawn
        } else {
            oxid
        };
        self.known.insert(number, Known::new(oxid, origin.clone()));
        Ok(number)
    }

    /// Returns the lost client to remove, if there are too many. If its host exceeds the limit of
    /// lost clients or of kept state, this is the client of the host that was lost first.
    /// Otherwise, if the limits over all hosts are exceeded, it is the client that was lost first.
    fn surplus(&self, host: &Origin) -> Option<u64> {
        let all = || self.lost.iter().filter_map(|(_, oxid)| Some((*oxid, self.known.get(oxid)?)));
        let own = || all().filter(|(_, known)| known.origin == *host);
        if own().count() > LOST_BY_HOST_MAX || kept(own()) > KEPT_BY_HOST_MAX {
            return own().next().map(|(oxid, _)| oxid);
        }
        (self.lost.len() > LOST_MAX || kept(all()) > KEPT_MAX).then(|| all().next().map(|(oxid, _)| oxid)).flatten()
    }
}

/// Returns the number of references and states that are kept for lost clients.
fn kept<'a>(clients: impl Iterator<Item = (u64, &'a Known)>) -> usize {
    clients.filter_map(|(_, known)| known.lost).map(|lost| lost.kept).fold(0, usize::saturating_add)
}

impl Clients {
    fn register(&self) -> MutexGuard<'_, Register> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection of the client with the OXID that `oxid` returns. `oxid` runs under the
    /// register's lock, under which clients also leave, so that no user of a group has two numbers.
    ///
    /// # Errors
    ///
    /// [`Status::ACCESS_DENIED`] when the OXID belongs to another process of this host.
    /// [`Status::REMOTE_NO_MEMORY`] when no number can be drawn. The errors of `oxid`.
    pub(super) fn enter(
        &self,
        oxid: impl FnOnce() -> Result<u64, Status>,
        arrival: &Arrival<'_>,
    ) -> Result<Entered, Status> {
        let mut register = self.register();
        let oxid = oxid()?;
        let confirmed =
            |(number, known): (u64, &Known)| Some((number, (arrival.confirm)(self.mark(number, Some(&known.origin)))?));
        let proved = register.of(oxid).find_map(confirmed);
        let (number, confirmation) = match proved {
            Some((number, confirmation)) => (number, Some(confirmation)),
            None => (register.number_for(oxid, &Origin::of(arrival.peer))?, None),
        };
        let Some(known) = register.known.get_mut(&number) else { return Err(Status::REMOTE_NO_MEMORY) };
        known.count += 1;
        known.local = arrival.local.map(str::to_owned).or_else(|| known.local.take());
        known.group = arrival.group.cloned();
        if let Some(Lost { since, .. }) = known.lost.take() {
            register.lost.remove(&(since, number));
        }
        Ok(Entered { oxid, number, confirmation })
    }

    /// Returns the mark of a client, by which the client recognises this process regardless of the
    /// link. No other client gets it.
    pub(crate) fn mark_for(&self, number: u64) -> u64 {
        self.mark(number, self.register().known.get(&number).map(|known| &known.origin))
    }

    fn mark(&self, number: u64, origin: Option<&Origin>) -> u64 {
        self.marks.hash_one((number, origin))
    }

    /// Returns the OXID of the client with this number.
    pub(crate) fn oxid_of(&self, number: u64) -> u64 {
        self.register().known.get(&number).map_or(number, |known| known.oxid)
    }

    /// Returns the number of the client to which references for a process are passed, if the
    /// process is connected or may come back: the first client of the OXID for which the kernel
    /// vouches, or else the first one.
    pub(crate) fn number_of(&self, oxid: u64) -> Option<u64> {
        let register = self.register();
        let is_local = |known: &Known| matches!(known.origin, Origin::Process(_));
        let local = register.of(oxid).find(|(_, known)| is_local(known));
        local.or_else(|| register.of(oxid).next()).map(|(number, _)| number)
    }

    /// Records the principal that authenticated a client's call over a network. Returns false where
    /// the process belongs to another principal.
    pub(super) fn prove(&self, number: u64, principal: Option<&Arc<Principal>>) -> bool {
        let mut register = self.register();
        let Some(known) = register.known.get_mut(&number) else { return false };
        if known.owner.is_none() {
            known.owner = principal.cloned();
        }
        known.owner.as_ref() == principal
    }

    /// Whether the client with this number is connected or may come back.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.register().known.contains_key(&number)
    }

    /// Records references to a client's objects that the client sent in a call which this process
    /// refused. They are given back later.
    pub(crate) fn add_references_to_return(&self, number: u64, refs: impl IntoIterator<Item = (TargetId, u32)>) {
        if let Some(known) = self.register().known.get_mut(&number) {
            let room = TO_RETURN_MAX - known.to_return.len();
            known.to_return.extend(refs.into_iter().take(room));
        }
    }

    /// Takes the references to give back to a client, over a link to the process of the same OXID.
    /// Returns them with the client's number.
    /// A process of another host that claims the client's OXID does not get the references. The
    /// processes of one host cannot be told apart over a network: any process of the client's host
    /// that claims the client's OXID gets them.
    pub(crate) fn take_references_to_return(
        &self,
        oxid: u64,
        end: &LinkEnd<'_>,
    ) -> Option<(u64, Vec<(TargetId, u32)>)> {
        let mut register = self.register();
        let is_due = |known: &Known| !known.to_return.is_empty() && known.is_at(end);
        let (number, _) = register.of(oxid).find(|(_, known)| is_due(known))?;
        let known = register.known.get_mut(&number)?;
        Some((number, std::mem::take(&mut known.to_return)))
    }

    /// Returns the host name by which a client reaches this process.
    pub(crate) fn local_to(&self, number: u64) -> Option<String> {
        self.register().known.get(&number)?.local.clone()
    }

    /// Adds an association to a group.
    pub(crate) fn join(&self, wanted: u32, peer: &Peer) -> Option<Arc<Group<GroupClient>>> {
        GroupClient::join(&self.groups, wanted, peer)
    }

    /// Ends a connection. Calls `end_client` for each client that is gone now, before the client
    /// can connect again, and returns the results. A lost client is not gone while `kept` is
    /// positive for it.
    pub(super) fn leave<R>(
        &self,
        number: u64,
        end: End,
        kept: impl Fn(u64) -> usize,
        end_client: impl Fn(u64) -> R,
    ) -> Vec<R> {
        let mut register = self.register();
        let Some(known) = register.known.get_mut(&number) else { return Vec::new() };
        known.count -= 1;
        if known.count > 0 {
            return Vec::new();
        }
        let lost = match (end, &known.origin) {
            // The kernel reports that a client of this host is gone, regardless of the network.
            (End::Lost(since), Origin::Host(_)) => {
                Some(Lost { since, kept: kept(number) }).filter(|lost| lost.kept > 0)
            }
            _ => None,
        };
        let Some(lost) = lost else {
            register.remove(number);
            return vec![end_client(number)];
        };
        known.lost = Some(lost);
        let host = known.origin.clone();
        register.lost.insert((lost.since, number));
        let mut ended = Vec::new();
        while let Some(number) = register.surplus(&host) {
            register.remove(number);
            ended.push(end_client(number));
        }
        ended
    }

    /// Returns the time at which the next lost client expires.
    pub(crate) fn due(&self, patience: Duration) -> Option<Instant> {
        self.register().lost.first().map(|(since, _)| *since + patience)
    }

    /// Removes the clients that were lost `patience` ago or earlier. Returns the results of
    /// `end_client` for each.
    pub(crate) fn give_up<R>(&self, now: Instant, patience: Duration, end_client: impl Fn(u64) -> R) -> Vec<R> {
        let mut register = self.register();
        let mut ended = Vec::new();
        while let Some(&(_, oxid)) = register.lost.first().filter(|(since, _)| *since + patience <= now) {
            register.remove(oxid);
            ended.push(end_client(oxid));
        }
        ended
    }
}
