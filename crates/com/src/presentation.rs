//! Presentation contexts: what associations over streams have to know of the targets of calls.
//!
//! Over a virtual interface the target's number says everything. The standard's units say interface and transfer syntax as well, by
//! a presentation context, and name an object by its IPID.

use crate::binding::{self, Transfers};
use crate::objref;
use crate::registry::InterfaceInfo;
use crate::runtime::Runtime;
use crate::server::Presence;
use crate::system;
use obvia_rpc::co::pdu::{Context, Outcome};
use obvia_rpc::co::relay::{Interfaces, Route, Routes};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{SyntaxId, Uuid};
use obvia_rpc::vi_call::TargetId;
use obvia_via::stream::Stream;
use obvia_via::window::Peer;
use std::collections::HashMap;
use std::fmt;
use std::sync::{OnceLock, PoisonError, RwLock};

/// Refused without a reason (C706 12.6.3.1, reason_not_specified).
const REASON_NOT_SPECIFIED: u16 = 0;

/// The interfaces that the targets of one other process are of, as long as there are proxies for them.
pub(crate) struct Targets {
    transfers: Transfers,
    known: RwLock<Known>,
}

#[derive(Default)]
struct Known {
    oxid: u64,
    interfaces: HashMap<TargetId, &'static InterfaceInfo>,
}

impl Targets {
    /// None yet. Calls go in one of these transfer syntaxes.
    pub(crate) fn new(transfers: Transfers) -> Self {
        Self { transfers, known: RwLock::default() }
    }

    /// The transfer syntaxes that calls go in.
    pub(crate) fn transfers(&self) -> Transfers {
        self.transfers
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// The process has said who it is.
    pub(crate) fn set_process(&self, oxid: u64) {
        self.change(|known| known.oxid = oxid);
    }

    /// There is a proxy for this target.
    pub(crate) fn insert(&self, target: TargetId, info: &'static InterfaceInfo) {
        self.change(|known| {
            known.interfaces.insert(target, info);
        });
    }

    /// There is no proxy for this target any more.
    pub(crate) fn remove(&self, target: TargetId) {
        self.change(|known| {
            known.interfaces.remove(&target);
        });
    }
}

impl fmt::Debug for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Targets").finish_non_exhaustive()
    }
}

impl Routes for Targets {
    fn find(&self, target: TargetId) -> Option<Route> {
        if target == system::TARGET {
            return Some(Route {
                object: None,
                interface: binding::RUNTIME,
                transfers: Transfers::FLAT.proposed(None),
            });
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let info = known.interfaces.get(&target)?;
        let object = Some(Uuid::from_wire(objref::ipid(target, known.oxid)));
        Some(Route { object, interface: binding::syntax_of(info), transfers: self.transfers.proposed(Some(info)) })
    }
}

/// What an association over a stream is told about this process, and what it learns of its client.
pub(crate) struct Visitor {
    runtime: &'static Runtime,
    transfers: Transfers,
    peer: Peer,
    local: Option<String>,
    presence: OnceLock<Presence>,
}

impl Visitor {
    /// A client that has not said yet who it is. Its calls go in one of these transfer syntaxes.
    pub(crate) fn new(runtime: &'static Runtime, stream: &Stream, transfers: Transfers) -> Self {
        let (peer, local) = (stream.peer().clone(), stream.local_host().map(str::to_owned));
        Self { runtime, transfers, peer, local, presence: OnceLock::new() }
    }

    /// The process that calls, if it has said so.
    pub(crate) fn client(&self) -> Option<u64> {
        self.presence.get().map(Presence::oxid)
    }

    /// The client says who it is. Who has said so does not become somebody else.
    fn is_called(&self, oxid: u64) -> bool {
        if self.presence.get().is_none()
            && let Some(presence) = Presence::enter(self.runtime, oxid, &self.peer, self.local.as_deref())
        {
            // One thread at a time judges what an association proposes.
            let _ = self.presence.set(presence);
        }
        self.client() == Some(oxid)
    }
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visitor").field("client", &self.client()).finish_non_exhaustive()
    }
}

impl Interfaces for Visitor {
    fn judge(&self, context: &Context) -> Outcome {
        let mut client = None;
        let outcome = binding::judge(context, self.runtime.oxid(), self.transfers, &mut client);
        match client {
            Some(client) if !self.is_called(client) => Outcome::refused(REASON_NOT_SPECIFIED),
            _ => outcome,
        }
    }

    fn find(&self, object: Option<Uuid>, interface: SyntaxId) -> Result<TargetId, Status> {
        if interface == binding::RUNTIME {
            return Ok(system::TARGET);
        }
        let (target, oxid) = objref::split_ipid(object.ok_or(Status::OBJECT_NOT_FOUND)?.to_wire());
        let exported = self.runtime.exports().interface(target);
        let info = exported.filter(|_| oxid == self.runtime.oxid()).ok_or(Status::OBJECT_NOT_FOUND)?;
        // Of what its context says: by that the arguments are translated.
        if binding::syntax_of(info) == interface { Ok(target) } else { Err(Status::UNK_IF) }
    }
}
