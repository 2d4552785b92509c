//! A server's responses to bind, alter_context and auth3.

use super::ServerAssociation;
use crate::co::contexts::{Entry, OwnedToken};
use crate::co::pdu::{
    ACCEPTED, Bind, BindAck, BindNak, Context, FragmentSizes, LIMIT_EXCEEDED, Outcome, PduError, PduType, TrailerHead,
    Unit, flags,
};
use crate::co::{AssociationError, Denial, Presentation, features};
use crate::security::{AuthType, Level, SecurityError};
use crate::status::Status;
use std::ops::Range;

/// The maximum number of an association's presentation contexts.
const CONTEXTS_MAX: usize = 1024;
/// The flags that a server grants.
const GRANTED: u8 = flags::MULTIPLEX | flags::HEADER_SIGNING;

/// Reads a bind and its token.
fn read(bytes: &[u8]) -> Result<(Bind, OwnedToken), PduError> {
    let unit = Unit::open(bytes)?;
    Ok((Bind::read(&unit)?, unit.trailer.map(|trailer| (trailer.head, trailer.token.to_vec()))))
}

/// Returns the features that the server grants, if the first transfer syntax of a "context"
/// proposes features.
fn proposed_features(context: &Context) -> Option<u16> {
    features::granted(*context.transfers.first()?)
}

/// Whether a proposal is valid: it has at least one context, each context has a transfer syntax,
/// and at most one context proposes features.
fn is_sound(contexts: &[Context]) -> bool {
    let features = contexts.iter().filter_map(proposed_features).count();
    !contexts.is_empty() && contexts.iter().all(|context| !context.transfers.is_empty()) && features < 2
}

impl ServerAssociation {
    /// Answers a bind or an alter_context.
    pub(super) fn bind(
        &mut self,
        unit: Range<usize>,
        id: u32,
        judge: &mut dyn FnMut(&Context) -> Outcome,
    ) -> Result<(), AssociationError> {
        let (bind, trailer) = match read(self.input.bytes(unit)) {
            Ok(read) => read,
            Err(error) => {
                // An unreadable bind counts as another protocol version.
                self.refuse(id, self.is_bound, BindNak::VERSION);
                return Err(error.into());
            }
        };
        let group = if is_sound(&bind.contexts) { self.group(&bind) } else { None };
        let Some(group) = group else {
            self.refuse(id, bind.alters, BindNak::NOT_SPECIFIED);
            return Err(AssociationError::Proposal);
        };
        let token = match trailer.map(|(head, token)| self.authenticate(head, &token)).transpose() {
            Ok(token) => token.flatten(),
            // The existing security contexts stay valid (MS-RPCE 3.3.1.5.4).
            Err(SecurityError::TooManyContexts) => {
                self.refuse(id, bind.alters, BindNak::NOT_SPECIFIED);
                return Ok(());
            }
            Err(error) => {
                self.deny(&bind, &error);
                return Err(error.into());
            }
        };
        if !bind.alters {
            self.is_bound = true;
            self.granted = bind.flags & GRANTED;
            self.length = self.options.limits.sizes.agreed(bind.sizes);
        }
        let outcomes = match bind.contexts.iter().map(|context| self.judged(context, judge)).collect() {
            Ok(outcomes) => outcomes,
            Err(error) => {
                self.refuse(id, bind.alters, BindNak::NOT_SPECIFIED);
                return Err(error);
            }
        };
        let ack = BindAck {
            alters: bind.alters,
            // Multiplexing is negotiated only once, by the first bind.
            flags: if bind.alters { bind.flags & flags::HEADER_SIGNING } else { self.granted },
            call_id: bind.call_id,
            sizes: FragmentSizes { sent: self.length, received: self.length },
            group,
            secondary_address: if bind.alters { String::new() } else { self.options.secondary_address.clone() },
            outcomes,
        };
        let token = token.as_ref().map(|(head, token)| (*head, token.as_slice()));
        ack.write(&mut self.output, token);
        Ok(())
    }

    /// Returns the outcome of a context. Stores the context if it is accepted. Fails if an accepted
    /// context already has the identifier, and has another interface or a transfer syntax that is
    /// not proposed now.
    fn judged(
        &mut self,
        context: &Context,
        judge: &mut dyn FnMut(&Context) -> Outcome,
    ) -> Result<Outcome, AssociationError> {
        if let Some(features) = proposed_features(context) {
            return Ok(Outcome::negotiated(features));
        }
        let outcome = judge(context);
        if outcome.result != ACCEPTED {
            return Ok(outcome);
        }
        match self.presentation(context.id) {
            Some(known) if known.interface == context.interface && context.transfers.contains(&known.transfer) => {
                return Ok(Outcome::accepted(known.transfer));
            }
            Some(_) => return Err(AssociationError::Proposal),
            None if self.presentations.len() == CONTEXTS_MAX => return Ok(Outcome::refused(LIMIT_EXCEEDED)),
            None => self.presentations.push(Presentation::of(context, outcome.transfer)),
        }
        Ok(outcome)
    }

    /// Returns the number of the association group, or `None` if the client may not join it. The
    /// first bind joins the requested group.
    fn group(&mut self, bind: &Bind) -> Option<u32> {
        let Some(groups) = &self.options.groups else { return Some(bind.group.max(1)) };
        if !bind.alters {
            self.joined = groups.join(bind.group);
        }
        self.joined.as_ref().map(|joined| joined.number)
    }

    /// Refuses a proposal: an alter_context with a fault, a bind with a bind_nak.
    fn refuse(&mut self, id: u32, alters: bool, reason: u16) {
        if alters {
            self.put_fault(id, 0, Status::PROTOCOL_ERROR, flags::DID_NOT_EXECUTE);
        } else {
            BindNak::new(id, reason).write(&mut self.output);
        }
    }

    /// Processes a token. Returns the token for the answer. Fails if the security context is
    /// already established. Tokens are not protected, so an attacker could otherwise replace the
    /// context of running calls.
    fn authenticate(&mut self, head: TrailerHead, token: &[u8]) -> Result<OwnedToken, SecurityError> {
        let entry = match self.security.get_mut(head.context_id) {
            Some(entry) => entry,
            None => {
                let kind = AuthType(head.kind);
                let level = Level::from_wire(head.level).ok_or(SecurityError::Level(head.level))?;
                let acceptor = self.options.acceptor.as_ref().ok_or(SecurityError::UnknownType(kind))?;
                let context = acceptor.accept(kind, level)?;
                self.security.insert(Entry::new(head.context_id, kind, level, head.level, context))?
            }
        };
        let (step, head) = (entry.step(token)?, entry.head());
        if step.is_done {
            self.note_proof();
        }
        // A trailer is sent even if the token is empty, because it tells the client that the
        // exchange is complete.
        Ok(Some((head, step.token)))
    }

    /// Tells the client that the authentication failed.
    fn deny(&mut self, bind: &Bind, error: &SecurityError) {
        self.note_failed_proof();
        if bind.alters {
            let is_denied = *error == SecurityError::Denied;
            let status = if is_denied { Status::ACCESS_DENIED } else { Status::SEC_PKG_ERROR };
            self.put_fault(bind.call_id, 0, status, flags::DID_NOT_EXECUTE);
            return;
        }
        let reason = match error {
            SecurityError::Level(_) => BindNak::NOT_SPECIFIED,
            SecurityError::UnknownType(_) => BindNak::AUTH_TYPE,
            _ => BindNak::CHECKSUM,
        };
        BindNak::new(bind.call_id, reason).write(&mut self.output);
    }

    fn note_proof(&self) {
        if let Some(denial_observer) = &self.options.denial_observer {
            denial_observer.proved();
        }
    }

    fn note_failed_proof(&self) {
        if let Some(denial_observer) = &self.options.denial_observer {
            denial_observer.denied(Denial::Proof);
        }
    }

    /// Processes the third token of an authentication, which has no answer. If the token is wrong,
    /// the following calls are refused.
    pub(super) fn finish_authentication(&mut self, unit: Range<usize>) -> Result<(), AssociationError> {
        let trailer = Unit::open(self.input.bytes(unit))?.trailer.ok_or(PduError::Trailer)?;
        let entry = self.security.get_mut(trailer.head.context_id);
        let entry = entry.ok_or(AssociationError::OutOfTurn(PduType::AUTH3))?;
        if entry.step(trailer.token).is_ok_and(|step| step.is_done && step.token.is_empty()) {
            self.note_proof();
        } else {
            self.is_denied = true;
            self.note_failed_proof();
        }
        Ok(())
    }

    /// Answers input that is not a protocol data unit, or that is too long. The answer's call
    /// identifier consists of the bytes where a header would have its call identifier.
    pub(super) fn refuse_input(&mut self, error: PduError) -> AssociationError {
        if let Some([_, _, _, _, order, _, _, _, _, _, _, _, a, b, c, d]) = self.input.rest().first_chunk() {
            let id = if order & 0x10 == 0 { u32::from_be_bytes } else { u32::from_le_bytes }([*a, *b, *c, *d]);
            if self.is_bound {
                self.put_fault(id, 0, Status::PROTOCOL_ERROR, 0);
            } else {
                BindNak::new(id, BindNak::VERSION).write(&mut self.output);
            }
        }
        error.into()
    }
}
