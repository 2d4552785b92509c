//! Security: what an association asks of whoever authenticates its peer and protects its calls (MS-RPCE 2.2.2.11, 3.3.1.5.2).
//!
//! A *security context* is made by exchanging tokens beside bind and alter_context, and then protects calls at the level that was
//! agreed. An association may have several, told apart by their numbers. Which mechanism makes the tokens is not this module's
//! business, and what a call means is not the mechanism's.

pub mod context;
pub mod credentials;
pub mod ntlm;
mod packets;
pub mod proof;
mod secret;
pub mod spnego;
#[cfg(test)]
mod tests;

pub use secret::NtHash;

use credentials::uppercase;
use ntlm::NtlmError;
use spnego::SpnegoError;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Which mechanism authenticates (MS-RPCE 2.2.1.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AuthType(pub u8);

impl AuthType {
    /// SPNEGO, which negotiates the mechanism (RFC 4178, MS-SPNG).
    pub const SPNEGO: Self = Self(9);
    /// NTLM (MS-NLMP).
    pub const NTLM: Self = Self(10);
}

/// How much of an association is protected (MS-RPCE 2.2.1.1.8). Each level has what those before it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The peer is authenticated when the association is made; calls are not protected.
    Connect = 2,
    /// Each fragment is signed.
    Integrity = 5,
    /// Each fragment is signed, and its stub data encrypted.
    Privacy = 6,
}

impl Level {
    /// The level of its number on the wire. Call and packet are what connection-oriented calls have as integrity.
    pub const fn from_wire(level: u8) -> Option<Self> {
        match level {
            2 => Some(Self::Connect),
            3..=5 => Some(Self::Integrity),
            6 => Some(Self::Privacy),
            _ => None,
        }
    }

    /// The level of its name: what [`fmt::Display`] writes.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Connect, Self::Integrity, Self::Privacy].into_iter().find(|level| level.name() == name)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Integrity => "integrity",
            Self::Privacy => "privacy",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a security context cannot be made or used. Caused by the peer, by a wrong password, or by somebody between the two.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecurityError {
    /// The mechanism is not there.
    UnknownType(AuthType),
    /// The level is none, or one that the mechanism cannot give.
    Level(u8),
    /// A token is not one of the mechanism's, or comes out of turn.
    Token(&'static str),
    /// The mechanism says what is wrong.
    Mechanism(SpnegoError),
    /// The peer is not who it says, or is nobody who may call.
    Denied,
    /// A signature is not the peer's for these bytes at this place in the order.
    Signature,
    /// The context is used before it is made, or after it failed.
    NotReady,
}

impl From<SpnegoError> for SecurityError {
    fn from(error: SpnegoError) -> Self {
        match error {
            SpnegoError::Rejected | SpnegoError::Ntlm(NtlmError::Denied) => Self::Denied,
            SpnegoError::Ntlm(NtlmError::Signature) => Self::Signature,
            error => Self::Mechanism(error),
        }
    }
}

impl From<NtlmError> for SecurityError {
    fn from(error: NtlmError) -> Self {
        SpnegoError::Ntlm(error).into()
    }
}

impl fmt::Display for SecurityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownType(kind) => write!(f, "there is no authentication of type {}", kind.0),
            Self::Level(level) => write!(f, "authentication level {level} cannot be had"),
            Self::Token(what) => write!(f, "a token of the authentication is wrong: {what}"),
            Self::Mechanism(error) => error.fmt(f),
            Self::Denied => f.write_str("the peer could not be authenticated"),
            Self::Signature => f.write_str("a signature is not the peer's"),
            Self::NotReady => f.write_str("the security context is not made"),
        }
    }
}

impl std::error::Error for SecurityError {}

/// What a step of an exchange of tokens led to.
#[derive(Clone, PartialEq, Eq)]
pub struct Step {
    /// What the peer is to be sent; empty for nothing.
    pub token: Vec<u8>,
    /// Whether the context is made, so that no token of the peer is waited for.
    ///
    /// A client that is done and has a token left sends it by auth3, which has no answer; one that is not done by alter_context.
    pub is_done: bool,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Tokens have hashes in them that passwords can be guessed by.
        write!(f, "Step {{ token: {} bytes, is_done: {} }}", self.token.len(), self.is_done)
    }
}

/// Who calls, as far as its security context says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Principal {
    /// The domain of the user; empty where there is none.
    pub domain: String,
    /// The user; empty for an anonymous one.
    pub user: String,
}

impl Principal {
    /// Whether this is the user's name: names differ by more than case.
    pub fn is_user(&self, name: &str) -> bool {
        uppercase(&self.user) == uppercase(name)
    }
}

/// Who made a call, by the security context that protected it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticated {
    /// Who it is.
    pub principal: Arc<Principal>,
    /// The mechanism that said so.
    pub kind: AuthType,
    /// The level at which the call was protected.
    pub level: Level,
}

/// One side of a security context, the client's or the server's.
///
/// Protecting and unprotecting count: fragments travel in the order in which they were protected, each once.
pub trait SecurityContext: Send + fmt::Debug {
    /// Takes the peer's token, or none to begin with as a client, and makes the next.
    ///
    /// # Errors
    ///
    /// What is wrong with the token. The context cannot be used any more.
    fn step(&mut self, token: &[u8]) -> Result<Step, SecurityError>;

    /// Bytes of a signature. Asked for when the context is made, before a message is cut into fragments.
    fn signature_length(&self) -> usize;

    /// Encrypts `pdu[sealed]` in place, at [`Level::Privacy`] only, and appends the signature of what it was before to `signature`.
    ///
    /// `pdu` is the whole unit up to its signature: header, stub data, padding, and the trailer's eight bytes.
    ///
    /// # Errors
    ///
    /// When the context is not made.
    fn protect(
        &mut self,
        level: Level,
        pdu: &mut [u8],
        sealed: Range<usize>,
        signature: &mut Vec<u8>,
    ) -> Result<(), SecurityError>;

    /// Decrypts `pdu[sealed]` in place, at [`Level::Privacy`] only, and checks the signature.
    ///
    /// `pdu` is as it came, in the sender's byte order.
    ///
    /// # Errors
    ///
    /// When the signature is not right. The association ends then, since somebody meddles with it.
    fn unprotect(
        &mut self,
        level: Level,
        pdu: &mut [u8],
        sealed: Range<usize>,
        signature: &[u8],
    ) -> Result<(), SecurityError>;

    /// Who the peer is, on the server's side, once the context is made.
    fn principal(&self) -> Option<&Principal>;

    /// A code over the parts, one after the other, that nobody but the two sides can make. The first part says what it is for.
    ///
    /// # Errors
    ///
    /// When the context is not made.
    fn code(&self, parts: &[&[u8]]) -> Result<[u8; CODE_LENGTH], SecurityError>;

    /// Checks such a code of the peer's.
    ///
    /// # Errors
    ///
    /// [`SecurityError::Signature`] where it is not that of the parts, and when the context is not made.
    fn check_code(&self, parts: &[&[u8]], code: &[u8]) -> Result<(), SecurityError>;
}

/// Bytes of a code by [`SecurityContext::code`].
pub const CODE_LENGTH: usize = 16;

/// A server's way to make security contexts.
pub trait Acceptor: Send + Sync + fmt::Debug {
    /// A context for a client that wants this mechanism at this level; its first token comes next.
    ///
    /// # Errors
    ///
    /// When the server does not have it.
    fn accept(&self, kind: AuthType, level: Level) -> Result<Box<dyn SecurityContext>, SecurityError>;
}

/// A client's security context with what the association has to say about it.
#[derive(Debug)]
pub struct Security {
    /// The mechanism.
    pub kind: AuthType,
    /// What it is to protect.
    pub level: Level,
    /// The context, before its first step.
    pub context: Box<dyn SecurityContext>,
}
