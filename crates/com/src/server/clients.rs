//! The clients of this process: those that are connected, and those whose connections were lost and
//! that may come back.
//!
//! A client is gone when its last connection ends in order. A client of this host is gone however
//! its last connection ends. A broken network does not prove that a client is gone: its references
//! and states are kept for as long as objects wait for pings (MS-DCOM 3.1.2.2).

use super::entrance::Entrance;
use super::group::GroupClient;
use super::waiting::Waiting;
use crate::protocol::own_calls;
use obvia_rpc::co::{Group, Groups};
use obvia_rpc::security::Principal;
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::vi_call::TargetId;
use obvia_via::window::Peer;
use std::collections::{BTreeSet, HashMap};
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
    pub(super) waiting: Waiting,
    pub(super) entrance: Entrance,
}

#[derive(Default)]
struct Register {
    /// The clients by OXID.
    known: HashMap<u64, Known>,
    /// The lost clients, ordered by the time of the loss.
    lost: BTreeSet<(Instant, u64)>,
}

/// A client: its verified properties and the number of its connections.
#[derive(Default)]
struct Known {
    pid: Option<u32>,
    host: Option<String>,
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
    /// Whether a link leads to this client's process, as far as `end` shows. The link may be of
    /// another transport than the client's connections, or to another address of the same host.
    fn is_at(&self, end: &LinkEnd<'_>) -> bool {
        let is_reached_at = |host: &str| (end.ways)().iter().any(|way| way.address == host);
        match (end.peer, self.pid, &self.host) {
            (Peer::Process { pid, .. }, Some(known), _) => *pid == known,
            // The client's address equals the one at which it reaches this process, so it runs on
            // this host.
            (Peer::Process { .. }, None, known) => known.is_some() && *known == self.local,
            (Peer::Host(host), _, Some(known)) if host == known || is_reached_at(known) => true,
            // The peer's address equals the one at which it reaches this process, so it runs on
            // this host, as the client does.
            (Peer::Host(host), known, _) => known.is_some() && end.local == Some(host),
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
    fn remove(&mut self, oxid: u64) {
        let Some(known) = self.known.remove(&oxid) else { return };
        if let Some(Lost { since, .. }) = known.lost {
            self.lost.remove(&(since, oxid));
        }
        if let Some(group) = known.group {
            group.shared().forget(oxid);
        }
    }

    /// Returns the lost client to remove, if there are too many. If its host exceeds the limit of
    /// lost clients or of kept state, this is the client of the host that was lost first.
    /// Otherwise, if the limits over all hosts are exceeded, it is the client that was lost first.
    fn surplus(&self, host: &Option<String>) -> Option<u64> {
        let all = || self.lost.iter().filter_map(|(_, oxid)| Some((*oxid, self.known.get(oxid)?)));
        let own = || all().filter(|(_, known)| known.host == *host);
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

    /// Counts a connection of the client with the number that `oxid` returns, and returns that
    /// number. `oxid` runs under the register's lock, under which clients also leave, so that no
    /// user of a group has two numbers.
    ///
    /// # Errors
    ///
    /// [`Status::ACCESS_DENIED`] when the client's other connections belong to another process,
    /// since no process may give back the references of another. The errors of `oxid`.
    pub(super) fn enter(
        &self,
        oxid: impl FnOnce() -> Result<u64, Status>,
        peer: &Peer,
        local: Option<&str>,
        group: Option<&Arc<Group<GroupClient>>>,
    ) -> Result<u64, Status> {
        let mut register = self.register();
        let oxid = oxid()?;
        let known = register.known.entry(oxid).or_default();
        let is_same = match peer {
            Peer::Process { pid, .. } => known.pid.get_or_insert(*pid) == pid,
            Peer::Host(host) => known.host.get_or_insert_with(|| host.clone()) == host,
        };
        if !is_same {
            return Err(Status::ACCESS_DENIED);
        }
        known.count += 1;
        known.local = local.map(str::to_owned).or_else(|| known.local.take());
        known.group = group.cloned();
        if let Some(Lost { since, .. }) = known.lost.take() {
            register.lost.remove(&(since, oxid));
        }
        Ok(oxid)
    }

    /// Records the principal that authenticated a client's call over a network. Returns false where
    /// the process belongs to another principal.
    pub(super) fn prove(&self, oxid: u64, principal: Option<&Arc<Principal>>) -> bool {
        let mut register = self.register();
        let known = register.known.entry(oxid).or_default();
        if known.owner.is_none() {
            known.owner = principal.cloned();
        }
        known.owner.as_ref() == principal
    }

    /// Whether a process is connected or may come back.
    pub(crate) fn has(&self, oxid: u64) -> bool {
        self.register().known.contains_key(&oxid)
    }

    /// Records references to a client's objects that the client sent in a call which this process
    /// refused. They are given back later.
    pub(crate) fn add_references_to_return(&self, oxid: u64, refs: impl IntoIterator<Item = (TargetId, u32)>) {
        if let Some(known) = self.register().known.get_mut(&oxid) {
            let room = TO_RETURN_MAX - known.to_return.len();
            known.to_return.extend(refs.into_iter().take(room));
        }
    }

    /// Takes the references to give back to a client, over a link to the process of the same OXID.
    /// A process of another host that claims the client's OXID does not get the references. The
    /// processes of one host cannot be told apart over a network: any process of the client's host
    /// that claims the client's OXID gets them.
    pub(crate) fn take_references_to_return(&self, oxid: u64, end: &LinkEnd<'_>) -> Vec<(TargetId, u32)> {
        let mut register = self.register();
        match register.known.get_mut(&oxid) {
            Some(known) if !known.to_return.is_empty() && known.is_at(end) => std::mem::take(&mut known.to_return),
            _ => Vec::new(),
        }
    }

    /// Returns the host name by which a client reaches this process.
    pub(crate) fn local_to(&self, oxid: u64) -> Option<String> {
        self.register().known.get(&oxid)?.local.clone()
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
        oxid: u64,
        end: End,
        kept: impl Fn(u64) -> usize,
        end_client: impl Fn(u64) -> R,
    ) -> Vec<R> {
        let mut register = self.register();
        let Some(known) = register.known.get_mut(&oxid) else { return Vec::new() };
        known.count -= 1;
        if known.count > 0 {
            return Vec::new();
        }
        let lost = match (end, known.pid) {
            // The kernel reports that a client of this host is gone, regardless of the network.
            (End::Lost(since), None) => Some(Lost { since, kept: kept(oxid) }).filter(|lost| lost.kept > 0),
            _ => None,
        };
        let Some(lost) = lost else {
            register.remove(oxid);
            return vec![end_client(oxid)];
        };
        known.lost = Some(lost);
        let host = known.host.clone();
        register.lost.insert((lost.since, oxid));
        let mut ended = Vec::new();
        while let Some(oxid) = register.surplus(&host) {
            register.remove(oxid);
            ended.push(end_client(oxid));
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
