//! NTLM: authentication by challenge and response, and the protection of messages that follows from it (MS-NLMP).
//!
//! Three messages make a context. The client says what it can do (NEGOTIATE), the server answers with a number never used before and
//! with its names (CHALLENGE), and the client proves that it knows the password by a hash over both (AUTHENTICATE). Of NTLM there is version 2
//! with extended security, 128 bits and UTF-16 alone; the older responses are refused. Anything that either side has to hash is hashed as it
//! came, never as it would be written again.

mod acceptor;
mod initiator;
mod keys;
mod message;
mod signing;
mod target_info;
#[cfg(test)]
mod tests;

pub use acceptor::{Acceptor, ServerNames};
pub use initiator::Initiator;
pub use message::{Authenticate, Challenge, Flags, Negotiate};
pub use signing::{Incoming, Outgoing, SIGNATURE_LENGTH};
pub use target_info::TargetInfo;

use super::Principal;
use super::secret::{Key, hmac};
use hmac::Hmac;
use md5::Md5;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};
use zeroize::Zeroizing;

/// Bytes that a message may have. Those of the largest programs have less than two thousand.
pub const TOKEN_MAX: usize = 16 * 1024;

/// What one exchange needs of the world: the time, and numbers that nobody can foresee.
#[derive(Clone)]
pub struct Fresh {
    /// Intervals of 100 ns since the year 1601.
    pub time: u64,
    /// The challenge of this side.
    pub challenge: [u8; 8],
    /// The key that a client hands over.
    pub key: Zeroizing<[u8; 16]>,
}

/// 100 ns intervals from 1601 to 1970.
const UNIX_EPOCH_TIME: u64 = 0x019d_b1de_d53e_8000;

impl Fresh {
    /// From the clock and the kernel's random numbers.
    ///
    /// # Errors
    ///
    /// [`NtlmError::NoRandomness`] where the kernel has none.
    pub fn new() -> Result<Self, NtlmError> {
        let mut fresh = Self { time: 0, challenge: [0; 8], key: Zeroizing::default() };
        for bytes in [&mut fresh.challenge[..], &mut fresh.key[..]] {
            // As few bytes come all at once or not at all.
            getrandom(bytes, GetRandomFlags::empty()).map_err(|_| NtlmError::NoRandomness)?;
        }
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        fresh.time = UNIX_EPOCH_TIME.saturating_add((since_1970.as_nanos() / 100) as u64);
        Ok(fresh)
    }
}

impl fmt::Debug for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fresh(..)")
    }
}

/// What an exchange made: who the peer is, and the two directions of messages.
#[derive(Debug)]
pub struct Established {
    /// On the server's side, who the client is.
    pub principal: Principal,
    /// What both sides agreed to.
    pub flags: Flags,
    /// For messages that this side sends.
    pub outgoing: Outgoing,
    /// For messages that the peer sends.
    pub incoming: Incoming,
    secret: Secret,
}

/// The key that both sides have in common.
struct Secret(Key);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Which side of an exchange somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

impl Established {
    fn new(side: Side, principal: Principal, flags: Flags, key: &Key) -> Self {
        let peer = if side == Side::Client { Side::Server } else { Side::Client };
        let outgoing = Outgoing::new(flags, key, side);
        Self { principal, flags, outgoing, incoming: Incoming::new(flags, key, peer), secret: Secret(key.clone()) }
    }

    /// A code over the parts that nobody but the two sides can make. That over the three messages is made by the same key, so what begins as
    /// they do is not for this.
    pub(super) fn code(&self, parts: &[&[u8]]) -> Hmac<Md5> {
        hmac(&self.secret.0, parts)
    }
}

/// What is wrong with a message, or with who sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NtlmError {
    /// The message ends before its fixed part does.
    Short {
        /// Bytes that came.
        length: usize,
    },
    /// The message has more than [`TOKEN_MAX`] bytes.
    Long {
        /// Bytes that came.
        length: usize,
    },
    /// It does not begin as messages of NTLM do.
    NotNtlm,
    /// It is another message than the one whose turn it is.
    Type {
        /// The type that came.
        found: u32,
        /// The type whose turn it is.
        expected: u32,
    },
    /// A field lies outside of the message, or on its fixed part.
    Field {
        /// Where in the message the field is described.
        at: usize,
        /// Where it should be.
        offset: u32,
        /// Bytes that it should have.
        length: u16,
    },
    /// Two fields share bytes.
    Overlap {
        /// Where the second of them begins.
        offset: usize,
    },
    /// A name is no UTF-16, or longer than names may be.
    Name {
        /// Where in the message the name is described.
        at: usize,
    },
    /// The list of attributes of the target ends before its end is marked.
    TargetInfoShort,
    /// There are more attributes of the target than there are kinds of them.
    TargetInfoMany,
    /// An attribute of the target comes twice.
    TargetInfoTwice {
        /// The attribute.
        id: u16,
    },
    /// An attribute of the target has another length than is right for it.
    TargetInfoLength {
        /// The attribute.
        id: u16,
        /// Bytes that it has.
        length: usize,
    },
    /// The peer does not do what is needed.
    Flags {
        /// What is missing.
        missing: Flags,
    },
    /// The response is of NTLM 1 or of LM: too weak to be taken.
    OldResponse {
        /// Bytes of the response.
        length: usize,
    },
    /// The response is of a version of NTLM 2 that is not known.
    ResponseVersion {
        /// The version.
        version: u8,
    },
    /// The key that the client hands over has not 16 bytes.
    KeyLength {
        /// Bytes that it has.
        length: usize,
    },
    /// The messages of the exchange were changed on their way: the code over them is not right, or is not there though the client made one.
    Integrity,
    /// There is no such user, or the password is another, or nobody in particular may not call.
    Denied,
    /// A signature is not that of the message at its place.
    Signature,
    /// So many messages were signed that their numbers are used up.
    Exhausted,
    /// The kernel has no random numbers.
    NoRandomness,
}

impl std::error::Error for NtlmError {}

impl fmt::Display for NtlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { length } => write!(f, "{length} bytes are less than an NTLM message has"),
            Self::Long { length } => write!(f, "an NTLM message of {length} bytes is longer than {TOKEN_MAX}"),
            Self::NotNtlm => f.write_str("the token is no NTLM message"),
            Self::Type { found, expected } => {
                write!(f, "an NTLM message of type {found} came where one of type {expected} is expected")
            }
            Self::Field { at, offset, length } => {
                write!(
                    f,
                    "the field described at {at} has {length} bytes at {offset}, where the message has none for it"
                )
            }
            Self::Overlap { offset } => write!(f, "the field at {offset} begins inside of another"),
            Self::Name { at } => write!(f, "the name described at {at} is no UTF-16 text, or too long"),
            Self::TargetInfoShort => f.write_str("the attributes of the target end without a mark"),
            Self::TargetInfoMany => f.write_str("the target has too many attributes"),
            Self::TargetInfoTwice { id } => write!(f, "attribute {id} of the target comes twice"),
            Self::TargetInfoLength { id, length } => write!(f, "attribute {id} of the target has {length} bytes"),
            Self::Flags { missing } => write!(f, "the peer lacks the abilities {:#010x}", missing.0),
            Self::OldResponse { length } => {
                write!(f, "a response of {length} bytes is not NTLM 2; let the client use NTLM 2")
            }
            Self::ResponseVersion { version } => write!(f, "version {version} of NTLM 2 responses is not known"),
            Self::KeyLength { length } => write!(f, "a key of {length} bytes was handed over where 16 are right"),
            Self::Integrity => f.write_str("the messages of the exchange were changed on their way"),
            Self::Denied => f.write_str("user or password is wrong, or has no access"),
            Self::Signature => f.write_str("a message was changed, repeated, left out or moved on its way"),
            Self::Exhausted => f.write_str("too many messages were signed; make another security context"),
            Self::NoRandomness => f.write_str("the kernel has no random numbers"),
        }
    }
}
