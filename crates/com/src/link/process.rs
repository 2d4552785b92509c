//! The state that the links to one process share. A process may be reached by several bindings, but
//! each of its objects has one proxy manager. The manager's interface proxies each use the link by
//! which they came.

use super::Link;
use crate::proxy::ManagerPointer;
use crate::threads::lock;
use crate::{own_calls, thread};
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::vi_call::TargetId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The time that a process may take to send its mark.
const PATIENCE: Duration = Duration::from_secs(3);

/// A process with objects, however many bindings lead to it.
#[derive(Default)]
pub(super) struct Process {
    /// The proxy managers, by OID.
    pub(super) managers: Mutex<HashMap<u64, ManagerPointer>>,
    /// The references that are to be given back to the process.
    pub(super) releases: Mutex<Vec<(TargetId, u32)>>,
    /// The bindings by which this process has reached it.
    pub(super) ways: Mutex<Vec<StringBinding>>,
    /// The bindings of the process that it sent itself, in the latest version.
    pub(super) others: Mutex<Vec<StringBinding>>,
}

impl Link {
    /// Returns an identifier of the process, valid while a link to it exists. A peer that only
    /// claims another process's OXID has a different identifier.
    pub(crate) fn process(&self) -> usize {
        Arc::as_ptr(&self.process).addr()
    }

    /// Whether another link leads to the same process.
    pub(crate) fn leads_where(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.process, &other.process)
    }

    /// Shares the process state with one of `others` that leads to the same process, before this
    /// link is used. The OXID that both peers claim is not enough: any peer could claim it and
    /// would be given calls of the other's objects. The process proves its identity by its mark for
    /// this process, which it sends to no other process.
    pub(crate) fn join(&mut self, others: &[Arc<Self>]) {
        let is_same =
            |other: &&Arc<Self>| self.trusts_as(other) && other.mark().is_some_and(|mark| self.mark() == Some(mark));
        let Some(known) = others.iter().find(is_same) else { return };
        self.process = Arc::clone(&known.process);
        self.note_way();
    }

    /// Whether one of two links may be trusted as far as the other. The kernel vouches for
    /// processes of this host. Other links must have the same protection level.
    fn trusts_as(&self, other: &Self) -> bool {
        let level = |link: &Self| link.protection().map(crate::security::Protection::level);
        self.is_private() || other.is_private() || level(self) == level(other)
    }

    /// Returns the mark by which the process at the other end is recognised.
    fn mark(&self) -> Option<u64> {
        let mut known = lock(&self.mark);
        if known.is_none() {
            // A process that sends no mark counts as a separate process.
            *known = thread::with_timeout(PATIENCE, || self.with_home(own_calls::mark)).ok();
        }
        *known
    }

    pub(super) fn note_way(&self) {
        let own = self.binding();
        let mut ways = lock(&self.process.ways);
        if !ways.contains(&own) {
            ways.push(own);
        }
    }
}
