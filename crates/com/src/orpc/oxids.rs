//! The OXID table: the bindings of the processes that a resolver serves (MS-DCOM 3.1.2.1), or that
//! a client has learnt from resolvers (3.2.1).

use super::bindings::DualStringArray;
use super::headers::ComVersion;
use super::{INVALID_OXID, OUT_OF_RESOURCES};
use obvia_rpc::status::Status;
use std::collections::HashMap;
use windows_core::GUID;

/// The bindings of a process that exports objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The bindings of the process, with endpoints.
    pub bindings: DualStringArray,
    /// The IPID of the process's `IRemUnknown`.
    pub rem_unknown: GUID,
    /// The least authentication level of the process (MS-RPCE 2.2.1.1.8); 1 means no
    /// authentication.
    pub authn_hint: u32,
    /// The version of the process.
    pub version: ComVersion,
}

/// The OXID table. The number of entries is limited, since the servers of a client decide how many
/// entries the client's table gets.
#[derive(Clone, Debug)]
pub struct Oxids {
    entries: HashMap<u64, Resolved>,
    max: usize,
}

impl Oxids {
    /// Makes a table for `max` entries.
    pub fn new(max: usize) -> Self {
        Self { entries: HashMap::new(), max }
    }

    /// Adds a process or replaces its entry.
    ///
    /// # Errors
    ///
    /// [`OUT_OF_RESOURCES`] when the table is full.
    pub fn insert(&mut self, oxid: u64, resolved: Resolved) -> Result<(), Status> {
        if self.entries.len() >= self.max && !self.entries.contains_key(&oxid) {
            return Err(OUT_OF_RESOURCES);
        }
        self.entries.insert(oxid, resolved);
        Ok(())
    }

    /// Removes a process that has ended or moved, and returns its entry.
    pub fn remove(&mut self, oxid: u64) -> Option<Resolved> {
        self.entries.remove(&oxid)
    }

    /// Returns the answer of ResolveOxid and ResolveOxid2 (MS-DCOM 3.1.2.5.1.1): all bindings,
    /// regardless of the client's protocol sequences.
    ///
    /// # Errors
    ///
    /// [`INVALID_OXID`] for an unknown OXID.
    pub fn resolve(&self, oxid: u64) -> Result<&Resolved, Status> {
        self.entries.get(&oxid).ok_or(INVALID_OXID)
    }
}
