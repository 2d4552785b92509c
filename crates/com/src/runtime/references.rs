//! Makes references to objects of any process for clients, and finds the interface pointers to
//! which references lead.

use super::Runtime;
use super::marshaling::{release_custom, unwrapped};
use super::returned::{self, Sender};
use crate::client::link::Link;
use crate::client::own_target;
use crate::client::proxy::{import, is_imported, look_behind};
use crate::orpc::{Client, ClientNumber, ObjRef as Any};
use crate::protocol::objref::{ObjRef, securities_for};
use crate::server::{self, exports};
use crate::types::error::{Error, Result, code};
use crate::types::registry::{self, InterfaceInfo};
use std::sync::Arc;
use windows_core::{IUnknown, Interface};

/// The greatest number of attempts to count a reference for the client at the other end of a link.
/// If the client leaves during an attempt, the next attempt determines the client anew.
const RECEIVERS_MAX: usize = 4;

/// The reference count that travels with an interface pointer, as in DCOM.
pub(super) const REFS_PER_POINTER: u32 = 5;

impl Runtime {
    /// Returns the client for which references in calls over a link are counted. If the process at
    /// the link's other end is not connected to this process, it is expected as a client from now
    /// on.
    pub(crate) fn receiver_behind(&self, link: &Link) -> Client {
        Client::Process(self.clients().expect(link.oxid(), link.found(), || link.place()))
    }

    /// Returns the client number of the process at the other end of a link, if it has one.
    pub(super) fn number_behind(&self, link: &Link) -> Option<ClientNumber> {
        self.clients().number_behind(link.oxid(), link.found(), || link.place())
    }

    /// Returns the process at the other end of a link as a client. If the client returns an object
    /// of this process in a response, it gives up its references to the object. `None` if the
    /// process has no number as a client.
    pub(crate) fn giver_behind(&self, link: &Link) -> Option<Client> {
        self.number_behind(link).map(Client::Process)
    }

    /// Marshals an object of this process, with references counted for `client`.
    pub(crate) fn marshal_own(
        &'static self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        client: Client,
    ) -> Result<ObjRef> {
        self.serve()?;
        registry::register_module(info);
        let found = self.exports().add(object, info, client, REFS_PER_POINTER.into())?;
        // The look-up returns the bindings by which the client reaches this process. Its success
        // also shows that the client had not left when the references were counted.
        let Some(bindings) = self.bindings_while_there(client) else {
            // The client has left, perhaps before the references were counted. In this case the
            // references were not dropped when the client left, and no later client releases them.
            self.exports().release(client, [(found.target, REFS_PER_POINTER.into())]);
            return Err(gone());
        };
        Ok(ObjRef {
            iid: info.iid,
            public_refs: REFS_PER_POINTER,
            oxid: self.oxid(),
            oid: found.oid,
            target: found.target,
            bindings,
            securities: securities_for(client),
        })
    }

    /// Marshals an object of any process for the process at the other end of a link, which is the
    /// client `receiver`. Returns the reference, and the client for which it is counted. If the
    /// receiver leaves before the reference is counted, the client at the link's other end is
    /// determined anew.
    pub(crate) fn marshal_for(
        &'static self,
        link: &Link,
        mut receiver: Client,
        object: &IUnknown,
        info: &'static InterfaceInfo,
    ) -> Result<(Client, ObjRef)> {
        let mut left = RECEIVERS_MAX;
        loop {
            let made = self.marshal(object, info, receiver);
            left -= 1;
            if made.is_ok() || left == 0 || self.is_there(receiver) {
                return made.map(|made| (receiver, made));
            }
            receiver = self.receiver_behind(link);
        }
    }

    /// Whether a receiver of references is still a client or an expected process.
    fn is_there(&self, receiver: Client) -> bool {
        let Client::Process(process) = receiver else { return true };
        self.clients().oxid_of(process).is_some()
    }

    /// Marshals an object of any process for `client`.
    pub(crate) fn marshal(
        &'static self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        client: Client,
    ) -> Result<ObjRef> {
        let interface = exports::query(&unwrapped(object), info)?;
        // Other processes cannot count references for a client that is not an obvia process. Such a
        // client calls their objects through this process.
        let (Some(imported), Client::Process(process)) = (look_behind(&interface), client) else {
            return self.marshal_own(&interface, info, client);
        };
        let (oxid, place) = self.clients().whereabouts(process).ok_or_else(gone)?;
        let mut public_refs = 0;
        if oxid != imported.link.oxid() {
            own_target::transfer(&imported.link, imported.target, (oxid, Some(&place)), REFS_PER_POINTER)?;
            public_refs = REFS_PER_POINTER;
        }
        Ok(ObjRef {
            iid: info.iid,
            public_refs,
            oxid: imported.link.oxid(),
            oid: imported.oid,
            target: imported.target,
            bindings: imported.link.bindings(),
            securities: Vec::new(),
        })
    }

    /// Returns the interface pointer for a reference: a proxy, or the object itself if it belongs
    /// to this process. A caller may name only objects of this process to which it has references,
    /// or which it may call. Otherwise a caller could forge a reference to any object, and a method
    /// would use the object for the caller.
    pub(crate) fn unmarshal(
        &'static self,
        reference: &ObjRef,
        info: &'static InterfaceInfo,
        sender: Sender<'_>,
    ) -> Result<IUnknown> {
        registry::register_for_calls(info);
        if reference.oxid == self.oxid() {
            // The count is 0 where the sender keeps its own reference until this process has the
            // object.
            if reference.public_refs > 0 {
                returned::note_return(reference.target, reference.public_refs.into());
            }
            if matches!(sender, Sender::Caller) && self.rules().is_used() {
                server::caller().ok_or(code::E_ACCESSDENIED)?.check_named(reference.target)?;
            }
            let object = self.exports().get(reference.target)?.object;
            return exports::query(object.get(), info);
        }
        self.with_link_for(reference, |link| self.import_from(sender, link, reference, info))
    }

    /// Gives back a received reference that will not be unmarshaled.
    pub(crate) fn refuse(&'static self, any: &Any) {
        let refuse_standard = |reference: ObjRef| -> Result<()> {
            if reference.oxid == self.oxid() {
                returned::note_return(reference.target, reference.public_refs.into());
                return Ok(());
            }
            self.with_link_for(&reference, |link| {
                link.give_back(reference.target, reference.public_refs);
                Ok(())
            })
        };
        // The sender learns from the call's error that the reference was refused. If giving the
        // reference back fails, this second error cannot be reported.
        let _ = match any {
            Any::Custom { clsid, data, .. } => release_custom(clsid, data.clone()),
            any => ObjRef::from_any(any).and_then(refuse_standard),
        };
    }

    /// Returns the interface pointer for a reference that came over a link. The proxy uses this
    /// link, even if there is a better binding.
    pub(crate) fn adopt(
        &'static self,
        link: &Arc<Link>,
        reference: &ObjRef,
        info: &'static InterfaceInfo,
    ) -> Result<IUnknown> {
        if reference.oxid != link.oxid() {
            return self.unmarshal(reference, info, Sender::Callee(Some(link)));
        }
        link.learn(&reference.bindings);
        self.import(link, reference, info)
    }

    /// Returns the proxy for a reference as [`Self::import`] does, if another process than the
    /// object's may have sent the reference. By stating a false interface, that process could
    /// choose the method that this process calls. Therefore the object's process is asked for the
    /// interface, once for each proxy.
    pub(crate) fn import_from(
        &self,
        sender: Sender<'_>,
        link: &Arc<Link>,
        reference: &ObjRef,
        info: &'static InterfaceInfo,
    ) -> Result<IUnknown> {
        let is_believed = !own_target::must_confirm(link, reference) || sender.is_behind(link, self);
        if is_believed || is_imported(link, reference) {
            return self.import(link, reference, info);
        }
        let refuse = |_: &_| link.give_back(reference.target, reference.public_refs);
        let stated =
            if reference.iid == info.iid { info } else { registry::find(&reference.iid).inspect_err(refuse)? };
        link.bind_aside(stated).inspect_err(refuse)?;
        let public_refs = own_target::confirm(link, reference)?;
        let (bindings, securities) = (Vec::new(), Vec::new());
        self.import(link, &ObjRef { public_refs, bindings, securities, ..*reference }, info)
    }

    /// Returns the proxy for a reference to an object of the process at the other end of a link.
    /// The reference is given back if this process does not know its interface.
    pub(crate) fn import(
        &self,
        link: &Arc<Link>,
        reference: &ObjRef,
        info: &'static InterfaceInfo,
    ) -> Result<IUnknown> {
        // If the reference is to another interface than the wanted interface, the proxy is made for
        // the reference's interface, and then queried for the wanted interface.
        let carrier = if reference.iid == info.iid {
            info
        } else {
            let refuse = |_: &_| link.give_back(reference.target, reference.public_refs);
            registry::find(&reference.iid).inspect_err(refuse)?
        };
        let pointer = import(link, reference.oid, reference.target, reference.public_refs, carrier);
        // SAFETY: `import` returns a counted interface pointer, which begins with IUnknown's
        // methods.
        let proxy = unsafe { IUnknown::from_raw(pointer.as_ptr()) };
        if reference.iid == info.iid { Ok(proxy) } else { exports::query(&proxy, info) }
    }
}

fn gone() -> Error {
    Error::new(code::RPC_E_DISCONNECTED, "the process that was to receive the reference has ended")
}

#[cfg(test)]
mod tests;
