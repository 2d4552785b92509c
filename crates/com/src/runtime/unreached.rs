//! Received references whose processes could not be reached. Their senders have counted them for
//! this process, so the next link to their process gives them back. If there is none, the process
//! drops them by itself, as those of a client that never connects.

use crate::protocol::objref::ObjRef;
use crate::protocol::own_calls::RELEASES_MAX;
use crate::types::threads::lock;
use obvia_rpc::vi_call::TargetId;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The greatest number of unreached references. Further ones are not remembered.
const UNREACHED_MAX: usize = RELEASES_MAX;

/// The unreached references.
#[derive(Default)]
pub(super) struct Unreached(Mutex<Vec<Entry>>);

struct Entry {
    oxid: u64,
    target: TargetId,
    refs: u32,
    received: Instant,
}

impl Unreached {
    /// Adds a reference that was received at `now`. Removes those that are older than `patience`,
    /// the time for which an exporter keeps references for a process without a connection.
    pub(super) fn add(&self, reference: &ObjRef, now: Instant, patience: Duration) {
        let mut entries = lock(&self.0);
        entries.retain(|entry| now.saturating_duration_since(entry.received) < patience);
        if entries.len() < UNREACHED_MAX {
            let &ObjRef { oxid, target, public_refs: refs, .. } = reference;
            entries.push(Entry { oxid, target, refs, received: now });
        }
    }

    /// Takes the references to objects of a process.
    pub(super) fn take(&self, oxid: u64) -> Vec<(TargetId, u32)> {
        let taken = lock(&self.0).extract_if(.., |entry| entry.oxid == oxid).collect::<Vec<_>>();
        taken.into_iter().map(|entry| (entry.target, entry.refs)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windows_core::GUID;

    fn reference(oxid: u64) -> ObjRef {
        let target = TargetId { index: 1, generation: 1 };
        let (bindings, securities) = (Vec::new(), Vec::new());
        ObjRef { iid: GUID::zeroed(), public_refs: 5, oxid, oid: 1, target, bindings, securities }
    }

    #[test]
    fn unreached_references_are_limited_and_expire() {
        const PATIENCE: Duration = Duration::from_secs(60);
        let (unreached, start) = (Unreached::default(), Instant::now());
        for at in 0..2 * UNREACHED_MAX as u64 {
            unreached.add(&reference(at % 2), start, PATIENCE);
        }
        assert_eq!(unreached.take(1).len(), UNREACHED_MAX / 2);
        assert_eq!(unreached.take(1).len(), 0);
        unreached.add(&reference(1), start + PATIENCE, PATIENCE);
        assert_eq!((unreached.take(0).len(), unreached.take(1).len()), (0, 1));
    }
}
