//! The references in the response to a caller.

use crate::error::Result;
use crate::exports;
use crate::marshaling::{behind, released};
use crate::objref::ObjRef;
use crate::proxy::split_reference;
use crate::registry::InterfaceInfo;
use crate::server::Caller;
use windows_core::IUnknown;

impl Caller {
    /// Returns a reference to an object for the response: a custom reference where the object
    /// marshals itself.
    pub(crate) fn reference(&self, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Vec<u8>> {
        let Some(reference) = self.runtime.marshal_custom(object, info, self.holder())? else {
            let handler = self.runtime.handler_class_of(object, self.holder());
            return self.marshal(object, info)?.to_wire_with(0, handler);
        };
        Ok(self.note_custom(reference))
    }

    /// Returns the reference for the response of an object that is called over virtual interfaces.
    pub(crate) fn specialised(&self, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Option<Vec<u8>>> {
        let reference = self.runtime.marshal_specialised(object, info, self.holder())?;
        Ok(reference.map(|reference| self.note_custom(reference)))
    }

    fn note_custom(&self, reference: Vec<u8>) -> Vec<u8> {
        let sent = reference.clone();
        // The object may hold nothing to release, or its process may be gone.
        let release = Box::new(move || drop(released::release(&sent)));
        self.note(|sent| sent.custom.push(release));
        reference
    }

    /// Returns a standard reference to an object for the response.
    pub(crate) fn marshal(&self, object: &IUnknown, info: &'static InterfaceInfo) -> Result<ObjRef> {
        let holder = self.holder();
        let mut reference = self.runtime.marshal(object, info, holder)?;
        if reference.oxid == self.runtime.oxid() {
            self.note(|sent| sent.own.push((holder, reference.target, reference.public_refs.into())));
        } else if reference.oxid == self.oxid {
            // The method drops its pointer when the response has been sent. The reference to the
            // caller's object must outlive that pointer.
            let interface = exports::query(&behind(object), info)?;
            if let Some(imported) = split_reference(&interface, self.runtime.oxid())? {
                reference.public_refs = 1;
                self.note(|sent| sent.home.push(imported));
            }
        }
        Ok(reference)
    }
}
