//! References to objects of any process, for clients, and the interface pointers that references
//! stand for.

use super::marshaling::{release_custom, unwrapped};
use super::{Runtime, returned};
use crate::client::link::Link;
use crate::client::own_target;
use crate::client::proxy::{import, look_behind};
use crate::orpc::{Client, ClientNumber, ObjRef as Any};
use crate::protocol::objref::{ObjRef, securities_for};
use crate::server::exports;
use crate::types::error::{Error, Result, code};
use crate::types::registry::{self, InterfaceInfo};
use std::sync::Arc;
use windows_core::{IUnknown, Interface};

/// The greatest number of attempts to count a reference for its receiver. If the client leaves
/// meanwhile, the next attempt is for the client that follows it.
const RECEIVERS_MAX: usize = 4;

/// The reference count that travels with an interface pointer, as in DCOM.
pub(super) const REFS_PER_POINTER: u32 = 5;

impl Runtime {
    /// Returns the client for which references are counted in calls over a link. If the process at
    /// the other end has not connected, it is expected as a client from now on.
    pub(crate) fn receiver_behind(&self, link: &Link) -> Client {
        Client::Process(self.clients().expect(link.oxid(), link.found(), || link.place()))
    }

    /// Returns the client number of the process at the other end of a link, if it has one.
    pub(super) fn number_behind(&self, link: &Link) -> Option<ClientNumber> {
        self.clients().number_behind(link.oxid(), link.found(), || link.place())
    }

    /// Returns the process at the other end of a link as a client. This client gives up its
    /// references to those objects of this process that it returns in responses. `None` if the
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
        // One look-up shows both that the client had not left when the references were counted, and
        // by which bindings the client reaches this process.
        let Some(bindings) = self.bindings_while_there(client) else {
            // The client has left, so neither its end nor a client that follows it releases these
            // references.
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
    /// receiver leaves meanwhile, the reference is counted for the client that follows it.
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

    /// Whether a receiver of references is a client or an expected process.
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

    /// Returns the interface pointer that a reference stands for: a proxy, or the object itself if
    /// it belongs to this process.
    pub(crate) fn unmarshal(&'static self, reference: &ObjRef, info: &'static InterfaceInfo) -> Result<IUnknown> {
        registry::register_for_calls(info);
        if reference.oxid == self.oxid() {
            // The count is 0 where the sender keeps its own reference until this process has the
            // object.
            if reference.public_refs > 0 {
                returned::note_return(reference.target, reference.public_refs.into());
            }
            let object = self.exports().get(reference.target)?.object;
            return exports::query(object.get(), info);
        }
        self.with_link_for(reference, |link| self.import(link, reference, info))
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
            return self.unmarshal(reference, info);
        }
        link.learn(&reference.bindings);
        self.import(link, reference, info)
    }

    /// Returns the proxy for a reference to an object of the process behind a link. The reference
    /// is given back if this process does not know its interface.
    pub(crate) fn import(
        &self,
        link: &Arc<Link>,
        reference: &ObjRef,
        info: &'static InterfaceInfo,
    ) -> Result<IUnknown> {
        // If the reference is to another interface than the wanted one, the proxy is made for the
        // reference's interface, and then queried for the wanted one.
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
mod tests {
    use super::*;
    use crate::client::proxy::UNKNOWN_INFO;
    use crate::services::process;
    use crate::types::identity;
    use obvia_rpc::vi_call::TargetId;
    use obvia_via::Deadline;
    use std::time::{Duration, Instant};
    use windows_core::GUID;

    #[obvia::object()]
    struct Object;

    /// Returns a reference to a new object of this process, counted for the client behind a link.
    fn given(runtime: &'static Runtime, link: &Link) -> ObjRef {
        runtime.marshal_own(&IUnknown::from(Object), &UNKNOWN_INFO, runtime.receiver_behind(link)).unwrap()
    }

    /// Returns the runtime, a link to this process, and a reference that the runtime has received
    /// over the link.
    fn referenced() -> (&'static Runtime, Arc<Link>, ObjRef) {
        let runtime = process::runtime().unwrap();
        let link = Arc::new(Link::to_itself());
        let known = given(runtime, &link);
        (runtime, link, known)
    }

    /// Drops a proxy, and checks that its object loses the last reference then, and not before.
    fn drop_last(runtime: &Runtime, link: &Link, target: TargetId, proxy: IUnknown) {
        assert!(link.flush_releases(Deadline::Within(ground::LATEST)));
        assert!(runtime.exports().get(target).is_ok());
        drop(proxy);
        assert!(link.flush_releases(Deadline::Within(ground::LATEST)));
        assert!(runtime.exports().get(target).is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_refused_reference_to_a_proxys_target_does_not_end_the_proxy() {
        let (runtime, link, known) = referenced();
        let target = known.target;
        let proxy = runtime.import(&link, &known, &UNKNOWN_INFO).unwrap();
        let forged = ObjRef { iid: GUID::from_u128(0x5d1c_9e1a), public_refs: u32::MAX / 2, ..known };
        assert!(runtime.import(&link, &forged, &UNKNOWN_INFO).is_err());
        drop_last(runtime, &link, target, proxy);
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_refused_reference_does_not_end_a_proxy_that_is_made_before_it_is_given_back() {
        let (runtime, link, known) = referenced();
        let forged =
            ObjRef { iid: GUID::from_u128(0x5d1c_9e1a), bindings: Vec::new(), securities: Vec::new(), ..known };
        assert!(runtime.import(&link, &forged, &UNKNOWN_INFO).is_err());
        let proxy = runtime.import(&link, &known, &UNKNOWN_INFO).unwrap();
        drop_last(runtime, &link, known.target, proxy);
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_proxy_with_a_forged_oid_does_not_end_another_proxy_of_its_target() {
        let (runtime, link, known) = referenced();
        let target = known.target;
        let proxy = runtime.import(&link, &known, &UNKNOWN_INFO).unwrap();
        let forged = ObjRef { oid: !known.oid, public_refs: u32::MAX / 2, ..known };
        drop(runtime.import(&link, &forged, &UNKNOWN_INFO).unwrap());
        drop_last(runtime, &link, target, proxy);
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn an_unreached_reference_does_not_end_the_proxy_whose_reference_opens_the_link() {
        let (runtime, other, known) = referenced();
        let unused = given(runtime, &other);
        let target = known.target;
        for (target, public_refs) in [(target, u32::MAX / 2), (unused.target, unused.public_refs)] {
            let (bindings, securities) = (Vec::new(), Vec::new());
            let unreached = ObjRef { target, public_refs, bindings, securities, ..known };
            runtime.unreached.add(&unreached, Instant::now(), ground::LATEST);
        }
        let import = |link: &Arc<Link>| Ok((Arc::clone(link), runtime.import(link, &known, &UNKNOWN_INFO)?));
        let (link, proxy) = runtime.with_link_for(&known, import).unwrap();
        ground::until("the other reference is given back", || runtime.exports().get(unused.target).is_err());
        assert!(runtime.exports().get(target).is_ok());
        drop(proxy);
        ground::until("the references are given back with the proxy", || runtime.exports().get(target).is_err());
        assert!(link.is_unused());
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn the_reference_count_of_a_proxy_does_not_wrap() {
        let (runtime, link, mut known) = referenced();
        let proxy = runtime.import(&link, &known, &UNKNOWN_INFO).unwrap();
        known.public_refs = u32::MAX;
        let same = runtime.import(&link, &known, &UNKNOWN_INFO).unwrap();
        drop((proxy, same));
        assert!(link.flush_releases(Deadline::Within(ground::LATEST)));
        assert!(runtime.exports().get(known.target).is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn references_are_counted_for_no_client_that_has_left() {
        let runtime = process::runtime().unwrap();
        let (link, object) = (Link::to_another(identity::draw().unwrap()), IUnknown::from(Object));
        let forget = |receiver| {
            let forgotten = |number| Client::Process(number) == receiver;
            runtime.clients().forget_expected(Instant::now(), Duration::ZERO, forgotten);
        };
        let left = runtime.receiver_behind(&link);
        forget(left);
        let refused = runtime.marshal_own(&object, &UNKNOWN_INFO, left).err().map(|error| error.code());
        assert_eq!(refused, Some(code::RPC_E_DISCONNECTED));
        let Client::Process(number) = left else { panic!("a process has a number") };
        assert_eq!(runtime.exports().held_by(number), 0);
        // The reference to pass on is counted for the client that follows the one that has left.
        let (receiver, made) = runtime.marshal_for(&link, left, &object, &UNKNOWN_INFO).unwrap();
        assert!(receiver != left && runtime.is_there(receiver));
        runtime.exports().release(receiver, [(made.target, made.public_refs.into())]);
        forget(receiver);
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_reference_to_an_unknown_interface_is_given_back() {
        let (runtime, link, known) = referenced();
        let unknown = ObjRef { iid: GUID::from_u128(0x5d1c_9e1a), ..known };
        assert!(runtime.import(&link, &unknown, &UNKNOWN_INFO).is_err());
        assert!(runtime.exports().get(unknown.target).is_ok());
        assert!(link.flush_releases(Deadline::Within(ground::LATEST)));
        assert!(runtime.exports().get(unknown.target).is_err());
    }
}
