//! The identity of a client, and its presence: a connection that counts for it.

use super::clients::{Arrival, End, Entered};
use super::exporter::Exporter;
use super::group::GroupClient;
use crate::protocol::binding::Introduction;
use crate::protocol::mark_proof::{MarkProof, places_of};
use crate::types::upkeep;
use obvia_rpc::co::Group;
use obvia_rpc::security::Principal;
use obvia_rpc::status::Status;
use obvia_via::window::Peer;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The identity of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The OXID of its process, which the client claims.
    pub(crate) oxid: u64,
    /// The number under which its references and states are kept: see [`super::clients`].
    pub(crate) number: u64,
    /// Whether the client did not introduce itself, so that this process made the OXID up.
    pub(crate) is_foreign: bool,
}

/// A connection of a client that has introduced itself or was given a number. References can be
/// held only by such a client.
pub(crate) struct Presence {
    exporter: &'static Exporter,
    entered: Entered,
    is_lost: AtomicBool,
}

impl Presence {
    /// Counts a connection of a client that has introduced itself, until the value is dropped.
    pub(crate) fn introduced(
        exporter: &'static Exporter,
        Introduction { oxid, proof }: Introduction,
        peer: &Peer,
        local: Option<&str>,
    ) -> Result<Self, Status> {
        let own = exporter.oxid();
        let places = proof.map_or(Vec::new(), |_| places_of(own, &exporter.network().bindings(None), local, peer));
        let confirm = |mark| {
            let mut valid = places.iter().map(|place| MarkProof::new(mark, own, place));
            valid.find(|valid| Some(valid.code) == proof).map(|valid| valid.confirmation)
        };
        Self::enter(exporter, || Ok(oxid), &Arrival { peer, local, group: None, confirm: &confirm })
    }

    /// Counts a connection of a client that has not introduced itself, until the value is dropped.
    pub(crate) fn unnamed(
        exporter: &'static Exporter,
        number: impl FnOnce() -> Result<u64, Status>,
        peer: &Peer,
        local: Option<&str>,
        group: Option<&Arc<Group<GroupClient>>>,
    ) -> Result<Self, Status> {
        Self::enter(exporter, number, &Arrival { peer, local, group, confirm: &|_| None })
    }

    /// See [`Clients::enter`](super::clients::Clients::enter).
    fn enter(
        exporter: &'static Exporter,
        oxid: impl FnOnce() -> Result<u64, Status>,
        arrival: &Arrival<'_>,
    ) -> Result<Self, Status> {
        let entered = exporter.clients().enter(oxid, arrival)?;
        exporter.exports().connected(entered.number);
        Ok(Self { exporter, entered, is_lost: AtomicBool::new(false) })
    }

    /// Verifies that the caller's principal owns the claimed process. For a process of this host
    /// the kernel has vouched already.
    pub(crate) fn prove(&self, peer: &Peer, principal: Option<&Arc<Principal>>) -> bool {
        matches!(peer, Peer::Process { .. }) || self.exporter.clients().prove(self.number(), principal)
    }

    /// Returns the OXID that the client claims.
    pub(crate) fn oxid(&self) -> u64 {
        self.entered.oxid
    }

    /// Returns the client's number.
    pub(crate) fn number(&self) -> u64 {
        self.entered.number
    }

    /// Returns the identity of a client that has introduced itself.
    pub(crate) fn identity(&self) -> Identity {
        Identity { oxid: self.oxid(), number: self.number(), is_foreign: false }
    }

    /// Returns the confirmation of the client's proof, if the proof is valid.
    pub(crate) fn confirmation(&self) -> Option<u128> {
        self.entered.confirmation
    }

    /// Records that the connection ended because the network failed.
    pub(crate) fn note_loss(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let Self { exporter, entered: Entered { number, .. }, .. } = *self;
        let is_lost = self.is_lost.load(Ordering::Relaxed);
        let end = if is_lost { End::Lost(Instant::now()) } else { End::InOrder };
        let kept = |number| exporter.exports().held_by(number) + exporter.contexts().kept_for(number);
        let gone = exporter.clients().leave(number, end, kept, |number| exporter.end_client(number));
        let has_gone = !gone.is_empty();
        // The objects are dropped while no lock is held.
        drop(gone);
        if has_gone || is_lost {
            // The janitor must expire a lost client later. A client that is gone may also have been
            // a server of this process.
            upkeep::wake();
        }
    }
}
