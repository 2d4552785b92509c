//! The identity of a client, and the presence of a client: a connection that is counted for it.

use super::clients::{Arrival, End, Entered};
use super::exporter::Exporter;
use super::group::GroupClient;
use crate::orpc::ClientNumber;
use crate::protocol::binding::{Greeting, Introduction};
use crate::protocol::mark_proof::{MarkProof, places_of};
use crate::types::identity;
use crate::types::upkeep;
use obvia_rpc::co::Group;
use obvia_rpc::co::pdu::LIMIT_EXCEEDED;
use obvia_rpc::security::Principal;
use obvia_rpc::status::Status;
use obvia_via::window::Peer;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The identity of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The OXID of the client's process, as the client claims it.
    pub(crate) oxid: u64,
    /// The number under which the client's references and states are kept: see [`super::clients`].
    /// `None` for a client that has not connected.
    pub(crate) number: Option<ClientNumber>,
    /// Whether the client did not introduce itself, so that this process made the OXID up.
    pub(crate) is_foreign: bool,
}

/// The reason code of a refusal that names no reason (C706 12.6.3.1, reason_not_specified).
pub(crate) const REASON_NOT_SPECIFIED: u16 = 0;

/// Returns the reason code for a client that could not enter.
pub(crate) fn reason_of(status: Status) -> u16 {
    if status == Status::SERVER_TOO_BUSY { LIMIT_EXCEEDED } else { REASON_NOT_SPECIFIED }
}

/// The challenge of a connection, which is drawn when a client asks for it.
#[derive(Default)]
pub(crate) struct Challenge(OnceLock<u128>);

impl Challenge {
    /// Whether the client has asked for the challenge.
    pub(crate) fn is_drawn(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns the answer to a client that asks for the challenge.
    pub(crate) fn greeting(&self) -> Greeting {
        let Some(drawn) = self.0.get().copied().or_else(|| identity::draw_wide().ok()) else {
            return Greeting::Refused(REASON_NOT_SPECIFIED);
        };
        Greeting::Challenge(*self.0.get_or_init(|| drawn))
    }
}

/// A connection of a client that has introduced itself or was given a number. Only such a client
/// can hold references.
pub(crate) struct Presence {
    exporter: &'static Exporter,
    entered: Entered,
    /// The proof with which the client has introduced itself, if the proof is valid.
    proof: Option<MarkProof>,
    is_lost: AtomicBool,
    /// Whether the connection is admitted: the caller's principal owns the client.
    is_admitted: AtomicBool,
}

impl Presence {
    /// Counts a connection of a client that has introduced itself, until the value is dropped.
    /// `challenge` is the challenge of the connection.
    pub(crate) fn introduced(
        exporter: &'static Exporter,
        Introduction { oxid, proof, .. }: Introduction,
        challenge: &Challenge,
        peer: &Peer,
        local: Option<&str>,
    ) -> Result<Self, Status> {
        let (challenge, own, clients) = (challenge.0.get().copied(), exporter.oxid(), exporter.clients());
        // The codes are computed before the client enters, since entering takes a lock.
        let find = |(code, challenge)| {
            let places = places_of(own, &exporter.network().bindings(None), local, peer);
            let valid = |mark| {
                let key = clients.mark_key(mark).ok()?;
                let mut valid = places.iter().map(|place| MarkProof::new(key, challenge, own, place));
                Some((mark, valid.find(|valid| valid.code == code)?))
            };
            clients.marks(oxid).into_iter().find_map(valid)
        };
        let proved = proof.zip(challenge).and_then(find);
        let arrival = Arrival { peer, local, group: None, proved: proved.map(|(mark, _)| mark) };
        // The kernel vouches for a process of this host.
        let is_process = matches!(peer, Peer::Process { .. });
        let mut presence = Self::enter(exporter, || Ok(oxid), &arrival, is_process)?;
        // If the client whose mark was proved has left before the connection entered, the
        // connection belongs to a new client, and the proof does not count.
        presence.proof = proved.filter(|(mark, _)| *mark == presence.entered.mark).map(|(_, proof)| proof);
        Ok(presence)
    }

    /// Counts a connection of a client that has not introduced itself, until the value is dropped.
    /// `oxid` makes an OXID up for the client.
    pub(crate) fn unnamed(
        exporter: &'static Exporter,
        oxid: impl FnOnce() -> Result<u64, Status>,
        peer: &Peer,
        local: Option<&str>,
        group: Option<&Arc<Group<GroupClient>>>,
    ) -> Result<Self, Status> {
        let arrival = Arrival { peer, local, group, proved: None };
        Self::enter(exporter, oxid, &arrival, true)
    }

    /// Enters a connection, and admits it at once if `is_admitted` is true: see
    /// [`Clients::enter`](super::clients::Clients::enter).
    fn enter(
        exporter: &'static Exporter,
        oxid: impl FnOnce() -> Result<u64, Status>,
        arrival: &Arrival<'_>,
        is_admitted: bool,
    ) -> Result<Self, Status> {
        let exports = exporter.exports();
        let merge = |from, to| exports.merge_clients(from, to);
        let entered = exporter.clients().enter(oxid, arrival, is_admitted.then_some(&merge))?;
        if is_admitted {
            exports.connected(entered.number);
        }
        let (is_lost, is_admitted) = (AtomicBool::default(), AtomicBool::new(is_admitted));
        Ok(Self { exporter, entered, proof: None, is_lost, is_admitted })
    }

    /// Whether the caller's principal owns the claimed process. If so, the connection is admitted.
    /// A connection from a process of this host has been admitted before, since the kernel vouches
    /// for the process. `local` is the host name by which the client reaches this process.
    pub(crate) fn prove(&self, peer: &Peer, local: Option<&str>, principal: Option<&Arc<Principal>>) -> bool {
        if self.is_admitted.load(Ordering::Relaxed) {
            return true;
        }
        let (exports, arrival) = (self.exporter.exports(), Arrival { peer, local, group: None, proved: None });
        let merge = |from, to| exports.merge_clients(from, to);
        let is_owners = self.exporter.clients().prove(self.number(), principal, &arrival, &self.is_admitted, &merge);
        if is_owners {
            exports.connected(self.number());
        }
        is_owners
    }

    /// Returns the OXID that the client claims.
    pub(crate) fn oxid(&self) -> u64 {
        self.entered.oxid
    }

    /// Returns the client's number.
    pub(crate) fn number(&self) -> ClientNumber {
        self.entered.number
    }

    /// Returns the identity of the client. The caller states in `is_foreign` whether the client has
    /// not introduced itself.
    pub(crate) fn identity(&self, is_foreign: bool) -> Identity {
        Identity { oxid: self.oxid(), number: Some(self.number()), is_foreign }
    }

    /// Whether the client has introduced itself with a valid proof.
    pub(crate) fn is_proved(&self) -> bool {
        self.proof.is_some()
    }

    /// Returns the answer to an introduction of the client, which has entered.
    pub(crate) fn greeting(&self, client: Introduction) -> Greeting {
        let valid = self.proof.filter(|proof| Some(proof.code) == client.proof);
        valid.map_or(Greeting::Process, |proof| Greeting::Confirmed(proof.confirmation))
    }

    /// Records that the connection ended because the network failed.
    pub(crate) fn note_loss(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let Self { exporter, entered: Entered { number, .. }, .. } = *self;
        let is_admitted = self.is_admitted.load(Ordering::Relaxed);
        let is_lost = self.is_lost.load(Ordering::Relaxed);
        let end = if is_lost { End::Lost(Instant::now()) } else { End::InOrder };
        let end = (end, exporter.exports().patience());
        let (kept, end_client) = (|number| exporter.kept_for(number), |number, what| exporter.end_client(number, what));
        let gone = exporter.clients().leave(number, is_admitted, end, kept, end_client);
        let has_gone = !gone.is_empty();
        // The objects are dropped while no lock is held.
        drop(gone);
        if has_gone || exporter.clients().is_lost(number) {
            // The janitor must remove a lost client when its time is over. A client that is gone
            // may also have been a server of this process; the janitor ends the link to it.
            upkeep::wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Challenge, Presence};
    use crate::client::proxy::UNKNOWN_INFO;
    use crate::orpc::Client;
    use crate::protocol::binding::Introduction;
    use crate::protocol::place::{FoundClient, Origin, Place};
    use crate::server::exporter::Exporter;
    use crate::services::process;
    use crate::types::identity;
    use crate::types::processes::watch;
    use obvia_rpc::security::Principal;
    use obvia_via::provider::shm::serial_behind;
    use obvia_via::window::Peer;
    use std::process::{Command, Stdio};
    use std::sync::{Arc, Barrier};
    use std::time::{Duration, Instant};
    use windows_core::IUnknown;

    #[obvia::object()]
    struct Object;

    fn introduced(exporter: &'static Exporter, oxid: u64, host: &str) -> Presence {
        let (client, peer) = (Introduction { oxid, asks: false, proof: None }, Peer::Host(host.to_owned()));
        Presence::introduced(exporter, client, &Challenge::default(), &peer, None).unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_stranger_at_a_lost_clients_host_does_not_end_the_client() {
        let exporter = process::runtime().unwrap().exporter();
        let (exports, oxid) = (exporter.exports(), identity::draw().unwrap());
        let peer = Peer::Host("owners".to_owned());
        let principal = Arc::new(Principal { user: "anna".to_owned(), ..Principal::default() });
        let owner = introduced(exporter, oxid, "owners");
        assert!(owner.prove(&peer, None, Some(&principal)));
        let holder = Client::Process(owner.number());
        let target = exports.add(&IUnknown::from(Object), &UNKNOWN_INFO, holder, 5).unwrap().target;
        owner.note_loss();
        drop(owner);
        let stranger = introduced(exporter, oxid, "owners");
        assert!(!stranger.prove(&peer, None, None));
        drop(stranger);
        assert!(exports.get(target).is_ok());
        let owner = introduced(exporter, oxid, "owners");
        assert!(owner.prove(&peer, None, Some(&principal)) && Client::Process(owner.number()) == holder);
        drop(owner);
        assert!(exports.get(target).is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_connection_of_a_process_gets_the_references_or_counts_as_another_client() {
        let exporter = process::runtime().unwrap().exporter();
        let (exports, oxid) = (exporter.exports(), identity::draw().unwrap());
        let peer = Peer::Process { pid: 7, uid: 0, serial: 7 };
        let introduce = || {
            let client = Introduction { oxid, asks: false, proof: None };
            Presence::introduced(exporter, client, &Challenge::default(), &peer, None).unwrap()
        };
        for round in 0..1000 {
            let former = introduce();
            let number = former.number();
            let holder = Client::Process(number);
            let target = exports.add(&IUnknown::from(Object), &UNKNOWN_INFO, holder, 5).unwrap().target;
            let start = Barrier::new(2);
            let next = std::thread::scope(|scope| {
                let next = scope.spawn(|| {
                    start.wait();
                    introduce()
                });
                start.wait();
                drop(former);
                next.join().unwrap()
            });
            assert_eq!(exports.get(target).is_ok(), next.number() == number, "round {round}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "starts a process")]
    fn the_janitor_drops_the_references_of_a_lost_process_that_ends() {
        let exporter = process::runtime().unwrap().exporter();
        let (exports, oxid) = (exporter.exports(), identity::draw().unwrap());
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let pid = child.id();
        let peer = Peer::Process { pid, uid: 0, serial: serial_behind(&watch(pid).unwrap().unwrap(), pid) };
        let client = Introduction { oxid, asks: false, proof: None };
        let presence = Presence::introduced(exporter, client, &Challenge::default(), &peer, None).unwrap();
        let place = || Place::of([(&Origin::of(&peer), None)]);
        let number = exporter.clients().expect(oxid, &FoundClient::default(), place);
        assert_eq!(number, presence.number());
        let holder = Client::Process(number);
        let target = exports.add(&IUnknown::from(Object), &UNKNOWN_INFO, holder, 5).unwrap().target;
        drop(presence);
        // The end of the last connection has woken the janitor. The end of the process will not
        // wake it.
        std::thread::sleep(Duration::from_millis(200));
        assert!(exporter.clients().is_lost(number) && exports.get(target).is_ok());
        child.kill().unwrap();
        let killed = Instant::now();
        while exports.get(target).is_ok() {
            assert!(killed.elapsed() < Duration::from_secs(60), "the janitor does not look for the end of the process");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!exporter.clients().has(number));
        child.wait().unwrap();
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn references_that_a_process_was_given_are_not_those_of_a_stranger_with_its_oxid() {
        let exporter = process::runtime().unwrap().exporter();
        let (exports, oxid) = (exporter.exports(), identity::draw().unwrap());
        let introduced = |host: &str| introduced(exporter, oxid, host);
        let give = || {
            let place = || Place::of([(&Origin::Host("far".to_owned()), None)]);
            let holder = Client::Process(exporter.clients().expect(oxid, &FoundClient::default(), place));
            (holder, exports.add(&IUnknown::from(Object), &UNKNOWN_INFO, holder, 5).unwrap().target)
        };
        // One stranger introduces itself before the first reference is given, and another one
        // afterwards.
        let early = introduced("early");
        let (holder, first) = give();
        let late = introduced("late");
        let (same, second) = give();
        assert_eq!(holder, same);
        for stranger in [&early, &late] {
            let number = Client::Process(stranger.number());
            exports.release(number, [first, second].map(|target| (target, u64::MAX)));
        }
        drop((early, late));
        assert!(exports.get(first).is_ok() && exports.get(second).is_ok());
        let owner = introduced("far");
        let owner_holder = Client::Process(owner.number());
        exports.release(owner_holder, [first, second].map(|target| (target, u64::MAX)));
        assert!(exports.get(first).is_ok(), "a connection that is not admitted has no references");
        assert!(owner.prove(&Peer::Host("far".to_owned()), None, None));
        exports.release(owner_holder, [(first, 5)]);
        assert!(exports.get(first).is_err() && exports.get(second).is_ok());
        drop(owner);
        assert!(exports.get(second).is_err());
    }
}
