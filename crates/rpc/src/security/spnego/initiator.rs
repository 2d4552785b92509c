//! The client's side of a negotiation, for NTLM alone.

use super::token::{NegState, NegTokenInit, NegTokenResp, list};
use super::{NTLM, SpnegoError};
use crate::security::ntlm::{self, Established};

/// A client that waits for the server's choice.
#[derive(Debug)]
pub struct Initiator {
    exchange: ntlm::Initiator,
    list: Vec<u8>,
}

/// A client whose context is made, as soon as the server says so too.
#[derive(Debug)]
pub struct Confirmation {
    made: Established,
    list: Vec<u8>,
}

impl Initiator {
    /// Begins.
    #[must_use]
    pub fn new(exchange: ntlm::Initiator) -> Self {
        Self { exchange, list: list(&[NTLM]) }
    }

    /// The first token.
    #[must_use]
    pub fn token(&self) -> Vec<u8> {
        NegTokenInit { list: &self.list, token: Some(self.exchange.negotiate()) }.to_wire()
    }

    /// Takes the server's choice with its challenge, and makes the next token.
    ///
    /// # Errors
    ///
    /// What is wrong with the token, or that the server refuses.
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
    /// Takes the server's last token.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or that the server refuses.
    pub fn finish(mut self, token: &[u8]) -> Result<Established, SpnegoError> {
        let received = NegTokenResp::from_wire(token)?;
        if received.state != Some(NegState::Completed) {
            return Err(SpnegoError::Rejected);
        }
        // A server may leave the signature out: a list of one mechanism has nothing that could be taken from it.
        if let Some(signature) = received.list_mic {
            super::check(&mut self.made, &self.list, signature)?;
        }
        Ok(self.made)
    }
}
