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
    /// Adds a reference that was received at `now`. Forgets those that were received longer ago
    /// than `limit`.
    pub(super) fn add(&self, reference: &ObjRef, now: Instant, limit: Duration) {
        let mut entries = lock(&self.0);
        entries.retain(|entry| entry.is_recent(now, limit));
        if entries.len() < UNREACHED_MAX {
            let &ObjRef { oxid, target, public_refs: refs, .. } = reference;
            entries.push(Entry { oxid, target, refs, received: now });
        }
    }

    /// Takes the references to objects of a process, without those that were received longer ago
    /// than `limit`.
    pub(super) fn take(&self, oxid: u64, now: Instant, limit: Duration) -> Vec<(TargetId, u32)> {
        let taken = lock(&self.0).extract_if(.., |entry| entry.oxid == oxid).collect::<Vec<_>>();
        let recent = taken.into_iter().filter(|entry| entry.is_recent(now, limit));
        recent.map(|entry| (entry.target, entry.refs)).collect()
    }
}

impl Entry {
    fn is_recent(&self, now: Instant, limit: Duration) -> bool {
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
        let take = |oxid, now| unreached.take(oxid, now, LIMIT).len();
        assert_eq!(take(1, start), UNREACHED_MAX / 3);
        assert_eq!(take(1, start), 0);
        assert_eq!(take(2, start + LIMIT), 0);
        unreached.add(&reference(1), start + LIMIT, LIMIT);
        assert_eq!((take(0, start), take(1, start + LIMIT)), (0, 1));
    }
}
