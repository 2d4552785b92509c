//! Security contexts of NTLM, alone or negotiated by SPNEGO, for both sides of associations.

use super::credentials::{Accounts, Credentials};
use super::ntlm::{self, Established, Flags, Fresh, SIGNATURE_LENGTH, ServerNames};
use super::spnego::{self, Progress};
use super::{Acceptor, AuthType, CODE_LENGTH, Level, Principal, Security, SecurityContext, SecurityError, Step};
use hmac::Mac;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Creates a client's context for the server with the principal name `principal`. An empty name
/// means that the client does not know the name.
///
/// # Errors
///
/// [`SecurityError::Denied`] if there are no credentials for that server,
/// [`SecurityError::UnknownType`] for a mechanism other than SPNEGO and NTLM, and
/// [`SecurityError::Mechanism`] if the kernel provides no random numbers.
pub fn initiate(
    kind: AuthType,
    level: Level,
    principal: &str,
    credentials: &dyn Credentials,
) -> Result<Security, SecurityError> {
    if !is_known(kind) {
        return Err(SecurityError::UnknownType(kind));
    }
    let credential = credentials.credential(principal).ok_or(SecurityError::Denied)?;
    let exchange = ntlm::Initiator::new(credential, principal, needed(level), Fresh::new()?);
    Ok(Security { kind, level, context: Box::new(Context::new(level, Client::Begin(kind, exchange))) })
}

/// An acceptor for SPNEGO and NTLM at every level, and for all users with an account.
#[derive(Clone)]
pub struct NtlmAcceptor {
    names: ServerNames,
    accounts: Arc<dyn Accounts>,
}

impl NtlmAcceptor {
    /// Creates an acceptor for a server with these names and accounts.
    #[must_use]
    pub fn new(names: ServerNames, accounts: Arc<dyn Accounts>) -> Self {
        Self { names, accounts }
    }
}

impl Acceptor for NtlmAcceptor {
    fn accept(&self, kind: AuthType, level: Level) -> Result<Box<dyn SecurityContext>, SecurityError> {
        if !is_known(kind) {
            return Err(SecurityError::UnknownType(kind));
        }
        Ok(Box::new(Context::new(level, Server { acceptor: self.clone(), stage: ServerStage::Begin(kind) })))
    }
}

impl fmt::Debug for NtlmAcceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NtlmAcceptor").field("names", &self.names).finish_non_exhaustive()
    }
}

fn is_known(kind: AuthType) -> bool {
    matches!(kind, AuthType::NTLM | AuthType::SPNEGO)
}

/// One side of a token exchange.
trait Exchange: Sized + Send + fmt::Debug {
    /// Processes the peer's token. Returns the next token and the state of the exchange.
    fn step(self, token: &[u8]) -> Result<(Vec<u8>, Next<Self>), SecurityError>;
}

/// The state of an exchange after a step.
enum Next<E> {
    Waiting(E),
    Made(Established),
}

/// A security context, and the exchange that establishes it.
#[derive(Debug)]
struct Context<E> {
    level: Level,
    /// The exchange, until it is complete or has failed.
    exchange: Option<E>,
    made: Option<Established>,
}

impl<E: Exchange> Context<E> {
    fn new(level: Level, exchange: E) -> Self {
        Self { level, exchange: Some(exchange), made: None }
    }

    /// Returns the established context for a message at `level`. Fails if `level` is not the
    /// negotiated level, so that a peer cannot weaken the protection.
    fn made(&mut self, level: Level) -> Result<&mut Established, SecurityError> {
        if level != self.level {
            return Err(SecurityError::Level(level as u8));
        }
        self.made.as_mut().ok_or(SecurityError::NotReady)
    }
}

impl<E: Exchange> SecurityContext for Context<E> {
    fn step(&mut self, token: &[u8]) -> Result<Step, SecurityError> {
        let exchange = self.exchange.take().ok_or(SecurityError::NotReady)?;
        let (token, next) = exchange.step(token)?;
        let is_done = match next {
            Next::Waiting(exchange) => {
                self.exchange = Some(exchange);
                false
            }
            Next::Made(made) if made.flags.has(needed(self.level)) => {
                self.made = Some(made);
                true
            }
            Next::Made(_) => return Err(SecurityError::Level(self.level as u8)),
        };
        Ok(Step { token, is_done })
    }

    fn signature_length(&self) -> usize {
        if self.level == Level::Connect { 0 } else { SIGNATURE_LENGTH }
    }

    fn protect(
        &mut self,
        level: Level,
        pdu: &mut [u8],
        sealed: Range<usize>,
        signature: &mut Vec<u8>,
    ) -> Result<(), SecurityError> {
        let made = self.made(level)?;
        if level > Level::Connect {
            let sealed = (level == Level::Privacy).then_some(sealed);
            signature.extend_from_slice(&made.outgoing.protect(pdu, sealed)?);
        }
        Ok(())
    }

    fn unprotect(
        &mut self,
        level: Level,
        pdu: &mut [u8],
        sealed: Range<usize>,
        signature: &[u8],
    ) -> Result<(), SecurityError> {
        let made = self.made(level)?;
        // At the connect level, a client's signature protects nothing and is ignored.
        if level > Level::Connect {
            made.incoming.unprotect(pdu, (level == Level::Privacy).then_some(sealed), signature)?;
        }
        Ok(())
    }

    fn principal(&self) -> Option<&Principal> {
        self.made.as_ref().map(|made| &made.principal)
    }

    fn code(&self, parts: &[&[u8]]) -> Result<[u8; CODE_LENGTH], SecurityError> {
        let made = self.made.as_ref().ok_or(SecurityError::NotReady)?;
        Ok(made.code(parts).finalize().into_bytes().into())
    }

    fn check_code(&self, parts: &[&[u8]], code: &[u8]) -> Result<(), SecurityError> {
        let made = self.made.as_ref().ok_or(SecurityError::NotReady)?;
        made.code(parts).verify_slice(code).map_err(|_| SecurityError::Signature)
    }
}

/// Returns the flags that a level requires of both sides.
fn needed(level: Level) -> Flags {
    match level {
        Level::Connect => Flags::default(),
        Level::Integrity => Flags::SIGN,
        Level::Privacy => Flags::SIGN | Flags::SEAL,
    }
}

/// The client's exchange.
#[derive(Debug)]
enum Client {
    Begin(AuthType, ntlm::Initiator),
    Ntlm(ntlm::Initiator),
    Spnego(spnego::Initiator),
    Confirm(spnego::Confirmation),
}

impl Exchange for Client {
    fn step(self, token: &[u8]) -> Result<(Vec<u8>, Next<Self>), SecurityError> {
        Ok(match self {
            Self::Begin(AuthType::SPNEGO, exchange) => {
                let exchange = spnego::Initiator::new(exchange);
                (exchange.token(), Next::Waiting(Self::Spnego(exchange)))
            }
            Self::Begin(_, exchange) => (exchange.negotiate().to_vec(), Next::Waiting(Self::Ntlm(exchange))),
            Self::Ntlm(exchange) => {
                let (token, made) = exchange.answer(token)?;
                (token, Next::Made(made))
            }
            Self::Spnego(exchange) => {
                let (token, confirmation) = exchange.answer(token)?;
                (token, Next::Waiting(Self::Confirm(confirmation)))
            }
            Self::Confirm(confirmation) => (Vec::new(), Next::Made(confirmation.finish(token)?)),
        })
    }
}

/// The server's exchange.
#[derive(Debug)]
struct Server {
    acceptor: NtlmAcceptor,
    stage: ServerStage,
}

/// The progress of the server's exchange.
#[derive(Debug)]
enum ServerStage {
    Begin(AuthType),
    Ntlm(ntlm::Acceptor),
    Spnego(spnego::Acceptor),
}

impl Exchange for Server {
    fn step(self, token: &[u8]) -> Result<(Vec<u8>, Next<Self>), SecurityError> {
        let NtlmAcceptor { names, accounts } = &self.acceptor;
        let (token, stage) = match self.stage {
            ServerStage::Begin(AuthType::SPNEGO) => {
                let (token, exchange) = spnego::Acceptor::new(token, names, &Fresh::new()?)?;
                (token, ServerStage::Spnego(exchange))
            }
            ServerStage::Begin(_) => {
                let exchange = ntlm::Acceptor::new(token, names, &Fresh::new()?)?;
                (exchange.challenge().to_vec(), ServerStage::Ntlm(exchange))
            }
            ServerStage::Ntlm(exchange) => return Ok((Vec::new(), Next::Made(exchange.finish(token, &**accounts)?))),
            ServerStage::Spnego(exchange) => match exchange.step(token, names, &Fresh::new()?, &**accounts)? {
                (token, Progress::Incomplete(exchange)) => (token, ServerStage::Spnego(exchange)),
                (token, Progress::Made(made)) => return Ok((token, Next::Made(made))),
            },
        };
        Ok((token, Next::Waiting(Self { stage, ..self })))
    }
}

#[cfg(test)]
mod tests {
    use super::super::credentials::{AccountTable, Credential};
    use super::super::{NtHash, SpnegoError};
    use super::*;
    use crate::security::ntlm::NtlmError;

    fn acceptor() -> NtlmAcceptor {
        let accounts = AccountTable::default().with("user", NtHash::of_password("secret"));
        NtlmAcceptor::new(ServerNames::of_host("server"), Arc::new(accounts))
    }

    type Both = (Box<dyn SecurityContext>, Box<dyn SecurityContext>);

    /// Establishes the contexts of both sides. Returns the contexts, and the number of tokens that
    /// the client has sent.
    fn make(kind: AuthType, level: Level, password: &str) -> Result<(Both, usize), SecurityError> {
        let credential = Credential::user("", "user", password);
        let mut client = initiate(kind, level, "host/server", &credential).unwrap().context;
        let mut server = acceptor().accept(kind, level).unwrap();
        let mut to_server = client.step(&[])?;
        for tokens in 1..4 {
            let to_client = server.step(&to_server.token)?;
            if to_server.is_done {
                assert!(to_client.is_done && to_client.token.is_empty());
                return Ok(((client, server), tokens));
            }
            to_server = client.step(&to_client.token)?;
            if to_client.is_done {
                assert!(to_server.is_done && to_server.token.is_empty());
                return Ok(((client, server), tokens));
            }
        }
        panic!("the contexts are never made");
    }

    #[test]
    fn each_mechanism_protects_packets_at_each_level() {
        for kind in [AuthType::NTLM, AuthType::SPNEGO] {
            for level in [Level::Connect, Level::Integrity, Level::Privacy] {
                let ((mut client, mut server), tokens) = make(kind, level, "secret").unwrap();
                assert_eq!((server.principal().unwrap().user.as_str(), tokens), ("user", 2));
                for _ in 0..2 {
                    let (mut pdu, mut signature) = (vec![7; 64], Vec::new());
                    client.protect(level, &mut pdu, 24..56, &mut signature).unwrap();
                    assert_eq!(signature.len(), client.signature_length());
                    assert_eq!(pdu == [7; 64], level != Level::Privacy);
                    server.unprotect(level, &mut pdu, 24..56, &signature).unwrap();
                    assert_eq!(pdu, [7; 64]);
                    (client, server) = (server, client);
                }
            }
        }
    }

    #[test]
    fn packets_below_the_negotiated_level_are_refused() {
        let ((mut client, mut server), _) = make(AuthType::NTLM, Level::Integrity, "secret").unwrap();
        let refused = server.unprotect(Level::Connect, &mut [7; 64], 24..56, &[]);
        assert_eq!(refused, Err(SecurityError::Level(2)));
        let refused = client.protect(Level::Connect, &mut [7; 64], 24..56, &mut Vec::new());
        assert_eq!(refused, Err(SecurityError::Level(2)));
    }

    #[test]
    fn clients_without_encryption_cannot_negotiate_privacy() {
        let credential = Credential::user("", "user", "secret");
        let mut client = initiate(AuthType::NTLM, Level::Integrity, "", &credential).unwrap().context;
        let mut server = acceptor().accept(AuthType::NTLM, Level::Privacy).unwrap();
        let challenge = server.step(&client.step(&[]).unwrap().token).unwrap();
        let proof = client.step(&challenge.token).unwrap();
        assert_eq!(server.step(&proof.token), Err(SecurityError::Level(6)));
    }

    #[test]
    fn a_security_context_is_unusable_after_a_wrong_password() {
        for kind in [AuthType::NTLM, AuthType::SPNEGO] {
            assert_eq!(make(kind, Level::Connect, "Secret").unwrap_err(), SecurityError::Denied);
        }
        let mut server = acceptor().accept(AuthType::NTLM, Level::Privacy).unwrap();
        let refused = SpnegoError::Ntlm(NtlmError::NotNtlm);
        assert_eq!(server.step(&[]), Err(SecurityError::Mechanism(refused)));
        assert_eq!(server.step(&[]), Err(SecurityError::NotReady));
        let refused = server.protect(Level::Privacy, &mut [], 0..0, &mut Vec::new());
        assert_eq!(refused, Err(SecurityError::NotReady));
    }

    #[test]
    fn an_established_security_context_refuses_more_tokens() {
        let ((mut client, mut server), _) = make(AuthType::SPNEGO, Level::Privacy, "secret").unwrap();
        assert_eq!(client.step(&[]), Err(SecurityError::NotReady));
        assert_eq!(server.step(&[]), Err(SecurityError::NotReady));
    }

    #[test]
    fn unknown_security_mechanisms_are_refused() {
        let kerberos = AuthType(16);
        let refused = SecurityError::UnknownType(kerberos);
        assert_eq!(acceptor().accept(kerberos, Level::Privacy).unwrap_err(), refused);
        assert_eq!(initiate(kerberos, Level::Privacy, "", &Credential::Anonymous).unwrap_err(), refused);
    }
}
