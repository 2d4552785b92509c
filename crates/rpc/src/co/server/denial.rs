//! Refusals of calls because of the client's identity or the call's protection.

use super::super::assembly::{Origin, Stub};
use super::super::pdu::Unit;
use super::super::verification::{Mismatch, Verified};
use super::{Denial, Exemption, Head, Presentation, ServerAssociation};
use crate::security::Level;
use crate::status::Status;
use std::ops::Range;

impl ServerAssociation {
    /// Reports the refusal of a call to the observer.
    pub(super) fn note_denied(&self, origin: Origin, head: &Head) {
        let Some(denial_observer) = &self.options.denial_observer else { return };
        let interface = self.presentation(head.context_id).map(|presentation| presentation.interface);
        let maker = origin.security.and_then(|security| self.security.get(security.context_id));
        let maker = maker.and_then(|entry| entry.peer.as_ref());
        denial_observer.denied(Denial::Call { interface, opnum: head.opnum, maker });
    }

    /// Returns the exemption from the minimum level that applies to a call, if there is one.
    pub(super) fn exemption(&self, context_id: u16, opnum: u16) -> Option<&Exemption> {
        let presentation = self.presentation(context_id)?;
        self.options.exemptions.iter().find(|exemption| exemption.holds_for(presentation, opnum))
    }

    /// Whether a call is accepted although its client's authentication failed. Such a call has to
    /// be exempt, and must not be encrypted.
    pub(super) fn is_exempt_without_proof(&self, context_id: u16, opnum: u16, unit: Range<usize>) -> bool {
        let is_clear = || Unit::open(self.input.bytes(unit)).ok()?.trailer.map(|trailer| trailer.head.level);
        self.is_denied
            && self.exemption(context_id, opnum).is_some_and(|exemption| exemption.least.is_none())
            && is_clear().and_then(Level::from_wire).is_some_and(|level| level < Level::Privacy)
    }

    /// Whether a call is refused because its client's authentication failed, or because its
    /// protection is too weak.
    pub(super) fn denies(&self, origin: Origin, head: &Head) -> bool {
        let level = origin.security.map(|security| security.level);
        if !self.is_denied && level >= self.options.least {
            return false;
        }
        let exempt = self.exemption(head.context_id, head.opnum);
        exempt.is_none_or(|exemption| level < exemption.least || self.is_denied && exemption.least.is_some())
    }

    /// Checks the verification trailer of a signed call, if there is one, and removes the trailer
    /// from the stub data. Returns the call's presentation context.
    ///
    /// # Errors
    ///
    /// The status of the fault for the caller.
    pub(super) fn verify(
        &mut self,
        call_id: u32,
        origin: Origin,
        head: &Head,
        presentation: Presentation,
        stub: &mut Stub,
    ) -> Result<Presentation, Status> {
        if origin.security.is_none_or(|security| security.level <= Level::Connect) {
            return Ok(presentation);
        }
        let verified = Verified { presentation, call_id, opnum: head.opnum, order: origin.order };
        match verified.check(stub.bytes(&self.input, &self.assemblies)) {
            Ok(length) => stub.truncate(&mut self.assemblies, length),
            Err(Mismatch) => {
                self.note_denied(origin, head);
                return Err(Status::ACCESS_DENIED);
            }
        }
        Ok(presentation)
    }
}
