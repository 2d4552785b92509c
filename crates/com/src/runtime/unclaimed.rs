//! Received references whose processes could not be reached. The janitor gives them back, since
//! their senders have counted them for this process.

use crate::protocol::objref::ObjRef;
use crate::protocol::own_calls::RELEASES_MAX;
use crate::types::threads::lock;
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::vi_call::TargetId;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The greatest number of unclaimed references. References beyond it are not given back: their
/// processes drop them, since this process does not connect.
const UNCLAIMED_MAX: usize = RELEASES_MAX;

/// The time before the first attempt to give references back. Each further pause is as long as the
/// time since the references were received.
const PAUSE: Duration = Duration::from_millis(500);

/// The unclaimed references, by process.
#[derive(Default)]
pub(super) struct Unclaimed(Mutex<Vec<Share>>);

/// The unclaimed references to objects of one process.
pub(super) struct Share {
    pub(super) oxid: u64,
    pub(super) bindings: Vec<StringBinding>,
    pub(super) refs: Vec<(TargetId, u32)>,
    /// The time when the last of them was received.
    received: Instant,
    /// The time of the next attempt.
    due: Instant,
}

impl Unclaimed {
    /// Adds the references that came with an object reference.
    pub(super) fn add(&self, reference: &ObjRef) {
        let mut shares = lock(&self.0);
        let count: usize = shares.iter().map(|share| share.refs.len()).sum();
        if count >= UNCLAIMED_MAX {
            return;
        }
        let now = Instant::now();
        let is_there = |share: &&mut Share| share.oxid == reference.oxid && share.bindings == reference.bindings;
        let entry = (reference.target, reference.public_refs);
        match shares.iter_mut().find(is_there) {
            Some(share) => {
                share.received = now;
                share.refs.push(entry);
            }
            None => shares.push(Share {
                oxid: reference.oxid,
                bindings: reference.bindings.clone(),
                refs: vec![entry],
                received: now,
                due: now + PAUSE,
            }),
        }
    }

    /// Takes the references of a process that is to be tried now.
    pub(super) fn take_due(&self) -> Option<Share> {
        let (mut shares, now) = (lock(&self.0), Instant::now());
        let at = shares.iter().position(|share| share.due <= now)?;
        Some(shares.swap_remove(at))
    }

    /// Puts references back after a failed attempt, unless they were received longer ago than an
    /// exporter keeps references for a process without a connection.
    pub(super) fn retry(&self, share: Share, patience: Duration) {
        let waited = share.received.elapsed();
        if waited < patience {
            let due = Instant::now() + waited.max(PAUSE);
            lock(&self.0).push(Share { due, ..share });
        }
    }

    /// Returns the time of the next attempt.
    pub(super) fn due(&self) -> Option<Instant> {
        lock(&self.0).iter().map(|share| share.due).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::identity::{endpoint_of, local_binding};
    use windows_core::GUID;

    #[test]
    fn unclaimed_references_are_limited() {
        let unclaimed = Unclaimed::default();
        for at in 0..2 * UNCLAIMED_MAX {
            let oxid = at as u64 % 3;
            unclaimed.add(&ObjRef {
                iid: GUID::zeroed(),
                public_refs: 5,
                oxid,
                oid: 1,
                target: TargetId { index: 1, generation: 1 },
                bindings: vec![local_binding(endpoint_of(oxid))],
                securities: Vec::new(),
            });
        }
        let counts: Vec<_> = lock(&unclaimed.0).iter().map(|share| share.refs.len()).collect();
        assert_eq!((counts.len(), counts.iter().sum()), (3, UNCLAIMED_MAX));
        assert!(unclaimed.take_due().is_none());
        let patience = Duration::from_secs(60);
        for (waited, is_kept) in [(patience, false), (Duration::ZERO, true)] {
            let received = Instant::now().checked_sub(waited).unwrap();
            let refs = vec![(TargetId { index: 1, generation: 1 }, 5)];
            unclaimed.retry(Share { oxid: 9, bindings: Vec::new(), refs, received, due: received }, patience);
            assert_eq!(lock(&unclaimed.0).iter().any(|share| share.oxid == 9), is_kept);
        }
    }
}
