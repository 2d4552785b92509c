//! SPNEGO: negotiates a mechanism, which is NTLM here, and detects tampering with the negotiation
//! (RFC 4178, MS-SPNG).
//!
//! The client lists its mechanisms, and may add the first token of its most preferred mechanism. If
//! the mechanism supports signatures, both sides sign the list at the end. The signatures cover the
//! exact bytes of the list in the client's first token.

mod acceptor;
mod der;
mod initiator;
#[cfg(test)]
mod tests;
mod token;

pub use acceptor::{Acceptor, Progress};
pub use initiator::{Confirmation, Initiator};
pub use token::{NegState, NegTokenInit, NegTokenResp};

use super::ntlm::{Established, NtlmError};
use std::fmt;

/// The object identifier of NTLM, 1.3.6.1.4.1.311.2.2.10 (MS-SPNG 1.9), without tag and length.
pub const NTLM: &[u8] = &[0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 2, 10];

/// The reason why a token is malformed or the negotiation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpnegoError {
    /// The bytes end before an element.
    Short,
    /// A length is not encoded in DER.
    Length,
    /// An element has another tag than expected.
    Element {
        /// The received tag.
        found: u8,
        /// The expected tag.
        expected: u8,
    },
    /// Bytes follow the last element.
    Trailing {
        /// The number of these bytes.
        length: usize,
    },
    /// The GSS-API token is for another mechanism than SPNEGO.
    NotSpnego,
    /// The client lists too many mechanisms, or its list is too long.
    TooMany,
    /// The peer does not support NTLM, or has chosen another mechanism.
    NoMechanism,
    /// The peer has rejected the negotiation.
    Rejected,
    /// The number of the negotiation's state is unknown.
    State {
        /// The state's number.
        state: u8,
    },
    /// The mechanism's token is missing.
    NoToken,
    /// The signature of the list of mechanisms is wrong, or is missing although it is required.
    List,
    /// The mechanism's token is wrong.
    Ntlm(NtlmError),
}

impl From<NtlmError> for SpnegoError {
    fn from(error: NtlmError) -> Self {
        Self::Ntlm(error)
    }
}

/// Signs the list of mechanisms. The signature uses a sequence number like that of a message, but
/// the cipher stream starts again afterwards (MS-SPNG 3.3.5.1).
fn sign(made: &mut Established, list: &[u8]) -> Result<Vec<u8>, SpnegoError> {
    let signature = made.outgoing.protect(&mut list.to_vec(), None)?;
    made.outgoing.rewind();
    Ok(signature.to_vec())
}

/// Verifies the peer's signature of the list.
fn check(made: &mut Established, list: &[u8], signature: &[u8]) -> Result<(), SpnegoError> {
    made.incoming.unprotect(&mut list.to_vec(), None, signature).map_err(|_| SpnegoError::List)?;
    made.incoming.rewind();
    Ok(())
}

impl std::error::Error for SpnegoError {}

impl fmt::Display for SpnegoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.write_str("the SPNEGO token is truncated"),
            Self::Length => f.write_str("a length in the SPNEGO token is not DER"),
            Self::Element { found, expected } => {
                write!(f, "the SPNEGO token has element {found:#04x}, expected {expected:#04x}")
            }
            Self::Trailing { length } => write!(f, "the SPNEGO token has {length} bytes after its end"),
            Self::NotSpnego => f.write_str("the token belongs to another mechanism than SPNEGO"),
            Self::TooMany => f.write_str("the client lists too many mechanisms"),
            Self::NoMechanism => f.write_str("the peer does not support NTLM"),
            Self::Rejected => f.write_str("the peer rejected the negotiation"),
            Self::State { state } => write!(f, "the SPNEGO token has an unknown negotiation state: {state}"),
            Self::NoToken => f.write_str("the SPNEGO token contains no NTLM message"),
            Self::List => f.write_str("the list of mechanisms was changed in transit"),
            Self::Ntlm(error) => error.fmt(f),
        }
    }
}
