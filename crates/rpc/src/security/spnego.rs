//! SPNEGO: both sides agree on a mechanism, which is NTLM here, and see that nobody had a hand in it (RFC 4178, MS-SPNG).
//!
//! The client lists the mechanisms that it knows, and may add the first token of the one it likes best. Where the mechanism can sign, both sides
//! sign the list at the end: as it came, byte by byte.

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

/// What is wrong with a token, or with what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpnegoError {
    /// The bytes end before an element does.
    Short,
    /// An element's length is not written as DER has it.
    Length,
    /// Another element than the one whose turn it is.
    Element {
        /// The tag that came.
        found: u8,
        /// The tag whose turn it is.
        expected: u8,
    },
    /// There are bytes behind what should be the last.
    Trailing {
        /// How many.
        length: usize,
    },
    /// It is a token of GSS-API for another mechanism than SPNEGO.
    NotSpnego,
    /// The client lists more mechanisms than there are.
    TooMany,
    /// The peer does not have NTLM, or chose something else.
    NoMechanism,
    /// The peer says so.
    Rejected,
    /// A state that there is not.
    State {
        /// Its number.
        state: u8,
    },
    /// The token has none of the mechanism in it though it is its turn.
    NoToken,
    /// The list of mechanisms was changed on its way, or is not signed though it has to be.
    List,
    /// What is wrong with the token inside.
    Ntlm(NtlmError),
}

impl From<NtlmError> for SpnegoError {
    fn from(error: NtlmError) -> Self {
        Self::Ntlm(error)
    }
}

/// Signs the list of mechanisms. It is counted as a message, but the next is encrypted as if it had not been there (MS-SPNG 3.3.5.1).
fn sign(made: &mut Established, list: &[u8]) -> Result<Vec<u8>, SpnegoError> {
    let signature = made.outgoing.protect(&mut list.to_vec(), None)?;
    made.outgoing.rewind();
    Ok(signature.to_vec())
}

/// Checks the peer's signature of the list.
fn check(made: &mut Established, list: &[u8], signature: &[u8]) -> Result<(), SpnegoError> {
    made.incoming.unprotect(&mut list.to_vec(), None, signature).map_err(|_| SpnegoError::List)?;
    made.incoming.rewind();
    Ok(())
}

impl std::error::Error for SpnegoError {}

impl fmt::Display for SpnegoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.write_str("the SPNEGO token ends before its contents do"),
            Self::Length => f.write_str("a length in the SPNEGO token is not written as DER has it"),
            Self::Element { found, expected } => {
                write!(f, "the SPNEGO token has an element {found:#04x} where {expected:#04x} is expected")
            }
            Self::Trailing { length } => write!(f, "the SPNEGO token has {length} bytes too many"),
            Self::NotSpnego => f.write_str("the token is for another mechanism than SPNEGO"),
            Self::TooMany => f.write_str("the client lists too many mechanisms"),
            Self::NoMechanism => f.write_str("the peer does not speak NTLM"),
            Self::Rejected => f.write_str("the peer refuses"),
            Self::State { state } => write!(f, "a negotiation has no state {state}"),
            Self::NoToken => f.write_str("the SPNEGO token has no NTLM message in it"),
            Self::List => f.write_str("the list of mechanisms was changed on its way"),
            Self::Ntlm(error) => error.fmt(f),
        }
    }
}
