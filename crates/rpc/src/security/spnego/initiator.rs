//! The client's side of a negotiation, which supports NTLM alone.

use super::token::{NegState, NegTokenInit, NegTokenResp, list};
use super::{NTLM, SpnegoError};
use crate::security::ntlm::{self, Established};

/// A client that waits for the server's choice.
#[derive(Debug)]
pub struct Initiator {
    exchange: ntlm::Initiator,
    list: Vec<u8>,
}

/// A client that has the context and waits for the server's confirmation.
#[derive(Debug)]
pub struct Confirmation {
    made: Established,
    list: Vec<u8>,
}

impl Initiator {
    /// Creates a negotiation for an exchange.
    #[must_use]
    pub fn new(exchange: ntlm::Initiator) -> Self {
        Self { exchange, list: list(&[NTLM]) }
    }

    /// Returns the first token.
    #[must_use]
    pub fn token(&self) -> Vec<u8> {
        NegTokenInit { list: &self.list, token: Some(self.exchange.negotiate()) }.to_wire()
    }

    /// Processes the server's choice and challenge. Returns the next token.
    ///
    /// # Errors
    ///
    /// [`SpnegoError`] if the token is malformed, or the server refuses or chooses another
    /// mechanism.
    pub fn answer(self, token: &[u8]) -> Result<(Vec<u8>, Confirmation), SpnegoError> {
        let received = NegTokenResp::from_wire(token)?;
        if received.state == Some(NegState::Rejected) {
            return Err(SpnegoError::Rejected);
        }
        if received.mechanism.is_some_and(|mechanism| mechanism != NTLM) {
            return Err(SpnegoError::NoMechanism);
        }
        let (message, mut made) = self.exchange.answer(received.token.ok_or(SpnegoError::NoToken)?)?;
        let list_mic = super::sign(&mut made, &self.list)?;
        let token = NegTokenResp {
            state: Some(NegState::Incomplete),
            token: Some(&message),
            list_mic: Some(&list_mic),
            ..NegTokenResp::default()
        };
        Ok((token.to_wire(), Confirmation { made, list: self.list }))
    }
}

impl Confirmation {
    /// Processes the server's last token.
    ///
    /// # Errors
    ///
    /// [`SpnegoError`] if the token is malformed, the server refuses, or its signature is wrong.
    pub fn finish(mut self, token: &[u8]) -> Result<Established, SpnegoError> {
        let received = NegTokenResp::from_wire(token)?;
        if received.state != Some(NegState::Completed) {
            return Err(SpnegoError::Rejected);
        }
        // The server may omit the signature: no mechanism can have been removed from a list of one.
        if let Some(signature) = received.list_mic {
            super::check(&mut self.made, &self.list, signature)?;
        }
        Ok(self.made)
    }
}
