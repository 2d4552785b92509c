//! The references in requests.

use crate::argument::Argument;
use crate::callee::{Callee, slices};
use crate::reference::State;
use crate::served::{pointer_for, unmarshalable};
use obvia::Error;
use obvia::dynamic::pointer;
use obvia_idl::frames::{References, Wrong};

/// The references in a request.
pub(crate) struct Outgoing<'a> {
    callee: &'a Callee,
    state: &'a State,
    pub(crate) references: Vec<Vec<u8>>,
}

impl<'a> Outgoing<'a> {
    pub(crate) fn new(callee: &'a Callee, state: &'a State) -> Self {
        Self { callee, state, references: Vec::new() }
    }

    /// Takes the references back, since the request is not sent.
    pub(crate) fn take_back(self) {
        if let (Ok(pointer), false) = (self.callee.pointer(), self.references.is_empty()) {
            // If the connection is gone, the references are, too.
            let _ = pointer::take_back(pointer, &slices(&self.references));
        }
    }
}

impl<'py> References<Argument<'py>> for Outgoing<'_> {
    fn reference(&mut self, object: &Argument<'py>, iid: u128) -> Result<Vec<u8>, Wrong> {
        let (py, callee, state) = (object.value.py(), self.callee, self.state);
        let wrong = |error: Error| unmarshalable(object, &error);
        let interface = py.detach(|| state.server.named_by(state.interface, iid.into())).map_err(wrong)?;
        let given = pointer_for(object, interface)?;
        let made = py.detach(|| pointer::reference(callee.pointer()?, given.get(), interface.info)).map_err(wrong)?;
        self.references.push(made.clone());
        Ok(made)
    }
}
