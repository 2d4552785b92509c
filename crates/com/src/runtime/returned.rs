//! Objects of this process that other processes pass back, with their references.

use super::Runtime;
use crate::client::link::Link;
use crate::orpc::Client;
use crate::server;
use obvia_rpc::vi_call::TargetId;
use std::cell::Cell;

thread_local! {
    /// The object of this process that this thread unmarshaled last, with the number of references
    /// that its sender gave up.
    static RETURNED: Cell<Option<(TargetId, u64)>> = const { Cell::new(None) };
}

/// The sender of a reference.
#[derive(Clone, Copy)]
pub(crate) enum Sender<'a> {
    /// The caller of the method that this thread performs, which sent the reference as an argument.
    Caller,
    /// The process that this thread has called, and that returned the reference. The value is the
    /// link to this process; `None` if the reply does not name its link.
    Callee(Option<&'a Link>),
}

impl Sender<'_> {
    /// Returns the sender as a client of this process. A client that sends an object of this
    /// process gives up its references to the object. `None` for a callee that is no client of this
    /// process.
    pub(crate) fn giver(self) -> Option<Client> {
        match self {
            Self::Caller => Some(server::caller()?.holder()),
            Self::Callee(link) => Runtime::current().ok()?.giver_behind(link?),
        }
    }

    /// Whether the sender is the process at the other end of a link.
    pub(super) fn is_behind(self, link: &Link, runtime: &Runtime) -> bool {
        match self {
            Self::Caller => {
                let caller = server::caller().and_then(|caller| caller.number);
                caller.is_some() && caller == runtime.number_behind(link)
            }
            Self::Callee(callee) => callee.is_some_and(|callee| callee.leads_where(link)),
        }
    }
}

/// Records that this thread has unmarshaled an object of this process, and the number of references
/// that the sender gave up.
pub(crate) fn note_return(target: TargetId, refs: u64) {
    RETURNED.set(Some((target, refs)));
}

/// Takes the object of the last [`note_return`], if it was not taken before.
pub(crate) fn take_return() -> Option<(TargetId, u64)> {
    RETURNED.take()
}
