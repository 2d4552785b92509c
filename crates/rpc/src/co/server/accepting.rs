//! How a server answers bind, alter_context and auth3.

use super::ServerAssociation;
use crate::co::contexts::Entry;
use crate::co::pdu::{
    ACCEPTED, Bind, BindAck, BindNak, Context, FragmentSizes, Header, Outcome, PduError, PduType, TrailerHead, Unit,
    flags,
};
use crate::co::{AssociationError, Presentation, features};
use crate::security::{AuthType, Level, SecurityError};
use crate::status::Status;
use std::ops::Range;

/// Presentation contexts that one association may have.
const CONTEXTS_MAX: usize = 1024;
/// Refused: the server has no room for more (C706 12.6.3.1, local_limit_exceeded).
const LIMIT_EXCEEDED: u16 = 3;
/// What a server grants.
const GRANTED: u8 = flags::MULTIPLEX | flags::HEADER_SIGNING;

impl ServerAssociation {
    /// Answers a bind or an alter_context.
    pub(super) fn bind(
        &mut self,
        unit: Range<usize>,
        judge: &mut dyn FnMut(&Context) -> Outcome,
    ) -> Result<(), AssociationError> {
        let bytes = self.input.bytes(unit);
        let opened = Unit::open(bytes)?;
        let bind = Bind::read(&opened)?;
        let trailer = opened.trailer.map(|trailer| (trailer.head, trailer.token.to_vec()));
        let token = match trailer.map(|(head, token)| self.authenticate(head, &token)).transpose() {
            Ok(token) => token.flatten(),
            Err(error) => {
                self.deny(&bind, &error);
                return Err(error.into());
            }
        };
        if !bind.alters {
            self.is_bound = true;
            self.granted = bind.flags & GRANTED;
            let own = self.options.limits.sizes.sent.max(FragmentSizes::LEAST);
            // Every side has to take fragments of the least length, whatever it says.
            self.length = bind.sizes.received.clamp(FragmentSizes::LEAST, own);
            if bind.group != 0 {
                self.group = bind.group;
            }
        }
        let outcomes = bind.contexts.iter().map(|context| self.judged(context, judge)).collect();
        let ack = BindAck {
            alters: bind.alters,
            flags: self.granted,
            call_id: bind.call_id,
            sizes: self.sizes(bind.sizes),
            group: self.group,
            secondary_address: if bind.alters { String::new() } else { self.options.secondary_address.clone() },
            outcomes,
        };
        let token = token.as_ref().map(|(head, token)| (*head, token.as_slice()));
        ack.write(&mut self.output, token);
        Ok(())
    }

    /// The lengths that both sides can do.
    fn sizes(&self, theirs: FragmentSizes) -> FragmentSizes {
        let own = self.options.limits.sizes.received.max(FragmentSizes::LEAST);
        FragmentSizes { sent: self.length, received: theirs.sent.clamp(FragmentSizes::LEAST, own) }
    }

    /// What becomes of a context; it is noted when accepted.
    fn judged(&mut self, context: &Context, judge: &mut dyn FnMut(&Context) -> Outcome) -> Outcome {
        if let Some(features) = context.transfers.iter().find_map(|syntax| features::granted(*syntax)) {
            return Outcome::negotiated(features);
        }
        let outcome = judge(context);
        if outcome.result != ACCEPTED {
            return outcome;
        }
        let presentation = Presentation::of(context, outcome.transfer);
        self.presentations.retain(|known| known.id != context.id);
        if self.presentations.len() == CONTEXTS_MAX {
            return Outcome::refused(LIMIT_EXCEEDED);
        }
        self.presentations.push(presentation);
        outcome
    }

    /// Takes a token. Returns the one to be sent with the answer.
    fn authenticate(
        &mut self,
        head: TrailerHead,
        token: &[u8],
    ) -> Result<Option<(TrailerHead, Vec<u8>)>, SecurityError> {
        let entry = match self.security.get_mut(head.context_id) {
            Some(entry) if !entry.is_done => entry,
            _ => {
                let kind = AuthType(head.kind);
                let level = Level::from_wire(head.level).ok_or(SecurityError::Level(head.level))?;
                let acceptor = self.options.acceptor.as_ref().ok_or(SecurityError::UnknownType(kind))?;
                let context = acceptor.accept(kind, level)?;
                self.security.insert(Entry { id: head.context_id, kind, level, context, is_done: false })?
            }
        };
        let step = entry.step(token)?;
        Ok((!step.token.is_empty()).then(|| (entry.head(), step.token)))
    }

    /// Tells the client that it could not be authenticated.
    fn deny(&mut self, bind: &Bind, error: &SecurityError) {
        if bind.alters {
            self.put_fault(bind.call_id, 0, Status::ACCESS_DENIED, flags::DID_NOT_EXECUTE);
            return;
        }
        let reason = match error {
            SecurityError::UnknownType(_) | SecurityError::Level(_) => BindNak::AUTH_TYPE,
            _ => BindNak::CHECKSUM,
        };
        BindNak::new(bind.call_id, reason).write(&mut self.output);
    }

    /// Takes the third token of an authentication, which has no answer: when it is wrong, the calls that follow are refused.
    pub(super) fn finish_authentication(&mut self, unit: Range<usize>) -> Result<(), AssociationError> {
        let trailer = Unit::open(self.input.bytes(unit))?.trailer.ok_or(PduError::Trailer)?;
        let entry = self.security.get_mut(trailer.head.context_id);
        let entry = entry.ok_or(AssociationError::OutOfTurn(PduType::AUTH3))?;
        self.is_denied |= !entry.step(trailer.token).is_ok_and(|step| step.is_done && step.token.is_empty());
        Ok(())
    }

    /// The input is no unit. A client that speaks another version is told which there are.
    pub(super) fn refuse_input(&mut self, error: PduError) -> AssociationError {
        if let (PduError::Version(..), false, Some(header)) =
            (error, self.is_bound, self.input.rest().first_chunk::<{ Header::SIZE }>())
        {
            // Its call id is where it would be in ours, which is all that can be told.
            let [.., a, b, c, d] = *header;
            BindNak::new(u32::from_le_bytes([a, b, c, d]), BindNak::VERSION).write(&mut self.output);
        }
        error.into()
    }
}
