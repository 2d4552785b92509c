//! Received references whose exporting processes could not be reached. The references are counted
//! for this process, so the next link to the exporting process gives them back. If no link is made,
//! the exporting process drops the references as it drops those of a client that never connects.
//! References older than a limit are not given back: the exporting process may already have dropped
//! them, and may have counted other references since.

use crate::protocol::objref::ObjRef;
use crate::protocol::own_calls::RELEASES_MAX;
use crate::types::threads::lock;
use obvia_rpc::vi_call::TargetId;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The greatest number of unreached references. Further references are not remembered.
const UNREACHED_MAX: usize = RELEASES_MAX;

/// The unreached references.
#[derive(Default)]
pub(super) struct Unreached(Mutex<Vec<Entry>>);

/// An unreached reference, with its count.
pub(super) struct Entry {
    oxid: u64,
    pub(super) target: TargetId,
    pub(super) refs: u32,
    received: Instant,
}

impl Unreached {
    /// Adds a reference that was received at `now`. Forgets references that were received longer
    /// ago than `limit`.
    pub(super) fn add(&self, reference: &ObjRef, now: Instant, limit: Duration) {
        let mut entries = lock(&self.0);
        entries.retain(|entry| entry.is_recent(now, limit));
        if entries.len() < UNREACHED_MAX {
            let &ObjRef { oxid, target, public_refs: refs, .. } = reference;
            entries.push(Entry { oxid, target, refs, received: now });
        }
    }

    /// Takes the references to objects of a process.
    pub(super) fn take(&self, oxid: u64) -> Vec<Entry> {
        lock(&self.0).extract_if(.., |entry| entry.oxid == oxid).collect()
    }

    /// Takes the references that have the same target as the reference `of`.
    pub(super) fn take_target(&self, of: &ObjRef) -> Vec<Entry> {
        lock(&self.0).extract_if(.., |entry| (entry.oxid, entry.target) == (of.oxid, of.target)).collect()
    }

    /// Adds references that [`Self::take`] or [`Self::take_target`] has taken.
    pub(super) fn put_back(&self, taken: Vec<Entry>) {
        let mut entries = lock(&self.0);
        entries.extend(taken);
        entries.truncate(UNREACHED_MAX);
    }
}

impl Entry {
    /// Whether the reference was received less than `limit` ago.
    pub(super) fn is_recent(&self, now: Instant, limit: Duration) -> bool {
        now.saturating_duration_since(self.received) < limit
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
        const LIMIT: Duration = Duration::from_secs(60);
        let (unreached, start) = (Unreached::default(), Instant::now());
        for at in 0..2 * UNREACHED_MAX as u64 {
            unreached.add(&reference(at % 3), start, LIMIT);
        }
        let taken = unreached.take(1);
        assert_eq!((taken.len(), unreached.take(1).len()), (UNREACHED_MAX / 3, 0));
        assert!(taken[0].is_recent(start, LIMIT) && !taken[0].is_recent(start + LIMIT, LIMIT));
        // References to other targets, and to targets of other processes, stay.
        assert!(unreached.take_target(&reference(1)).is_empty());
        let target = TargetId { index: 2, generation: 1 };
        assert!(unreached.take_target(&ObjRef { target, ..reference(2) }).is_empty());
        let taken = unreached.take_target(&reference(2));
        assert_eq!(taken.len(), UNREACHED_MAX / 3);
        unreached.put_back(taken);
        unreached.add(&reference(1), start + LIMIT, LIMIT);
        assert_eq!([0, 1, 2].map(|oxid| unreached.take(oxid).len()), [0, 1, 0]);
    }
}
