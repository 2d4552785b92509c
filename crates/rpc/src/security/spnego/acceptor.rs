//! The server's side of a negotiation, which supports NTLM alone.

use super::token::{NegState, NegTokenInit, NegTokenResp};
use super::{NTLM, SpnegoError};
use crate::security::credentials::Accounts;
use crate::security::ntlm::{self, Established, Flags, Fresh, ServerNames};

/// A server that waits for the client's next token.
#[derive(Debug)]
pub struct Acceptor {
    list: Vec<u8>,
    /// Whether NTLM is the client's preferred mechanism. If not, the list has to be signed, since
    /// an attacker may have removed better mechanisms.
    is_first: bool,
    /// The exchange, once the client's first message has arrived.
    exchange: Option<ntlm::Acceptor>,
}

/// The state of the negotiation after a token.
#[derive(Debug)]
pub enum Progress {
    /// Another token is needed.
    Incomplete(Acceptor),
    /// The context is established.
    Made(Established),
}

impl Acceptor {
    /// Processes a client's first token. Returns the answer.
    ///
    /// # Errors
    ///
    /// [`SpnegoError`] if the token is malformed; [`SpnegoError::NoMechanism`] if the client does
    /// not support NTLM.
    pub fn new(token: &[u8], names: &ServerNames, fresh: &Fresh) -> Result<(Vec<u8>, Self), SpnegoError> {
        let received = NegTokenInit::from_wire(token)?;
        let mechanisms = received.mechanisms()?;
        if !mechanisms.contains(&NTLM) {
            return Err(SpnegoError::NoMechanism);
        }
        let is_first = mechanisms[0] == NTLM;
        // The first token may contain a token of the client's preferred mechanism. If the preferred
        // mechanism is not NTLM, its token is ignored, and NTLM begins with the client's next
        // token.
        let message = received.token.filter(|_| is_first);
        let exchange = message.map(|message| ntlm::Acceptor::new(message, names, fresh)).transpose()?;
        let answer = NegTokenResp {
            state: Some(if is_first { NegState::Incomplete } else { NegState::RequestMic }),
            mechanism: Some(NTLM),
            token: exchange.as_ref().map(ntlm::Acceptor::challenge),
            list_mic: None,
        };
        Ok((answer.to_wire(), Self { list: received.list.to_vec(), is_first, exchange }))
    }

    /// Processes the client's next token. Returns the answer.
    ///
    /// # Errors
    ///
    /// [`SpnegoError`] if the token is malformed, or the authentication failed.
    pub fn step(
        self,
        token: &[u8],
        names: &ServerNames,
        fresh: &Fresh,
        accounts: &dyn Accounts,
    ) -> Result<(Vec<u8>, Progress), SpnegoError> {
        let received = NegTokenResp::from_wire(token)?;
        let message = received.token.ok_or(SpnegoError::NoToken)?;
        let Some(exchange) = self.exchange else {
            let exchange = ntlm::Acceptor::new(message, names, fresh)?;
            let state = Some(NegState::Incomplete);
            let answer = NegTokenResp { state, token: Some(exchange.challenge()), ..NegTokenResp::default() }.to_wire();
            return Ok((answer, Progress::Incomplete(Self { exchange: Some(exchange), ..self })));
        };
        let mut made = exchange.finish(message, accounts)?;
        let list_mic = match received.list_mic {
            Some(signature) => {
                super::check(&mut made, &self.list, signature)?;
                Some(super::sign(&mut made, &self.list)?)
            }
            // A context without signatures cannot sign the list, and protects nothing.
            None if self.is_first || !made.flags.has(Flags::SIGN) => None,
            None => return Err(SpnegoError::List),
        };
        let state = Some(NegState::Completed);
        let answer = NegTokenResp { state, list_mic: list_mic.as_deref(), ..NegTokenResp::default() };
        Ok((answer.to_wire(), Progress::Made(made)))
    }
}
