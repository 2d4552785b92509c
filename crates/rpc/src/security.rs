//! Security: the interface between an association and the mechanism that authenticates its peer and
//! protects its calls (MS-RPCE 2.2.2.11, 3.3.1.5.2).
//!
//! A *security context* is established by tokens in bind and alter_context. Then it protects calls
//! at the negotiated level. An association may have several contexts with different identifiers.
//! The module does not depend on a mechanism, and mechanisms do not interpret calls.

pub mod context;
pub mod credentials;
mod ephemeral;
pub mod ntlm;
mod packets;
pub mod proof;
mod secret;
pub mod spnego;
#[cfg(test)]
mod tests;

pub use secret::NtHash;
pub use secret::code_of;
pub(crate) use secret::hmac;

use credentials::uppercase;
use ntlm::NtlmError;
use spnego::SpnegoError;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A security provider (MS-RPCE 2.2.1.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AuthType(pub u8);

impl AuthType {
    /// SPNEGO, which negotiates the mechanism (RFC 4178, MS-SPNG).
    pub const SPNEGO: Self = Self(9);
    /// NTLM (MS-NLMP).
    pub const NTLM: Self = Self(10);
}

/// An authentication level (MS-RPCE 2.2.1.1.8). Each level includes the lower levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The peer is authenticated during bind; calls are not protected.
    Connect = 2,
    /// Each fragment is signed.
    Integrity = 5,
    /// Each fragment is signed and its stub data is encrypted.
    Privacy = 6,
}

impl Level {
    /// Returns the level for a number on the wire, or `None` for an unknown number. The
    /// connection-oriented protocol treats the call and packet levels as integrity.
    pub const fn from_wire(level: u8) -> Option<Self> {
        match level {
            2 => Some(Self::Connect),
            3..=5 => Some(Self::Integrity),
            6 => Some(Self::Privacy),
            _ => None,
        }
    }

    /// Returns the level for a name as [`fmt::Display`] writes it, or `None` for an unknown name.
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

/// The reason why a security context cannot be established or used. The cause is the peer, a wrong
/// password, or an attacker on the path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecurityError {
    /// The mechanism is not supported.
    UnknownType(AuthType),
    /// The level is unknown, or the mechanism does not support it.
    Level(u8),
    /// A token is malformed, or is not expected in the current state.
    Token(&'static str),
    /// The mechanism's own error.
    Mechanism(SpnegoError),
    /// The peer failed to authenticate, or its principal has no access.
    Denied,
    /// A signature does not match the fragment or its sequence number.
    Signature,
    /// The context is used before it is established, or after it failed.
    NotReady,
    /// The association has no room for another context.
    TooManyContexts,
}

impl From<SpnegoError> for SecurityError {
    fn from(error: SpnegoError) -> Self {
        match error {
            SpnegoError::Rejected | SpnegoError::Ntlm(NtlmError::Denied | NtlmError::Barred) => Self::Denied,
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
            Self::UnknownType(kind) => write!(f, "authentication type {} is not supported", kind.0),
            Self::Level(level) => write!(f, "authentication level {level} is not supported"),
            Self::Token(what) => write!(f, "an authentication token is invalid: {what}"),
            Self::Mechanism(error) => error.fmt(f),
            Self::Denied => f.write_str("the peer could not be authenticated"),
            Self::Signature => f.write_str("a signature does not match its message"),
            Self::NotReady => f.write_str("the security context is not established"),
            Self::TooManyContexts => f.write_str("the association has too many security contexts"),
        }
    }
}

impl std::error::Error for SecurityError {}

/// The result of one step of a token exchange.
#[derive(Clone, PartialEq, Eq)]
pub struct Step {
    /// The token for the peer; empty for none.
    pub token: Vec<u8>,
    /// Whether the context is established, so that no further token of the peer is expected.
    ///
    /// A client sends its last token by auth3, which has no response, and earlier tokens by
    /// alter_context.
    pub is_done: bool,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Tokens contain hashes that allow passwords to be guessed.
        write!(f, "Step {{ token: {} bytes, is_done: {} }}", self.token.len(), self.is_done)
    }
}

/// The identity of a caller, as its security context proves it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Principal {
    /// The user's domain; empty for none.
    pub domain: String,
    /// The user; empty for an anonymous caller.
    pub user: String,
}

impl Principal {
    /// Whether the caller is anonymous: it has not proved an identity, and others can compute the
    /// keys of its context.
    pub fn is_anonymous(&self) -> bool {
        self.user.is_empty()
    }

    /// Whether `name` is the user's name; case is ignored.
    pub fn is_user(&self, name: &str) -> bool {
        uppercase(&self.user) == uppercase(name)
    }
}

/// The caller's identity and the protection of its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticated {
    /// The principal.
    pub principal: Arc<Principal>,
    /// The mechanism that authenticated the principal.
    pub kind: AuthType,
    /// The level at which the call was protected.
    pub level: Level,
}

/// The client's or the server's side of a security context.
///
/// In each direction, fragments are numbered. Each fragment has to arrive once, in the order in
/// which the fragments were protected.
pub trait SecurityContext: Send + fmt::Debug {
    /// Processes the peer's token, which is empty in the client's first step, and returns the next
    /// token.
    ///
    /// # Errors
    ///
    /// [`SecurityError`] if the token was rejected. The context cannot be used afterwards.
    fn step(&mut self, token: &[u8]) -> Result<Step, SecurityError>;

    /// Returns the length of a signature in bytes. The context must be established. The caller
    /// needs the length before it cuts a message into fragments.
    fn signature_length(&self) -> usize;

    /// Signs a unit and, at [`Level::Privacy`] only, encrypts `pdu[sealed]` in place. Appends the
    /// signature of the plaintext to `signature`.
    ///
    /// `pdu` is the whole unit up to its signature: header, stub data, padding, and the eight bytes
    /// of the security trailer.
    ///
    /// # Errors
    ///
    /// [`SecurityError::NotReady`] if the context is not established, [`SecurityError::Level`] if
    /// the level is not the negotiated level, and [`SecurityError::Mechanism`] if the sequence
    /// numbers are used up.
    fn protect(
        &mut self,
        level: Level,
        pdu: &mut [u8],
        sealed: Range<usize>,
        signature: &mut Vec<u8>,
    ) -> Result<(), SecurityError>;

    /// Decrypts `pdu[sealed]` in place, at [`Level::Privacy`] only, and verifies the signature.
    ///
    /// `pdu` is the unit as received, in the sender's byte order.
    ///
    /// # Errors
    ///
    /// As for [`Self::protect`], and [`SecurityError::Signature`] if the signature is wrong. The
    /// caller then ends the association, since an attacker has changed the stream.
    fn unprotect(
        &mut self,
        level: Level,
        pdu: &mut [u8],
        sealed: Range<usize>,
        signature: &[u8],
    ) -> Result<(), SecurityError>;

    /// Returns the peer's principal on the server's side of an established context, otherwise
    /// `None`.
    fn principal(&self) -> Option<&Principal>;

    /// Returns a message authentication code over the concatenated parts. Only the two sides can
    /// compute it. The first part names the code's purpose.
    ///
    /// # Errors
    ///
    /// [`SecurityError::NotReady`] if the context is not established.
    fn code(&self, parts: &[&[u8]]) -> Result<[u8; CODE_LENGTH], SecurityError>;

    /// Verifies the peer's code over `parts`.
    ///
    /// # Errors
    ///
    /// [`SecurityError::Signature`] if the code does not match, and [`SecurityError::NotReady`] if
    /// the context is not established.
    fn check_code(&self, parts: &[&[u8]], code: &[u8]) -> Result<(), SecurityError>;
}

/// The length of a code by [`SecurityContext::code`], in bytes.
pub const CODE_LENGTH: usize = 16;

/// Creates a server's security contexts.
pub trait Acceptor: Send + Sync + fmt::Debug {
    /// Creates a context for a client that requests this mechanism and level. The first step of the
    /// context takes the client's first token.
    ///
    /// # Errors
    ///
    /// [`SecurityError::UnknownType`] or [`SecurityError::Level`] if the server does not support
    /// the mechanism or the level.
    fn accept(&self, kind: AuthType, level: Level) -> Result<Box<dyn SecurityContext>, SecurityError>;
}

/// A client's security context, with its mechanism and level for the bind.
#[derive(Debug)]
pub struct Security {
    /// The mechanism.
    pub kind: AuthType,
    /// The authentication level.
    pub level: Level,
    /// The context before its first step.
    pub context: Box<dyn SecurityContext>,
}
