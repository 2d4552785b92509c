//! What the links to one process have in common. A process may be reached by several ways, but an object of it is one: it has one proxy
//! manager, whose interface proxies each go by the way by which they came.

use super::{Link, lock};
use crate::proxy::ManagerPointer;
use crate::{system, thread};
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::vi_call::TargetId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a process may take to say whether it is one that is known.
const PATIENCE: Duration = Duration::from_secs(3);

/// A process with objects, by whichever ways it is reached.
#[derive(Default)]
pub(super) struct Process {
    /// The proxy managers, by object.
    pub(super) managers: Mutex<HashMap<u64, ManagerPointer>>,
    /// References that it is to be given back.
    pub(super) releases: Mutex<Vec<(TargetId, u32)>>,
    /// Ways to it that this process has gone.
    pub(super) ways: Mutex<Vec<StringBinding>>,
    /// Further ways, as it told itself last.
    pub(super) others: Mutex<Vec<StringBinding>>,
}

impl Link {
    /// The process at the other end, as long as somebody has a link to it: whoever says that it is another's process has another number here.
    pub(crate) fn process(&self) -> usize {
        Arc::as_ptr(&self.process).addr()
    }

    /// Whether a link leads to the same process.
    pub(crate) fn leads_where(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.process, &other.process)
    }

    /// Finds out whether one of these links leads to the same process, before anybody has this one. That both peers say that they are the same is not
    /// enough: anybody may say so, and would be given calls of the other's objects. The process shows it by its mark for this one, which
    /// it tells nobody else.
    pub(crate) fn join(&mut self, others: &[Arc<Self>]) {
        let is_same =
            |other: &&Arc<Self>| self.trusts_as(other) && other.mark().is_some_and(|mark| self.mark() == Some(mark));
        let Some(known) = others.iter().find(is_same) else { return };
        self.process = Arc::clone(&known.process);
        self.note_way();
    }

    /// Whether whoever relies on one of two links may rely on the other: the kernel vouches for processes of this host, and else how calls are
    /// protected.
    fn trusts_as(&self, other: &Self) -> bool {
        let level = |link: &Self| link.protection().map(crate::security::Protection::level);
        self.is_private() || other.is_private() || level(self) == level(other)
    }

    /// By what the process at the other end is recognised.
    fn mark(&self) -> Option<u64> {
        let mut known = lock(&self.mark);
        if known.is_none() {
            // A process that does not say is one of its own.
            *known = thread::with_timeout(PATIENCE, || system::mark(self)).ok();
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
