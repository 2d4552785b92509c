//! The references in the response to a caller.

use super::Runtime;
use crate::client::proxy::split_reference;
use crate::protocol::objref::ObjRef;
use crate::runtime::marshaling::{received, unwrapped};
use crate::server::Caller;
use crate::server::exports;
use crate::types::error::Result;
use crate::types::registry::InterfaceInfo;
use windows_core::IUnknown;

/// Returns a reference to an object for the response: a custom reference where the object
/// marshals itself.
pub(crate) fn reference(caller: &Caller, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Vec<u8>> {
    let runtime = Runtime::current()?;
    let Some(reference) = runtime.marshal_custom(object, info, caller.holder())? else {
        let handler = runtime.handler_class_of(object, caller.holder());
        return marshal(caller, object, info)?.to_wire_with(0, handler);
    };
    Ok(note_custom(caller, reference))
}

/// Returns a custom reference to an object for the response if the object is called over virtual
/// interfaces. `None` for other objects.
pub(crate) fn specialised(caller: &Caller, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Option<Vec<u8>>> {
    let reference = Runtime::current()?.marshal_specialised(object, info, caller.holder())?;
    Ok(reference.map(|reference| note_custom(caller, reference)))
}

fn note_custom(caller: &Caller, reference: Vec<u8>) -> Vec<u8> {
    let sent = reference.clone();
    // An error is ignored: the object may have nothing to release, or its process may be gone.
    let release = Box::new(move || drop(received::release(&sent)));
    caller.note(|sent| sent.others.push(release));
    reference
}

/// Returns a standard reference to an object for the response.
pub(crate) fn marshal(caller: &Caller, object: &IUnknown, info: &'static InterfaceInfo) -> Result<ObjRef> {
    let (runtime, holder) = (Runtime::current()?, caller.holder());
    let mut reference = runtime.marshal(object, info, holder)?;
    if reference.oxid == runtime.oxid() {
        caller.note(|sent| sent.own.push((holder, reference.target, reference.public_refs.into())));
    } else if reference.oxid == caller.oxid {
        // The method drops its pointer when the response has been sent. The reference to the
        // caller's object must outlive that pointer.
        let interface = exports::query(&unwrapped(object), info)?;
        if let Some(imported) = split_reference(&interface, runtime.oxid())? {
            reference.public_refs = 1;
            caller.note(|sent| sent.others.push(Box::new(move || imported.link.give_back(imported.target, 1))));
        }
    }
    Ok(reference)
}
