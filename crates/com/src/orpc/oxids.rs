//! Which process an OXID is and how to get there: what a resolver knows of its own processes (MS-DCOM 3.1.2.1), and what a client
//! has learnt from resolvers (3.2.1).

use super::bindings::DualStringArray;
use super::headers::ComVersion;
use super::{INVALID_OXID, OUT_OF_RESOURCES};
use obvia_rpc::status::Status;
use std::collections::HashMap;
use windows_core::GUID;

/// How to get to a process that exports objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Ways to it, with endpoints.
    pub bindings: DualStringArray,
    /// Its `IRemUnknown`.
    pub rem_unknown: GUID,
    /// The least authentication level that it takes (MS-RPCE 2.2.1.1.8); 1 is none.
    pub authn_hint: u32,
    /// Its version.
    pub version: ComVersion,
}

/// The OXID table. It takes no more entries than it was made for, so a client's can be one, too.
#[derive(Clone, Debug)]
pub struct Oxids {
    entries: HashMap<u64, Resolved>,
    max: usize,
}

impl Oxids {
    /// A table with place for so many.
    pub fn new(max: usize) -> Self {
        Self { entries: HashMap::new(), max }
    }

    /// Enters a process, or says anew how to get there.
    ///
    /// # Errors
    ///
    /// [`OUT_OF_RESOURCES`] when there is no more place.
    pub fn insert(&mut self, oxid: u64, resolved: Resolved) -> Result<(), Status> {
        if self.entries.len() >= self.max && !self.entries.contains_key(&oxid) {
            return Err(OUT_OF_RESOURCES);
        }
        self.entries.insert(oxid, resolved);
        Ok(())
    }

    /// Forgets a process: it has ended, or is not to be reached as it was said.
    pub fn remove(&mut self, oxid: u64) -> Option<Resolved> {
        self.entries.remove(&oxid)
    }

    /// What ResolveOxid and ResolveOxid2 answer (MS-DCOM 3.1.2.5.1.1): all ways, whatever the client has asked for.
    ///
    /// # Errors
    ///
    /// [`INVALID_OXID`] when there is none of the name.
    pub fn resolve(&self, oxid: u64) -> Result<&Resolved, Status> {
        self.entries.get(&oxid).ok_or(INVALID_OXID)
    }
}
