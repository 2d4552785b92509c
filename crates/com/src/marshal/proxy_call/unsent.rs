//! The references in a request until the server has received them.

use crate::client::link::Link;
use crate::orpc::{Client, ObjRef as Any};
use crate::protocol::objref::{ObjRef, parse};
use crate::protocol::own_calls;
use crate::runtime::Runtime;
use crate::runtime::marshaling::received;
use crate::types::deadline;
use crate::types::error::Result;
use crate::types::registry::InterfaceInfo;
use crate::types::upkeep;
use obvia_rpc::vi_call::{CallError, Channel, TargetId};
use std::cell::Cell;
use windows_core::IUnknown;

/// The references that were counted for the peer of a call. They are taken back if the peer does
/// not receive them. The value is one word, which is zero for a call without references.
#[derive(Default)]
pub(crate) struct Unsent(Cell<Option<Box<RequestReferences>>>);

/// The references in a request.
#[derive(Default)]
struct RequestReferences {
    /// References to objects of this process, and the client for which each is counted.
    own: Vec<(Client, TargetId, u64)>,
    /// Custom references, which the objects marshaled themselves.
    custom: Vec<Vec<u8>>,
}

impl Unsent {
    /// Marshals a reference to an object for the process to which a link leads.
    pub(crate) fn reference(&self, object: &IUnknown, info: &'static InterfaceInfo, link: &Link) -> Result<Vec<u8>> {
        let runtime = Runtime::current()?;
        let receiver = runtime.receiver_behind(link);
        if let Some(reference) = runtime.marshal_custom(object, info, receiver)? {
            self.note(|given| given.custom.push(reference.clone()));
            return Ok(reference);
        }
        let (receiver, made) = runtime.marshal_for(link, receiver, object, info)?;
        if made.oxid == runtime.oxid() {
            self.note(|given| given.own.push((receiver, made.target, made.public_refs.into())));
        }
        made.to_wire_with(0, runtime.handler_class_of(object, receiver))
    }

    /// Takes over references that were marshaled earlier for the process to which a link leads.
    pub(crate) fn of(references: &[&[u8]], link: &Link) -> Result<Self> {
        let (runtime, unsent) = (Runtime::current()?, Self::default());
        if references.is_empty() {
            return Ok(unsent);
        }
        let receiver = runtime.receiver_behind(link);
        for reference in references {
            match parse(reference)? {
                Any::Custom { .. } => unsent.note(|given| given.custom.push(reference.to_vec())),
                any => {
                    let made = ObjRef::from_any(&any)?;
                    if made.oxid == runtime.oxid() {
                        unsent.note(|given| given.own.push((receiver, made.target, made.public_refs.into())));
                    }
                }
            }
        }
        Ok(unsent)
    }

    fn note(&self, note: impl FnOnce(&mut RequestReferences)) {
        let mut given = self.0.take().unwrap_or_default();
        note(&mut given);
        self.0.set(Some(given));
    }

    /// Transfers the references to the server after the request was published. If the server
    /// reports that it has not read the arguments, the references are taken back. Otherwise the
    /// server counts as their holder: the server gives the references back, or they are dropped
    /// when the server ends.
    #[inline(always)]
    pub(crate) fn is_published(&mut self, error: Option<&CallError>) {
        if self.0.get_mut().is_some() {
            self.settle(error);
        }
    }

    /// Transfers the references to the server after a one-way request was published. Sends a list
    /// of the references to this process's own objects. The server returns these references if it
    /// refuses the call. Custom references, and all references in datagrams, stay counted until the
    /// server ends.
    #[inline]
    pub(crate) fn is_published_oneway(&mut self, channel: &mut Channel, link: &Link) {
        if self.0.get_mut().is_some() {
            self.tell(channel, link);
        }
    }

    #[cold]
    fn tell(&mut self, channel: &mut Channel, link: &Link) {
        upkeep::start();
        if let Some(given) = self.0.get_mut()
            && !given.own.is_empty()
            && link.returns_refused_references()
        {
            // The call itself was sent. If the list cannot be sent and the server refuses the call,
            // the references stay counted until the server ends.
            let own: Vec<_> = given.own.iter().map(|(_, target, refs)| (*target, *refs)).collect();
            let _ = own_calls::list_references(channel, &own);
        }
        self.settle(None);
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

impl Drop for RequestReferences {
    fn drop(&mut self) {
        for reference in &self.custom {
            // An error is ignored: the object may have nothing to release, or its process may be
            // gone.
            let _ = deadline::to_clean_up(|| received::release(reference));
        }
        if !self.own.is_empty()
            && let Ok(runtime) = Runtime::current()
        {
            for alike in self.own.chunk_by(|(one, ..), (other, ..)| one == other) {
                runtime.exports().release(alike[0].0, alike.iter().map(|(_, target, refs)| (*target, *refs)));
            }
        }
    }
}
