//! The state that the links to one process share. A process may be reached by several bindings, but
//! each of its objects has one proxy manager. The manager's interface proxies each use the link by
//! which they came.

use super::Link;
use crate::proxy::ManagerPointer;
use crate::threads::lock;
use crate::{own_calls, thread};
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::vi_call::TargetId;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
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

/// The state of the process behind a link whose home connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The process has ended.
    Ended,
    /// The process goes on, and may read calls on other connections.
    Lives,
    /// The process may go on.
    Unknown,
}

/// Whether a process of this host has ended. The processes of other namespaces have no number here:
/// the end of a connection has to do as the end of such a process.
pub(super) fn has_ended(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let Some(Ok(process)) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else { return true };
    // The descriptor is readable when the process has ended, also before its parent has waited.
    !matches!(poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&Timespec::default())), Ok(0))
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

#[cfg(test)]
mod tests {
    use super::has_ended;
    use std::process::{Command, Stdio};

    #[test]
    #[cfg_attr(miri, ignore = "starts a process")]
    fn a_process_has_ended_when_it_runs_no_longer() {
        assert!(!has_ended(std::process::id()));
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        assert!(!has_ended(child.id()));
        child.kill().unwrap();
        // The parent has not waited for it yet.
        while !has_ended(child.id()) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(has_ended(child.id()) && has_ended(0) && has_ended(u32::MAX));
    }
}
