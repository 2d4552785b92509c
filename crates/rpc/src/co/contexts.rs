//! The security contexts of an association, by their identifiers.

use super::pdu::{TrailerHead, Unit};
use super::{AssociationError, CallSecurity};
use crate::security::{AuthType, Authenticated, Level, SecurityContext, SecurityError, Step};
use std::sync::Arc;

/// The maximum number of an association's security contexts: the number that MS-RPCE 3.3.1.5.4
/// allows a client.
///
/// A context lasts as long as its association. A server may refuse further contexts, but must not
/// drop any context: the server could not tell the client, and the client's next call would fail.
pub(super) const CONTEXTS_MAX: usize = 2000;
/// The maximum number of an association's security contexts that are not yet established.
pub(super) const UNPROVED_MAX: usize = 64;

/// A received token, or a token to send, with the head of its trailer.
pub(super) type OwnedToken = Option<(TrailerHead, Vec<u8>)>;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: u32,
    pub(super) kind: AuthType,
    pub(super) level: Level,
    /// The level as the client wrote it, which the answers repeat.
    pub(super) wire_level: u8,
    pub(super) context: Box<dyn SecurityContext>,
    pub(super) is_done: bool,
    /// The peer's identity, on the server's side of an established context.
    pub(super) peer: Option<Authenticated>,
}

impl Entry {
    /// Creates a context before its first step.
    pub(super) fn new(
        id: u32,
        kind: AuthType,
        level: Level,
        wire_level: u8,
        context: Box<dyn SecurityContext>,
    ) -> Self {
        Self { id, kind, level, wire_level, context, is_done: false, peer: None }
    }

    /// Returns the head of this context's trailers. The length of the padding is 0; the writer
    /// replaces it.
    pub(super) fn head(&self) -> TrailerHead {
        TrailerHead { kind: self.kind.0, level: self.wire_level, padding: 0, context_id: self.id }
    }

    /// Performs the next step of the token exchange.
    pub(super) fn step(&mut self, token: &[u8]) -> Result<Step, SecurityError> {
        if self.is_done {
            return Err(SecurityError::Token("the security context is already established"));
        }
        let step = self.context.step(token)?;
        self.is_done = step.is_done;
        let principal = self.context.principal().filter(|_| self.is_done).cloned().map(Arc::new);
        self.peer = principal.map(|principal| Authenticated { principal, kind: self.kind, level: self.level });
        Ok(step)
    }
}

#[derive(Debug, Default)]
pub(super) struct SecurityContexts {
    entries: Vec<Entry>,
}

impl SecurityContexts {
    pub(super) fn get(&self, id: u32) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.id == id)
    }

    /// Adds a context with an unused identifier. Fails if there are too many contexts.
    pub(super) fn insert(&mut self, entry: Entry) -> Result<&mut Entry, SecurityError> {
        let unproved = self.entries.iter().filter(|entry| !entry.is_done).count();
        if self.entries.len() >= CONTEXTS_MAX || unproved >= UNPROVED_MAX {
            return Err(SecurityError::TooManyContexts);
        }
        self.entries.push(entry);
        self.entries.last_mut().ok_or(SecurityError::NotReady)
    }

    pub(super) fn remove(&mut self, id: u32) {
        self.entries.retain(|entry| entry.id != id);
    }

    /// Returns the context of calls that have no trailer: the first established context at the
    /// connect level, if there is one.
    pub(super) fn connected(&self) -> Option<CallSecurity> {
        let mut made = self.entries.iter().filter(|entry| entry.is_done && entry.level == Level::Connect);
        made.next().map(|entry| CallSecurity { context_id: entry.id, level: entry.level })
    }

    /// Verifies the signature of a request or response, and decrypts the stub data in place.
    /// Returns the protection of the call, if it has any.
    pub(super) fn unprotect(&mut self, bytes: &mut [u8]) -> Result<Option<CallSecurity>, AssociationError> {
        let unit = Unit::open(bytes)?;
        let Some(trailer) = unit.trailer else {
            return Ok(self.connected());
        };
        let (head, sealed) = (trailer.head, unit.sealed()?);
        let signed = bytes.len() - trailer.token.len();
        let entry = self.get_mut(head.context_id).filter(|entry| entry.is_done).ok_or(SecurityError::NotReady)?;
        if (AuthType(head.kind), head.level) != (entry.kind, entry.wire_level) {
            return Err(SecurityError::Level(head.level).into());
        }
        if entry.level > Level::Connect {
            let (signed, signature) = bytes.split_at_mut(signed);
            entry.context.unprotect(entry.level, signed, sealed, signature)?;
        }
        Ok(Some(CallSecurity { context_id: entry.id, level: entry.level }))
    }
}
