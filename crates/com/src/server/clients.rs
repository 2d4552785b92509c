//! The clients of this process: those that are connected, those whose connections were lost and
//! that may connect again, and those that are expected because they were given references.
//!
//! A client claims an OXID. The kernel or the network shows the origin of its first connection: a
//! process of this host by its serial number, or another host. A further connection with the same
//! OXID and the same origin belongs to the same client. A connection with the same OXID and another
//! origin belongs to another client, unless the [proof of a mark](crate::protocol::mark_proof)
//! shows that it comes from the same process. A process of this host proves the mark once: the
//! kernel vouches for its later connections. So a peer that only knows the OXID of a client cannot
//! act for it.
//!
//! Each client has a [`ClientNumber`], under which its references and states are kept. A process
//! that is given references before it connects is expected at a [`Place`], and has a number, too.
//! When a client with the OXID is admitted at that place, it gets the references. A client with the
//! same OXID at another place does not get them, and cannot release them. That client may still be
//! the expected process, at an address that this process does not know. The references are
//! therefore kept at least until the last client with the OXID has left.
//!
//! A connection is admitted when its principal has turned out to own the client, or at once where
//! the kernel vouches for it. Until then the connection changes neither a known client nor an
//! expected process. A client is gone when its last admitted connection ends in order, unless a
//! connection that is not admitted yet may be its next one. A client for which the kernel vouches
//! is gone in any case when its last admitted connection ends, with one exception: if the client
//! was given references lately and its process lives, the client is lost. The references may still
//! be on their way: the process may have closed its connections before it received them, and
//! connects again to use them. That client's states are run down, as if the client were gone. A
//! broken network does not prove that a client is gone. The references and states of a client that
//! was lost through the network, and the references of a lost process of this host, are kept for as
//! long as objects wait for pings (MS-DCOM 3.1.2.2). The references of a process of this host are
//! dropped earlier if the process ends. References that another client passes to a lost client are
//! kept apart, under an expected process. The lost client gets them when it is admitted again.

use super::entrance::Entrance;
use super::group::GroupClient;
use super::local_setups::LocalSetups;
use crate::orpc::ClientNumber;
use crate::protocol::own_calls;
use crate::protocol::place::{FoundClient, Place};
use crate::types::error::{Error, Result, code};
use crate::types::identity;
use known::{Known, Lost};
use obvia_rpc::co::{Group, Groups};
use obvia_rpc::security::{Principal, code_of};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::TargetId;
use obvia_via::Budget;
use obvia_via::window::Peer;
use register::Register;

pub(crate) use known::MarkNumber;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

mod known;
mod register;
#[cfg(test)]
mod tests;

/// The greatest number of entries in a client's list of references to give back. References beyond
/// this limit are not given back: the client drops them when this process ends.
const TO_RETURN_MAX: usize = own_calls::RELEASES_MAX;

/// The clients of a process.
#[derive(Default)]
pub(crate) struct Clients {
    register: Mutex<Register>,
    groups: Groups<GroupClient>,
    /// The secret from which the marks of clients and the keys of the marks are computed.
    secret: OnceLock<[u8; 16]>,
    pub(super) entrance: Entrance,
    pub(super) local_setups: LocalSetups,
}

impl Clients {
    /// Returns the budget for the areas of a connection with a peer. Connections that this process
    /// has made have the same budget as connections that the peer has made.
    pub(crate) fn area_budget(&self, peer: &Peer) -> Option<Arc<dyn Budget>> {
        self.entrance.area_budget(peer)
    }
}

/// A client's connection that is about to enter [`Clients`].
pub(super) struct Arrival<'a> {
    pub(super) peer: &'a Peer,
    /// The host name by which the client reaches this process.
    pub(super) local: Option<&'a str>,
    pub(super) group: Option<&'a Arc<Group<GroupClient>>>,
    /// The mark that the connection has proved, if any.
    pub(super) proved: Option<MarkNumber>,
}

/// The part of a client's entries that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The states that context handles name.
    States,
    /// The references and the states.
    All,
}

/// A function that moves the references of one client number to another number of the same process.
pub(super) type Merge<'a> = &'a dyn Fn(ClientNumber, ClientNumber) -> bool;

/// The client of a connection that has entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entered {
    pub(super) oxid: u64,
    pub(super) number: ClientNumber,
    /// The mark that the client had when the connection entered.
    pub(super) mark: MarkNumber,
}

/// The way in which a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The peer or its kernel reported the end.
    InOrder,
    /// The network failed, at this time.
    Lost(Instant),
}

impl Clients {
    fn register(&self) -> MutexGuard<'_, Register> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection of a client. Until the connection is admitted, no other state of a known
    /// client changes. `oxid` returns the client's OXID. It runs under the register's lock, so that
    /// a user of a group cannot get two numbers by two calls at the same time.
    ///
    /// If `merge` is given, the connection is admitted at once, under the same lock. Otherwise the
    /// end of the client's last other connection could end the client before this connection is
    /// admitted. `merge` moves the references of one number to another number. If there are too
    /// many references, `merge` moves none, and returns false.
    ///
    /// # Errors
    ///
    /// [`Status::SERVER_TOO_BUSY`] when too many clients claim the OXID. The errors of `oxid`.
    pub(super) fn enter(
        &self,
        oxid: impl FnOnce() -> std::result::Result<u64, Status>,
        arrival: &Arrival<'_>,
        merge: Option<Merge<'_>>,
    ) -> std::result::Result<Entered, Status> {
        let mut register = self.register();
        let oxid = oxid()?;
        let number = register.enter(oxid, arrival).map_err(|register::Full| Status::SERVER_TOO_BUSY)?;
        let Some(known) = register.known.get_mut(&number) else { return Err(Status::REMOTE_NO_MEMORY) };
        known.count += 1;
        let entered = Entered { oxid, number, mark: known.mark };
        if let Some(merge) = merge {
            register.admit(number, arrival, merge);
        }
        Ok(entered)
    }

    /// Returns the number of a client's mark.
    ///
    /// # Errors
    ///
    /// RPC_E_DISCONNECTED when there is no such client.
    pub(crate) fn mark_of(&self, number: ClientNumber) -> Result<MarkNumber> {
        let register = self.register();
        register.known.get(&number).map(|known| known.mark).ok_or_else(|| code::RPC_E_DISCONNECTED.into())
    }

    /// Returns the mark of a client: the number by which the client recognises this process on all
    /// links. The mark is sent only to this client, and only over confidential connections.
    ///
    /// # Errors
    ///
    /// When there are no random numbers.
    pub(crate) fn mark(&self, mark: MarkNumber) -> Result<u64> {
        self.code_for(mark, b"mark").map(|code| code as u64)
    }

    /// Returns the mark of a client for connections that are not confidential. A reader of the
    /// network can learn this mark, so links that have reached the process confidentially do not
    /// accept it.
    ///
    /// # Errors
    ///
    /// When there are no random numbers.
    pub(crate) fn clear_mark(&self, mark: MarkNumber) -> Result<u64> {
        self.code_for(mark, b"clear").map(|code| code as u64)
    }

    /// Returns the key with which a client proves its mark.
    ///
    /// # Errors
    ///
    /// When there are no random numbers.
    pub(crate) fn mark_key(&self, mark: MarkNumber) -> Result<u128> {
        self.code_for(mark, b"key")
    }

    fn code_for(&self, MarkNumber(number): MarkNumber, purpose: &[u8]) -> Result<u128> {
        let secret = match self.secret.get() {
            Some(secret) => secret,
            None => {
                let drawn = identity::draw_wide()?.to_le_bytes();
                self.secret.get_or_init(|| drawn)
            }
        };
        Ok(code_of(secret, &[purpose, &number.to_le_bytes()]))
    }

    /// Returns the marks of the clients that claim an OXID.
    pub(super) fn marks(&self, oxid: u64) -> Vec<MarkNumber> {
        self.register().of(oxid).map(|(_, known)| known.mark).collect()
    }

    /// Returns the OXID of the client or the expected process with a number, if there is one.
    pub(crate) fn oxid_of(&self, number: ClientNumber) -> Option<u64> {
        self.register().oxid_of(number)
    }

    /// Returns the OXID and the place of the client or the expected process with a number, if there
    /// is one.
    pub(crate) fn whereabouts(&self, number: ClientNumber) -> Option<(u64, Place)> {
        let register = self.register();
        let known = register.known.get(&number).map(|known| (known.oxid, known.place()));
        known.or_else(|| register.expected.get(&number).map(|expected| (expected.oxid, expected.place.clone())))
    }

    /// Returns the number of the client with this OXID at the place to which a link of this process
    /// leads, or of the process that is expected there. `found` is the link's record of the last
    /// result. `place` returns the link's place. It is called only if `found` is out of date.
    pub(crate) fn number_behind(
        &self,
        oxid: u64,
        found: &FoundClient,
        place: impl FnOnce() -> Place,
    ) -> Option<ClientNumber> {
        let register = self.register();
        let search = || register.behind(oxid, &place());
        let number = found.get(register.changes).or_else(search)?;
        found.set(register.changes, number);
        Some(number)
    }

    /// Returns the number as [`Self::number_behind`] does. If there is neither a client nor an
    /// expected process at the place, the process is expected there from now on.
    pub(crate) fn expect(&self, oxid: u64, found: &FoundClient, place: impl FnOnce() -> Place) -> ClientNumber {
        let mut register = self.register();
        let number = match found.get(register.changes) {
            Some(number) => register.note_given_here(number),
            None => register.expect_behind(oxid, &place()),
        };
        found.set(register.changes, number);
        number
    }

    /// Returns the number as [`Self::expect`] does, for a place that a peer has named. If the
    /// client there is lost, returns the number of a process that is expected in its stead. `None`
    /// if too many processes are expected.
    pub(crate) fn expect_named(&self, oxid: u64, place: &Place) -> Option<ClientNumber> {
        let mut register = self.register();
        register.expect_named(oxid, place).map(|number| register.note_given(number))
    }

    /// Runs `count`, which counts references that a client passes on to the process with this OXID
    /// at a place. `count` gets the number of the process, and whether it is connected. `count`
    /// runs under the register's lock, so that the process does not connect or leave while it runs.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY when too many processes are expected, or when the process is expected at too
    /// many places. The errors of `count`.
    pub(crate) fn pass_on<R>(
        &self,
        oxid: u64,
        place: &Place,
        count: impl FnOnce(ClientNumber, bool) -> Result<R>,
    ) -> Result<R> {
        let mut register = self.register();
        let expected = register.expected.len();
        let text = "too many references wait for receivers that have not connected";
        let number = register.expect_named(oxid, place).ok_or_else(|| Error::new(code::E_OUTOFMEMORY, text))?;
        let outcome = count(number, register.known.get(&number).is_some_and(|known| known.admitted > 0));
        if outcome.is_ok() {
            register.note_given(number);
        } else if register.expected.len() > expected {
            register.remove(number);
        }
        outcome
    }

    /// Records the principal that authenticated a client's call over a network, and admits the
    /// connection if it has not been admitted yet. Both steps happen under one lock: otherwise
    /// another connection could end between the steps, and the client would lose its owner. Returns
    /// false where the process belongs to another principal. [`Self::enter`] describes `merge`.
    pub(super) fn prove(
        &self,
        number: ClientNumber,
        principal: Option<&Arc<Principal>>,
        arrival: &Arrival<'_>,
        is_admitted: &AtomicBool,
        merge: Merge<'_>,
    ) -> bool {
        let mut register = self.register();
        let Some(known) = register.known.get_mut(&number) else { return false };
        if known.owner.is_none() {
            known.owner = principal.cloned();
        }
        let is_owners = known.owner.as_ref() == principal;
        if is_owners && !is_admitted.swap(true, Ordering::Relaxed) {
            register.admit(number, arrival, merge);
        }
        is_owners
    }

    /// Whether the client with this number is lost, so that it may connect again.
    pub(super) fn is_lost(&self, number: ClientNumber) -> bool {
        self.register().is_lost(number)
    }

    /// Whether there is a client with this number: a connected client, or a lost one, which may
    /// connect again.
    pub(crate) fn has(&self, number: ClientNumber) -> bool {
        self.register().known.contains_key(&number)
    }

    /// Removes those of the expected processes in `holders`, the holders of references, that have
    /// not connected in time. The time counts from the last references that the process was given.
    /// The time is `patience`, or [`register::STRANGERS_PATIENCE`] if clients claim the process's
    /// OXID, since one of these clients may be the process. Calls `end_client` for each removed
    /// process under the register's lock, so that the process can neither connect nor be given
    /// references at the same time. Returns the results of `end_client`.
    pub(crate) fn expire_expected<R>(
        &self,
        holders: &[ClientNumber],
        now: Instant,
        patience: Duration,
        end_client: impl Fn(ClientNumber) -> R,
    ) -> Vec<R> {
        let mut register = self.register();
        let expired = holders.iter().copied().filter(|number| !register.keeps(*number, now, patience)).collect();
        register.give_up_each(expired, end_client)
    }

    /// Removes the expected processes that were last given references `patience` ago or earlier,
    /// and for which `is_unused` returns true.
    pub(crate) fn forget_expected(&self, now: Instant, patience: Duration, is_unused: impl Fn(ClientNumber) -> bool) {
        let mut register = self.register();
        let is_old = |used: Instant| now.saturating_duration_since(used) >= patience;
        let old = register.expected.iter().filter(|(number, expected)| is_old(expected.used) && is_unused(**number));
        for number in old.map(|(number, _)| *number).collect::<Vec<_>>() {
            register.remove(number);
        }
    }

    /// Records references that a client has sent in a call which this process has refused. They
    /// refer to objects of the client, and are given back to it later.
    pub(crate) fn add_references_to_return(
        &self,
        number: ClientNumber,
        refs: impl IntoIterator<Item = (TargetId, u32)>,
    ) {
        if let Some(known) = self.register().known.get_mut(&number) {
            let room = TO_RETURN_MAX - known.to_return.len();
            known.to_return.extend(refs.into_iter().take(room));
        }
    }

    /// Takes the recorded references that are to be given back over a link to a process with this
    /// OXID at this place. Returns them with the number of the client that has sent them.
    ///
    /// A process of another host that claims the client's OXID does not get the references. The
    /// processes of one host cannot be told apart over a network: any process of the client's host
    /// that claims the client's OXID gets them.
    pub(crate) fn take_references_to_return(
        &self,
        oxid: u64,
        place: &Place,
    ) -> Option<(ClientNumber, Vec<(TargetId, u32)>)> {
        let mut register = self.register();
        let is_due = |known: &Known| !known.to_return.is_empty() && known.fit(place).is_some();
        let (number, _) = register.of(oxid).find(|(_, known)| is_due(known))?;
        let known = register.known.get_mut(&number)?;
        Some((number, std::mem::take(&mut known.to_return)))
    }

    /// Returns the OXID of the client or the expected process with a number, if there is one. Also
    /// returns the host name by which the client reaches this process over a network, if known.
    pub(crate) fn way_of(&self, number: ClientNumber) -> Option<(u64, Option<String>)> {
        let register = self.register();
        let local = register.known.get(&number).and_then(Known::local);
        Some((register.oxid_of(number)?, local.map(str::to_owned)))
    }

    /// Returns the group that an association joins: see `GroupClient::join`.
    pub(crate) fn join(&self, wanted: u32, peer: &Peer) -> Option<Arc<Group<GroupClient>>> {
        GroupClient::join(&self.groups, wanted, peer)
    }

    /// Ends a connection. The client ends with its last admitted connection. Calls `end_client` for
    /// each client that is gone now, before the client can connect again, and returns the results.
    /// A living process of this host counts as lost if it was given references less than `patience`
    /// ago. In this case its states end, and its references stay. A client counts as lost only if
    /// `kept` returns more than 0 for it; otherwise it is gone.
    pub(super) fn leave<R>(
        &self,
        number: ClientNumber,
        is_admitted: bool,
        (end, patience): (End, Duration),
        kept: impl Fn(ClientNumber) -> usize,
        end_client: impl Fn(ClientNumber, Ending) -> R,
    ) -> Vec<R> {
        let mut register = self.register();
        let Some(known) = register.known.get_mut(&number) else { return Vec::new() };
        known.count -= 1;
        known.admitted -= usize::from(is_admitted);
        if known.has_entered() || !is_admitted && known.count > 0 {
            return Vec::new();
        }
        let now = Instant::now();
        let lost = match end {
            // For a process of this host, the way in which the connection ended does not matter:
            // the kernel reports the end of the process.
            _ if known.is_process() => known.given_lately(now, patience),
            End::Lost(since) => Some(Lost { since, process: None }),
            // If the client has another connection that is not admitted yet, the client counts as
            // lost until that connection is admitted.
            End::InOrder => (known.count > 0).then_some(Lost { since: now, process: None }),
        };
        // The states of a process end with its connections: C706 calls that the rundown.
        let states = (lost.is_some() && known.is_process()).then(|| end_client(number, Ending::States));
        let mut gone: Vec<_> = states.into_iter().collect();
        let Some(lost) = lost.filter(|_| kept(number) > 0) else {
            register.give_up(number);
            gone.push(end_client(number, Ending::All));
            return gone;
        };
        let since = lost.since;
        known.lost = Some(lost);
        register.changes += 1;
        register.lost.insert((since, number));
        let surplus = register.surplus(kept);
        gone.extend(register.give_up_each(surplus, |number| end_client(number, Ending::All)));
        gone
    }

    /// Returns the time at which the next lost client expires, if there is one.
    pub(crate) fn due(&self, patience: Duration) -> Option<Instant> {
        self.register().lost.first().map(|(since, _)| *since + patience)
    }

    /// Whether the end of a process would end a lost client. The janitor then has to call
    /// [`Self::give_up`] regularly.
    pub(crate) fn awaits_processes(&self) -> bool {
        self.register().awaits_processes()
    }

    /// Removes lost clients: those that were lost `patience` ago or earlier, those whose process
    /// has ended, and those that exceed the limits. References that other clients pass to a lost
    /// client can make it exceed the limits. All references of a removed client are removed.
    /// [`Self::leave`] describes `kept`. Returns the results of `end_client` for each removed
    /// client.
    pub(crate) fn give_up<R>(
        &self,
        now: Instant,
        patience: Duration,
        kept: impl Fn(ClientNumber) -> usize,
        end_client: impl Fn(ClientNumber) -> R,
    ) -> Vec<R> {
        let mut register = self.register();
        let over = register.over(now, patience);
        let mut gone = register.give_up_each(over, &end_client);
        let surplus = register.surplus(kept);
        gone.extend(register.give_up_each(surplus, end_client));
        gone
    }
}
