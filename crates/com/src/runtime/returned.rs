//! Objects of this process that other processes pass back, with their references.

use obvia_rpc::vi_call::TargetId;
use std::cell::Cell;

thread_local! {
    /// The object of this process that was unmarshaled last, with the references that came with it.
    static RETURNED: Cell<Option<(TargetId, u64)>> = const { Cell::new(None) };
}

/// Records that an object of this process was unmarshaled here, with the references that its sender
/// gave up.
pub(crate) fn note_return(target: TargetId, refs: u64) {
    RETURNED.set(Some((target, refs)));
}

/// Takes the object of the last [`note_return`], if it was not taken before.
pub(crate) fn take_return() -> Option<(TargetId, u64)> {
    RETURNED.take()
}
