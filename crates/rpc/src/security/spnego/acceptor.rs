//! The server's side of a negotiation, for NTLM alone.

use super::token::{NegState, NegTokenInit, NegTokenResp};
use super::{NTLM, SpnegoError};
use crate::security::credentials::Accounts;
use crate::security::ntlm::{self, Established, Flags, Fresh, ServerNames};

/// A server that waits for the client's next token.
#[derive(Debug)]
pub struct Acceptor {
    list: Vec<u8>,
    /// Whether NTLM is what the client likes best. If not, the list has to be signed: somebody may have taken better ones from it.
    is_first: bool,
    /// Once the client's first message has come.
    exchange: Option<ntlm::Acceptor>,
}

/// What a token led to.
#[derive(Debug)]
pub enum Progress {
    /// Another token is needed.
    Incomplete(Acceptor),
    /// The context is made.
    Made(Established),
}

impl Acceptor {
    /// Takes a client's first token, and answers.
    ///
    /// # Errors
    ///
    /// What is wrong with the token, or that the client does not have NTLM.
    pub fn new(token: &[u8], names: &ServerNames, fresh: &Fresh) -> Result<(Vec<u8>, Self), SpnegoError> {
        let received = NegTokenInit::from_wire(token)?;
        let mechanisms = received.mechanisms()?;
        if !mechanisms.contains(&NTLM) {
            return Err(SpnegoError::NoMechanism);
        }
        let is_first = mechanisms[0] == NTLM;
        // The token is of the client's first mechanism. If that is another, NTLM begins with the next.
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

    /// Takes the client's next token, and answers.
    ///
    /// # Errors
    ///
    /// What is wrong with the token, or with who sent it.
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
            // Who does not ask for signatures has none to give: such a context protects nothing.
            None if self.is_first || !made.flags.has(Flags::SIGN) => None,
            None => return Err(SpnegoError::List),
        };
        let state = Some(NegState::Completed);
        let answer = NegTokenResp { state, list_mic: list_mic.as_deref(), ..NegTokenResp::default() };
        Ok((answer.to_wire(), Progress::Made(made)))
    }
}
