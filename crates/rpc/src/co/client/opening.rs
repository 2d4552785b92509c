//! The client's side of the negotiation: bind, alter_context, auth3 and their answers.

use super::{AssociationError, ClientAssociation, Found};
use crate::co::contexts::{Entry, OwnedToken};
use crate::co::pdu::{
    ACCEPTED, Bind, BindAck, Context, FragmentSizes, Header, Message, NEGOTIATED, Outcome, PduType, TrailerHead, flags,
};
use crate::co::{Presentation, features};
use crate::security::Security;
use crate::uuid::{SyntaxId, Uuid};

/// The identifier of the "context" that proposes features, which no real context may have.
const FEATURES_CONTEXT: u16 = u16::MAX;
/// The maximum number of token exchanges, more than any mechanism needs.
const STEPS_MAX: u32 = 8;

/// An outstanding bind or alter_context.
#[derive(Debug)]
pub(super) struct Opening {
    /// The call identifier of the expected answer.
    pub(super) id: u32,
    /// The number that [`ClientAssociation::bind`] returned to the caller.
    pub(super) first_id: u32,
    alters: bool,
    contexts: Vec<Context>,
    /// The security context being established.
    pub(super) security: Option<u32>,
    /// The outcomes in the server's first answer, kept while further tokens are exchanged.
    outcomes: Option<Vec<Outcome>>,
    steps: u32,
}

impl ClientAssociation {
    /// Proposes contexts, by a bind the first time and by alter_context later. With `security`,
    /// also authenticates this client. Returns a number, by which the caller recognises the event
    /// with the answer. Security contexts are numbered from 0 in the order of their proposal. A
    /// caller that needs only another security context proposes an accepted presentation context
    /// again.
    ///
    /// # Errors
    ///
    /// [`AssociationError::Busy`] while another proposal is outstanding,
    /// [`AssociationError::Misuse`] for an empty list of contexts or for an identifier in use, and
    /// the error of the security context.
    pub fn bind(&mut self, contexts: Vec<Context>, security: Option<Security>) -> Result<u32, AssociationError> {
        if self.opening.is_some() {
            return Err(AssociationError::Busy);
        }
        if contexts.is_empty() {
            return Err(AssociationError::Misuse("a bind needs at least one presentation context"));
        }
        if contexts.iter().any(|context| context.id == FEATURES_CONTEXT || self.is_taken(context)) {
            return Err(AssociationError::Misuse("the identifier of a presentation context is already in use"));
        }
        let (alters, id) = (self.is_bound, self.next_id());
        let mut opening = Opening { id, first_id: id, alters, contexts, security: None, outcomes: None, steps: 0 };
        let token = match security {
            None => None,
            Some(security) => Some(self.begin_authentication(security, &mut opening)?),
        };
        self.put_bind(&opening, token);
        self.opening = Some(opening);
        Ok(id)
    }

    fn begin_authentication(
        &mut self,
        security: Security,
        opening: &mut Opening,
    ) -> Result<(TrailerHead, Vec<u8>), AssociationError> {
        let Security { kind, level, context } = security;
        let id = self.next_security;
        self.next_security += 1;
        let entry = self.security.insert(Entry::new(id, kind, level, level as u8, context))?;
        opening.security = Some(id);
        Ok((entry.head(), entry.step(&[])?.token))
    }

    /// Appends a bind or alter_context with the proposals, and with the token if there is one.
    fn put_bind(&mut self, opening: &Opening, token: OwnedToken) {
        let alters = opening.alters || opening.outcomes.is_some();
        let mut contexts = opening.contexts.clone();
        if !alters {
            let interface = contexts.first().map_or(NO_INTERFACE, |first| first.interface);
            contexts.push(Context { id: FEATURES_CONTEXT, interface, transfers: vec![features::PROPOSAL] });
        }
        let (flags, sizes) =
            if alters { (self.granted, self.sizes()) } else { (self.wanted(), self.options.limits.sizes) };
        let bind = Bind { alters, flags, call_id: opening.id, sizes, group: self.group, contexts };
        bind.write(&mut self.output, token.as_ref().map(|(head, token)| (*head, token.as_slice())));
    }

    /// Returns the flags that the bind requests.
    fn wanted(&self) -> u8 {
        // If this client makes only one call at a time, the server need not prepare for more.
        let multiplex = if self.options.limits.calls_max > 1 { flags::MULTIPLEX } else { 0 };
        flags::HEADER_SIGNING | multiplex
    }

    fn sizes(&self) -> FragmentSizes {
        FragmentSizes { sent: self.length, received: self.options.limits.sizes.received }
    }

    /// Processes the server's answer.
    pub(super) fn opened(&mut self, ack: BindAck, token: OwnedToken) -> Result<Found, AssociationError> {
        let mut opening = self.opening.take_if(|opening| opening.id == ack.call_id).ok_or(AssociationError::Answer)?;
        let was_first = !self.is_bound;
        if ack.alters == was_first {
            return Err(AssociationError::Answer);
        }
        if was_first {
            self.is_bound = true;
            self.granted = ack.flags & self.wanted();
            let own = self.options.limits.sizes.sent.max(FragmentSizes::LEAST);
            self.length = ack.sizes.received.clamp(FragmentSizes::LEAST, own);
            self.group = ack.group;
            self.secondary_address = ack.secondary_address;
        }
        let outcomes = match opening.outcomes.take() {
            Some(outcomes) => outcomes,
            None => self.note(&opening, ack.outcomes, was_first)?,
        };
        let is_settled = match opening.security {
            None => true,
            Some(id) => self.authenticated(id, &mut opening, token, &outcomes)?,
        };
        if is_settled {
            return Ok(Found::Bound(opening.first_id, outcomes));
        }
        self.opening = Some(Opening { outcomes: Some(outcomes), ..opening });
        Ok(Found::Nothing)
    }

    /// Stores the accepted contexts. Returns the outcomes of the contexts that the caller proposed.
    fn note(
        &mut self,
        opening: &Opening,
        mut outcomes: Vec<Outcome>,
        was_first: bool,
    ) -> Result<Vec<Outcome>, AssociationError> {
        if was_first {
            let features = outcomes.pop().ok_or(AssociationError::Answer)?;
            let keeps = u16::from(features::KEEP_ON_ORPHAN);
            self.keeps_on_orphan = features.result == NEGOTIATED && features.reason & keeps != 0;
        }
        if outcomes.len() != opening.contexts.len() {
            return Err(AssociationError::Answer);
        }
        for (context, outcome) in opening.contexts.iter().zip(&outcomes) {
            if outcome.result != ACCEPTED {
                continue;
            }
            if !context.transfers.contains(&outcome.transfer) {
                return Err(AssociationError::Answer);
            }
            self.presentations.retain(|known| known.id != context.id);
            self.presentations.push(Presentation::of(context, outcome.transfer));
        }
        Ok(outcomes)
    }

    /// Processes the server's token. Returns whether the negotiation is complete: no further answer
    /// is expected.
    fn authenticated(
        &mut self,
        id: u32,
        opening: &mut Opening,
        token: OwnedToken,
        outcomes: &[Outcome],
    ) -> Result<bool, AssociationError> {
        let entry = self.security.get_mut(id).ok_or(AssociationError::Answer)?;
        let token = token.filter(|(head, _)| head.context_id == id).map(|(_, token)| token).unwrap_or_default();
        if entry.is_done {
            return if token.is_empty() { Ok(true) } else { Err(AssociationError::Answer) };
        }
        let step = entry.step(&token)?;
        let head = entry.head();
        if step.is_done {
            if !step.token.is_empty() {
                self.put_auth3(opening.id, head, &step.token);
            }
            return Ok(true);
        }
        opening.steps += 1;
        if opening.steps > STEPS_MAX {
            return Err(AssociationError::Answer);
        }
        opening.id = self.next_id();
        opening.outcomes = Some(outcomes.to_vec());
        self.put_bind(opening, Some((head, step.token)));
        Ok(false)
    }

    /// Appends an auth3, whose body is four bytes of padding (MS-RPCE 2.2.2.10).
    fn put_auth3(&mut self, id: u32, head: TrailerHead, token: &[u8]) {
        let mut message = Message::begin(&mut self.output, &Header::new(PduType::AUTH3, flags::WHOLE, id));
        message.body().zeros(4);
        message.trailer(&head, 0, token.len());
        message.body().bytes(token);
        message.finish(0);
    }
}

const NO_INTERFACE: SyntaxId = SyntaxId { uuid: Uuid(0), version: 0 };
