//! NTLM: authentication by challenge and response, and protection of messages with the resulting
//! keys (MS-NLMP).
//!
//! Three messages establish a context. The client sends its capabilities (NEGOTIATE). The server
//! answers with a nonce and its names (CHALLENGE). The client proves its knowledge of the password
//! by a hash over the nonce and the names (AUTHENTICATE). Only version 2 with extended security,
//! 128-bit keys and UTF-16 is supported; older responses are refused. Hashes are computed over the
//! received bytes of the messages, and never over re-encoded messages.

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

/// The greatest length of a message, in bytes. The messages of existing implementations are shorter
/// than two thousand bytes.
pub const TOKEN_MAX: usize = 16 * 1024;

/// The external inputs of an exchange: the time and unpredictable numbers.
#[derive(Clone)]
pub struct Fresh {
    /// The time in units of 100 ns since the year 1601.
    pub time: u64,
    /// The random challenge that this side sends.
    pub challenge: [u8; 8],
    /// The session key that a client chooses.
    pub key: Zeroizing<[u8; 16]>,
}

/// The time from 1601 to 1970, in units of 100 ns.
const UNIX_EPOCH_TIME: u64 = 0x019d_b1de_d53e_8000;

impl Fresh {
    /// Reads the clock and the kernel's random numbers.
    ///
    /// # Errors
    ///
    /// [`NtlmError::NoRandomness`] if the kernel provides no random numbers.
    pub fn new() -> Result<Self, NtlmError> {
        let mut fresh = Self { time: 0, challenge: [0; 8], key: Zeroizing::default() };
        for bytes in [&mut fresh.challenge[..], &mut fresh.key[..]] {
            // For so few bytes, the kernel fills the buffer completely or fails.
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

/// The result of an exchange: the peer's identity, and the protection of both directions.
#[derive(Debug)]
pub struct Established {
    /// The client's principal on the server's side; empty on the client's side.
    pub principal: Principal,
    /// The negotiated flags.
    pub flags: Flags,
    /// The protection of sent messages.
    pub outgoing: Outgoing,
    /// The verification of received messages.
    pub incoming: Incoming,
    secret: Secret,
}

/// The context's key, which both sides have.
struct Secret(Key);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// A side of an exchange.
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

    /// Returns a message authentication code over the parts. Only the two sides can compute it. The
    /// integrity code of the exchange is computed with the same key over the three messages, so
    /// `parts` must not begin like these messages.
    pub(super) fn code(&self, parts: &[&[u8]]) -> Hmac<Md5> {
        hmac(&self.secret.0, parts)
    }
}

/// The reason why a message is malformed or the exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NtlmError {
    /// The message ends within its fixed part.
    Short {
        /// The number of received bytes.
        length: usize,
    },
    /// The message is too long.
    Long {
        /// The number of received bytes.
        length: usize,
        /// The greatest number.
        limit: usize,
    },
    /// The signature of NTLM messages is missing.
    NotNtlm,
    /// The message has another type than expected.
    Type {
        /// The received type.
        found: u32,
        /// The expected type.
        expected: u32,
    },
    /// A field lies outside of the message or within its fixed part.
    Field {
        /// The offset of the field's descriptor.
        at: usize,
        /// The offset of the field that the descriptor gives.
        offset: u32,
        /// The field's length in its descriptor.
        length: u16,
    },
    /// Two fields overlap.
    Overlap {
        /// The offset of the second field.
        offset: usize,
    },
    /// A name is not UTF-16, or is too long.
    Name {
        /// The offset of the name's descriptor.
        at: usize,
    },
    /// The target information has no end mark.
    TargetInfoShort,
    /// The target information has too many attributes.
    TargetInfoMany,
    /// The target information has an attribute twice.
    TargetInfoTwice {
        /// The attribute's identifier.
        id: u16,
    },
    /// An attribute of the target information has a wrong length.
    TargetInfoLength {
        /// The attribute's identifier.
        id: u16,
        /// The attribute's length.
        length: usize,
    },
    /// The peer lacks required capabilities.
    Flags {
        /// The missing capabilities.
        missing: Flags,
    },
    /// The response is one of NTLM 1 or LM, which are too weak.
    OldResponse {
        /// The length of the response.
        length: usize,
    },
    /// The version of the NTLM 2 response is unknown.
    ResponseVersion {
        /// The version.
        version: u8,
    },
    /// The client's session key does not have 16 bytes.
    KeyLength {
        /// The key's length.
        length: usize,
    },
    /// An attacker has changed the exchange: the integrity code is wrong, or is missing although
    /// the client has computed one.
    Integrity,
    /// The user is unknown, the password is wrong, or anonymous clients are not accepted.
    Denied,
    /// Too many recent proofs for the user were wrong.
    Barred,
    /// A signature does not match the message and its sequence number.
    Signature,
    /// All sequence numbers are used up.
    Exhausted,
    /// The kernel provides no random numbers.
    NoRandomness,
}

impl std::error::Error for NtlmError {}

impl fmt::Display for NtlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { length } => write!(f, "the NTLM message is truncated: it has {length} bytes"),
            Self::Long { length, limit } => {
                write!(f, "the NTLM message has {length} bytes, more than the limit of {limit}")
            }
            Self::NotNtlm => f.write_str("the token is not an NTLM message"),
            Self::Type { found, expected } => {
                write!(f, "the NTLM message has type {found}, expected type {expected}")
            }
            Self::Field { at, offset, length } => {
                write!(
                    f,
                    "the NTLM field described at offset {at} is invalid: {length} bytes at offset {offset} lie outside \
                        of the message's payload"
                )
            }
            Self::Overlap { offset } => write!(f, "the NTLM field at offset {offset} overlaps another field"),
            Self::Name { at } => {
                write!(f, "the name described at offset {at} of the NTLM message is not UTF-16, or is too long")
            }
            Self::TargetInfoShort => f.write_str("the target information of the NTLM message has no end mark"),
            Self::TargetInfoMany => f.write_str("the target information of the NTLM message has too many attributes"),
            Self::TargetInfoTwice { id } => {
                write!(f, "the target information of the NTLM message has attribute {id} twice")
            }
            Self::TargetInfoLength { id, length } => {
                write!(f, "attribute {id} of the target information has a wrong length, {length} bytes")
            }
            Self::Flags { missing } => {
                write!(f, "the peer does not support the required NTLM flags {:#010x}", missing.0)
            }
            Self::OldResponse { length } => {
                write!(f, "the client's response ({length} bytes) is not NTLM 2; configure the client to use NTLM 2")
            }
            Self::ResponseVersion { version } => write!(f, "version {version} of the NTLM 2 response is not supported"),
            Self::KeyLength { length } => write!(f, "the client's session key has {length} bytes, not 16"),
            Self::Integrity => f.write_str("the NTLM messages were changed in transit"),
            Self::Denied => f.write_str("the user or the password is wrong, or the user has no access"),
            Self::Barred => f.write_str("too many proofs for this user were wrong just before"),
            Self::Signature => f.write_str("a message was changed, repeated, omitted or reordered in transit"),
            Self::Exhausted => f.write_str("the security context has signed too many messages; establish a new one"),
            Self::NoRandomness => f.write_str("the kernel has no random numbers"),
        }
    }
}
