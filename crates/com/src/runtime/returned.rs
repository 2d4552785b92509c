//! Objects of this process that other processes pass back, with their references.

use obvia_rpc::vi_call::TargetId;
use std::cell::Cell;

thread_local! {
    /// The object of this process that was unmarshaled last, with the references that came with it.
    static RETURNED: Cell<Option<(TargetId, u64)>> = const { Cell::new(None) };
}

/// The sender of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// The caller of the method that this thread performs, which sent the reference as an argument.
    Caller,
    /// The process that this thread has called, which returned the reference.
    Callee,
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
