//! The references in a request, until the server has them: it may never get that far.

use crate::error::Result;
use crate::marshaling::release_marshal_data;
use crate::orpc::Client;
use crate::registry::InterfaceInfo;
use crate::runtime::Runtime;
use obvia_rpc::vi_call::{CallError, TargetId};
use std::cell::Cell;
use windows_core::IUnknown;

/// References that were counted for the peer of a call, and are taken back if it does not get them. It is one word, which is zero for a call without any.
#[derive(Default)]
pub(super) struct Unsent(Cell<Option<Box<Given>>>);

struct Given {
    peer: u64,
    /// To objects of this process.
    own: Vec<(TargetId, u64)>,
    /// Written by the objects themselves.
    custom: Vec<Vec<u8>>,
}

impl Unsent {
    /// A reference to an object for the peer.
    pub(super) fn reference(&self, object: &IUnknown, info: &'static InterfaceInfo, peer: u64) -> Result<Vec<u8>> {
        let (runtime, client) = (Runtime::of_process()?, Client::Process(peer));
        if let Some(reference) = runtime.marshal_custom(object, info, client)? {
            self.note(peer, |given| given.custom.push(reference.clone()));
            return Ok(reference);
        }
        let made = runtime.marshal(object, info, client)?;
        if made.oxid == runtime.oxid() {
            self.note(peer, |given| given.own.push((made.target, made.public_refs.into())));
        }
        made.to_wire_with(0, runtime.handler_class_of(object, client))
    }

    fn note(&self, peer: u64, note: impl FnOnce(&mut Given)) {
        let fresh = || Box::new(Given { peer, own: Vec::new(), custom: Vec::new() });
        let mut given = self.0.take().unwrap_or_else(fresh);
        note(&mut given);
        self.0.set(Some(given));
    }

    /// The request was published. From now on the references are the server's, unless it says that it has looked at no argument. A server that says nothing
    /// may have them: then it gives them back, or they end with it.
    #[inline(always)]
    pub(super) fn is_published(&mut self, error: Option<&CallError>) {
        if self.0.get_mut().is_some() {
            self.settle(error);
        }
    }

    #[cold]
    fn settle(&mut self, error: Option<&CallError>) {
        if matches!(error, Some(CallError::Fault(status)) if status.is_before_arguments()) {
            return;
        }
        if let Some(given) = self.0.get_mut() {
            given.own.clear();
            given.custom.clear();
        }
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        for reference in &self.custom {
            // There may be nothing to give up, and nobody who would.
            let _ = release_marshal_data(reference);
        }
        if !self.own.is_empty()
            && let Ok(runtime) = Runtime::of_process()
        {
            runtime.exports().release(Client::Process(self.peer), std::mem::take(&mut self.own));
            runtime.clients().wake_all();
        }
    }
}
