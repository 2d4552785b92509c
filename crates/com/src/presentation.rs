//! Presentation contexts: what associations over streams have to know of the targets of calls.
//!
//! Over a virtual interface the target's number says everything. The standard's units say interface and transfer syntax as well, by
//! a presentation context, and name an object by its IPID.

use crate::binding::{self, Transfers};
use crate::exports::Exports;
use crate::objref;
use crate::registry::InterfaceInfo;
use crate::runtime::Runtime;
use crate::system;
use obvia_rpc::co::relay::{Interfaces, Route, Routes};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{SyntaxId, Uuid};
use obvia_rpc::vi_call::TargetId;
use std::collections::HashMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

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

    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// The process has said who it is.
    pub(crate) fn set_process(&self, oxid: u64) {
        self.change(|known| known.oxid = oxid);
    }

    /// There is a proxy for this target.
    pub(crate) fn insert(&self, target: TargetId, info: &'static InterfaceInfo) {
        self.change(|known| drop(known.interfaces.insert(target, info)));
    }

    /// There is no proxy for this target any more.
    pub(crate) fn remove(&self, target: TargetId) {
        self.change(|known| drop(known.interfaces.remove(&target)));
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
            return Some(Route { object: None, interface: binding::RUNTIME, transfers: Transfers::FLAT.proposed(None) });
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let info = known.interfaces.get(&target)?;
        let object = Some(Uuid::from_wire(objref::ipid(target, known.oxid)));
        Some(Route { object, interface: binding::syntax_of(info), transfers: self.transfers.proposed(Some(info)) })
    }
}

/// What requests from others are for.
pub(crate) struct Addressees {
    pub(crate) runtime: &'static Runtime,
}

impl fmt::Debug for Addressees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Addressees").finish_non_exhaustive()
    }
}

impl Interfaces for Addressees {
    fn find(&self, object: Option<Uuid>, interface: SyntaxId) -> Result<TargetId, Status> {
        if interface == binding::RUNTIME {
            return Ok(system::TARGET);
        }
        let (target, oxid) = objref::split_ipid(object.ok_or(Status::OBJECT_NOT_FOUND)?.to_wire());
        let exports: &Exports = self.runtime.exports();
        let info = exports.interface(target).filter(|_| oxid == self.runtime.oxid()).ok_or(Status::OBJECT_NOT_FOUND)?;
        // Of what its context says: the arguments are translated by that interface's description.
        if binding::syntax_of(info) == interface { Ok(target) } else { Err(Status::UNK_IF) }
    }
}
