//! The identity of a client, and its presence: a connection that counts for it.

use super::clients::End;
use super::exporter::Exporter;
use super::group::GroupClient;
use crate::types::upkeep;
use obvia_rpc::co::Group;
use obvia_rpc::security::Principal;
use obvia_rpc::status::Status;
use obvia_via::window::Peer;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The identity that a client claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The OXID of its process.
    pub(crate) oxid: u64,
    /// Whether the client did not introduce itself, so that this process made the OXID up.
    pub(crate) is_foreign: bool,
}

/// A connection of a client that has introduced itself or was given a number. References can be
/// held only by such a client.
pub(crate) struct Presence {
    exporter: &'static Exporter,
    oxid: u64,
    is_lost: AtomicBool,
}

impl Presence {
    /// Counts a connection, until the value is dropped. See [`Clients::enter`].
    pub(crate) fn enter(
        exporter: &'static Exporter,
        oxid: impl FnOnce() -> Result<u64, Status>,
        peer: &Peer,
        local: Option<&str>,
        group: Option<&Arc<Group<GroupClient>>>,
    ) -> Result<Self, Status> {
        let oxid = exporter.clients().enter(oxid, peer, local, group)?;
        exporter.exports().connected(oxid);
        Ok(Self { exporter, oxid, is_lost: AtomicBool::new(false) })
    }

    /// Verifies that the caller's principal owns the claimed process. For a process of this host
    /// the kernel has vouched already.
    pub(crate) fn prove(&self, peer: &Peer, principal: Option<&Arc<Principal>>) -> bool {
        matches!(peer, Peer::Process { .. }) || self.exporter.clients().prove(self.oxid, principal)
    }

    /// Returns the OXID of the client process.
    pub(crate) fn oxid(&self) -> u64 {
        self.oxid
    }

    /// Records that the connection ended because the network failed.
    pub(crate) fn note_loss(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let Self { exporter, oxid, .. } = *self;
        let is_lost = self.is_lost.load(Ordering::Relaxed);
        let end = if is_lost { End::Lost(Instant::now()) } else { End::InOrder };
        let kept = |oxid| exporter.exports().held_by(oxid) + exporter.contexts().kept_for(oxid);
        let gone = exporter.clients().leave(oxid, end, kept, |oxid| exporter.end_client(oxid));
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
