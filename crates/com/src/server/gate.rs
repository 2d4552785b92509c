//! The gate of a connection over a network. A client passes the gate if it introduces itself or
//! authenticates in time. A client that is required to authenticate must do so before any other
//! call.

use super::connection::Connection;
use super::proof;
use crate::access;
use crate::protocol::binding;
use crate::protocol::own_calls;
use crate::types::error::{Error, Result, code};
use obvia_rpc::co::Denial;
use obvia_rpc::security::proof::{Verdict, Verifier};
use obvia_rpc::security::{Level, SecurityError};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall, Service, TargetId, serve_next};
use obvia_via::window::Window;
use obvia_via::{Deadline, Error as ViError};

/// The time that a client may take to introduce itself or to authenticate. If the client begins an
/// authentication that is not required, this time begins anew.
const PATIENCE: Deadline = Deadline::after_secs(10);

/// A connection that has not passed its gate.
struct Gate<'a> {
    connection: &'a mut Connection,
    least: Level,
    stage: Stage,
    /// The end of the time that the client may take to pass the gate.
    until: Deadline,
}

/// The stage of a client before its gate, by the messages that the client may send.
enum Stage {
    /// A bind with the introduction, or the first leg of an authentication, which is optional.
    Open,
    /// The first leg of an authentication.
    Closed,
    /// A further leg of the authentication.
    Proving(Box<Verifier>),
    /// No message: the authentication has failed.
    Barred,
}

/// Serves a connection until its client has introduced itself or has authenticated. If `least` is
/// given, the client must authenticate, since its calls must be protected at least at this level.
///
/// # Errors
///
/// The reason why the connection must be ended: the client's time passed, or the connection failed.
pub(super) fn pass(
    window: &mut Window,
    connection: &mut Connection,
    least: Option<Level>,
) -> std::result::Result<(), ViError> {
    let stage = if least.is_some() { Stage::Closed } else { Stage::Open };
    let least = least.unwrap_or(Level::Connect);
    let mut gate = Gate { connection, least, stage, until: PATIENCE.start() };
    while !gate.connection.is_let_in() {
        if gate.until.is_over() {
            if !matches!(gate.stage, Stage::Open) {
                gate.deny(Denial::Proof);
            }
            return Err(ViError::TimedOut);
        }
        let until = gate.until;
        serve_next(window, &mut gate, until).map_err(|why| *why)?;
    }
    Ok(())
}

impl Gate<'_> {
    fn deny(&self, denial: Denial<'_>) {
        access::log_denial(self.connection.peer(), denial);
    }

    /// Processes one leg of the authentication, which arrived in a call. Returns the answering leg.
    fn judge(&mut self, leg: &[u8], call: &ServerCall<'_>) -> Result<Vec<u8>> {
        let mut verifier = match std::mem::replace(&mut self.stage, Stage::Barred) {
            Stage::Proving(verifier) => verifier,
            begun @ (Stage::Open | Stage::Closed) => {
                if let Stage::Open = begun {
                    self.until = PATIENCE.start();
                }
                let acceptor = access::acceptor(self.connection.peer()).ok_or(code::RPC_S_UNKNOWN_AUTHN_SERVICE)?;
                let place = own_calls::place_of(self.connection.local().unwrap_or_default());
                Box::new(Verifier::new(acceptor, self.least, &place))
            }
            Stage::Barred => return Err(code::E_ACCESSDENIED.into()),
        };
        let Verdict { answer, proved, guard } = verifier.answer(leg).map_err(|why| {
            self.deny(Denial::Proof);
            // The client receives the same code as over a stream. Over a stream, the code is the
            // answer to its first call.
            if let SecurityError::Level(_) = why { code::E_ACCESSDENIED.into() } else { Error::from(why) }
        })?;
        // The guard is set before the answer is sent, since the client accepts only protected
        // packets once it has the answer. The guard is also set before the client is let in, so
        // that no call of a protected connection bypasses the guard.
        guard.map_or(Ok(()), |guard| call.guard(guard))?;
        if let Some(proved) = proved {
            self.connection.is_proved_by(proved);
        }
        self.stage = Stage::Proving(verifier);
        Ok(answer)
    }
}

impl Service for Gate<'_> {
    fn dispatch(&mut self, call: &mut ServerCall<'_>) -> Answer {
        let (target, opnum) = (TargetId::from_word(call.target()), call.opnum());
        if (target, opnum) == (own_calls::TARGET, own_calls::OP_PROVE) {
            return proof::attend(call, |leg, call| self.judge(leg, call));
        }
        if let Stage::Open = self.stage {
            // A client must introduce itself before it calls.
            return Answer::fault(Status::PROTOCOL_ERROR);
        }
        self.deny(Denial::Call { interface: None, opnum, maker: None });
        Answer::fault(Status::ACCESS_DENIED)
    }

    fn answer_pdu(&mut self, pdu: &[u8]) -> Option<Vec<u8>> {
        if let Stage::Open = self.stage {
            return self.connection.answer_pdu(pdu);
        }
        self.deny(Denial::Proof);
        binding::refusal(pdu)
    }

    fn abandoned(&mut self) {}

    fn tidy(&mut self) {
        self.connection.tidy();
    }
}

#[cfg(test)]
mod tests;
