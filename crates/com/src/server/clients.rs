//! The clients of this process: which are connected, and which have been lost and may come back.
//!
//! A client is gone when its last connection ends in order. A client of this host is gone however its last connection ends. A network that breaks does not
//! say that a client is gone: what it holds is kept for it as long as objects wait for pings (MS-DCOM 3.1.2.2).

use super::{Fellowship, gate};
use crate::runtime::{Runtime, janitor};
use obvia_rpc::co::{Group, Groups};
use obvia_rpc::security::Principal;
use obvia_rpc::status::Status;
use obvia_via::window::{Alarm, Peer};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// Clients that have been lost and may come back: of all hosts, and of one.
const LOST_MAX: usize = 1024;
const LOST_BY_HOST_MAX: usize = 64;
/// References and states that are kept for all of those, as many as two clients may have, and for those of one host.
const KEPT_MAX: usize = 1 << 17;
const KEPT_BY_HOST_MAX: usize = KEPT_MAX / 2;

/// The clients of a process.
#[derive(Default)]
pub(crate) struct Clients {
    register: Mutex<Register>,
    groups: Groups<Fellowship>,
    alarms: Mutex<Vec<Alarm>>,
    pub(super) waiting: gate::Waiting,
}

#[derive(Default)]
struct Register {
    /// By OXID.
    known: HashMap<u64, Known>,
    /// Those that have been lost, the first one first.
    lost: BTreeSet<(Instant, u64)>,
}

/// A client: what is known of it for certain, and its connections.
#[derive(Default)]
struct Known {
    pid: Option<u32>,
    host: Option<String>,
    /// The host that this process is to it.
    local: Option<String>,
    /// Whose it is, where somebody has proved that it is theirs.
    owner: Option<Arc<Principal>>,
    /// The group of its associations, where it has said nothing of itself. The group is kept so that the client can join it when it comes back.
    group: Option<Arc<Group<Fellowship>>>,
    count: usize,
    // Invariant: it is there just when there is no connection. `Register::lost` has the client by this time then.
    lost: Option<Lost>,
}

#[derive(Clone, Copy)]
struct Lost {
    since: Instant,
    /// References and states that are kept for it.
    kept: usize,
}

/// How a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The peer said so, or its kernel did.
    InOrder,
    /// The network did not get through, at this time.
    Lost(Instant),
}

impl Register {
    /// Takes a client out.
    fn remove(&mut self, oxid: u64) {
        let Some(known) = self.known.remove(&oxid) else { return };
        if let Some(Lost { since, .. }) = known.lost {
            self.lost.remove(&(since, oxid));
        }
        if let Some(group) = known.group {
            group.shared().forget(oxid);
        }
    }

    /// The lost client that has to make room for others. Where its host has too many lost clients, or too much is kept for them, it is the first of
    /// that host; otherwise the same goes for all hosts together.
    fn surplus(&self, host: &Option<String>) -> Option<u64> {
        let all = || self.lost.iter().filter_map(|(_, oxid)| Some((*oxid, self.known.get(oxid)?)));
        let own = || all().filter(|(_, known)| known.host == *host);
        if own().count() > LOST_BY_HOST_MAX || kept(own()) > KEPT_BY_HOST_MAX {
            return own().next().map(|(oxid, _)| oxid);
        }
        (self.lost.len() > LOST_MAX || kept(all()) > KEPT_MAX).then(|| all().next().map(|(oxid, _)| oxid)).flatten()
    }
}

/// What is kept for lost clients.
fn kept<'a>(clients: impl Iterator<Item = (u64, &'a Known)>) -> usize {
    clients.filter_map(|(_, known)| known.lost).map(|lost| lost.kept).fold(0, usize::saturating_add)
}

impl Clients {
    fn register(&self) -> MutexGuard<'_, Register> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection of the client with this OXID or name, and returns that. A group names its
    /// users under the lock by which they leave, so that no user has two names.
    ///
    /// # Errors
    ///
    /// [`Status::ACCESS_DENIED`] when the client's other connections are another process's: no process
    /// may give back the references of another. The errors of `oxid`.
    fn enter(
        &self,
        oxid: impl FnOnce() -> Result<u64, Status>,
        peer: &Peer,
        local: Option<&str>,
        group: Option<&Arc<Group<Fellowship>>>,
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

    /// A client has made a call over a network, as this principal where it has proved that. False where the process is another's.
    fn prove(&self, oxid: u64, principal: Option<&Arc<Principal>>) -> bool {
        let mut register = self.register();
        let known = register.known.entry(oxid).or_default();
        if known.owner.is_none() {
            known.owner = principal.cloned();
        }
        known.owner.as_ref() == principal
    }

    /// Whether a process is connected, or may come back.
    pub(crate) fn has(&self, oxid: u64) -> bool {
        self.register().known.contains_key(&oxid)
    }

    /// The host that this process is to a client.
    pub(crate) fn local_to(&self, oxid: u64) -> Option<String> {
        self.register().known.get(&oxid)?.local.clone()
    }

    /// Has an association join a group.
    pub(crate) fn join(&self, wanted: u32, peer: &Peer) -> Option<Arc<Group<Fellowship>>> {
        Fellowship::join(&self.groups, wanted, peer)
    }

    /// Ends a connection. Runs `end_client` for each client that is gone now, before it can connect again, and returns what that does. A client that
    /// was lost is not gone as long as something is `kept` for it.
    fn leave<R>(&self, oxid: u64, end: End, kept: impl Fn(u64) -> usize, end_client: impl Fn(u64) -> R) -> Vec<R> {
        let mut register = self.register();
        let Some(known) = register.known.get_mut(&oxid) else { return Vec::new() };
        known.count -= 1;
        if known.count > 0 {
            return Vec::new();
        }
        let lost = match (end, known.pid) {
            // The kernel has said of a client on this host that it is gone, whatever the network says.
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

    /// When a lost client is to be given up next.
    pub(crate) fn due(&self, patience: Duration) -> Option<Instant> {
        self.register().lost.first().map(|(since, _)| *since + patience)
    }

    /// Gives up the clients that have been lost for so long. Returns what `end_client` does for each.
    pub(crate) fn give_up<R>(&self, now: Instant, patience: Duration, end_client: impl Fn(u64) -> R) -> Vec<R> {
        let mut register = self.register();
        let mut ended = Vec::new();
        while let Some(&(_, oxid)) = register.lost.first().filter(|(since, _)| *since + patience <= now) {
            register.remove(oxid);
            ended.push(end_client(oxid));
        }
        ended
    }

    /// Remembers a connection for [`Self::wake_all`], and forgets those that have ended.
    pub(super) fn watch(&self, alarm: Alarm) {
        let mut alarms = self.alarms.lock().unwrap_or_else(PoisonError::into_inner);
        alarms.retain(|alarm| !alarm.is_gone());
        alarms.push(alarm);
    }

    /// Has every service thread look whether it keeps objects that are no longer exported.
    pub(crate) fn wake_all(&self) {
        let mut alarms = self.alarms.lock().unwrap_or_else(PoisonError::into_inner);
        alarms.retain(|alarm| !alarm.is_gone());
        let all = alarms.clone();
        drop(alarms);
        // Without the lock: who rings may be the last to hold a connection, and an association's client leaves with it, which wakes everybody.
        all.iter().for_each(Alarm::ring);
    }
}

/// A connection of a client that has said who it is, or has been given a name. Without one nobody is there to hold references.
pub(crate) struct Presence {
    runtime: &'static Runtime,
    oxid: u64,
    is_lost: AtomicBool,
}

impl Presence {
    /// Counts a connection, until the value is dropped. See [`Clients::enter`].
    pub(crate) fn enter(
        runtime: &'static Runtime,
        oxid: impl FnOnce() -> Result<u64, Status>,
        peer: &Peer,
        local: Option<&str>,
        group: Option<&Arc<Group<Fellowship>>>,
    ) -> Result<Self, Status> {
        let oxid = runtime.clients().enter(oxid, peer, local, group)?;
        Ok(Self { runtime, oxid, is_lost: AtomicBool::new(false) })
    }

    /// Whether the process is that of who makes its calls. Of one of this host the kernel has said whose it is.
    pub(crate) fn prove(&self, peer: &Peer, principal: Option<&Arc<Principal>>) -> bool {
        matches!(peer, Peer::Process { .. }) || self.runtime.clients().prove(self.oxid, principal)
    }

    /// Which process it is.
    pub(crate) fn oxid(&self) -> u64 {
        self.oxid
    }

    /// The connection has ended because the network did not get through.
    pub(crate) fn note_loss(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let Self { runtime, oxid, .. } = *self;
        let is_lost = self.is_lost.load(Ordering::Relaxed);
        let end = if is_lost { End::Lost(Instant::now()) } else { End::InOrder };
        let kept = |oxid| runtime.exports().held_by(oxid) + runtime.contexts().kept_for(oxid);
        let gone = runtime.clients().leave(oxid, end, kept, |oxid| runtime.end_client(oxid));
        let has_gone = !gone.is_empty();
        // Objects end where no lock is held.
        drop(gone);
        if has_gone {
            runtime.clients().wake_all();
        }
        if has_gone || is_lost {
            // A lost client is to be given up some time. One that is gone may have been a server of this process, too.
            janitor::wake();
        }
    }
}
