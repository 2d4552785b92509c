//! The error type of associations.

use super::pdu::{BindNak, PduError, PduType};
use crate::security::SecurityError;
use std::fmt;

/// The reason why an association failed, or a call could not begin. Mostly caused by the peer. The
/// caller has to close the connection after the output was sent, except for [`Self::Busy`] and
/// [`Self::Misuse`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssociationError {
    /// A unit is malformed.
    Pdu(PduError),
    /// A unit comes out of turn.
    OutOfTurn(PduType),
    /// A fragment does not continue its message.
    Fragment {
        /// The call identifier in the fragment.
        call_id: u32,
    },
    /// The client's proposal is invalid: it has no context, or a context without transfer syntaxes,
    /// or it changes an accepted context.
    Proposal,
    /// The peer's messages exceed the limit.
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The peer has too many outstanding calls.
    TooManyCalls {
        /// The maximum number of outstanding calls.
        limit: usize,
    },
    /// The authentication failed, or a fragment's protection is wrong.
    Security(SecurityError),
    /// The server refused the bind.
    Refused {
        /// The reason: see [`BindNak`].
        reason: u16,
    },
    /// The association is in another group than the client's other associations.
    Group,
    /// The peer's answer does not match the request.
    Answer,
    /// Another call or bind is outstanding, and the association cannot take a further one.
    Busy,
    /// The caller used something that was not negotiated, such as an unknown presentation context.
    Misuse(&'static str),
}

impl fmt::Display for AssociationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pdu(error) => error.fmt(f),
            Self::OutOfTurn(kind) => write!(f, "a protocol data unit {kind:?} comes out of turn"),
            Self::Fragment { call_id } => {
                write!(f, "a fragment of call {call_id} continues nothing that came before it")
            }
            Self::Proposal => {
                f.write_str("the client's presentation contexts contradict each other, or there are none")
            }
            Self::TooLong { limit } => write!(f, "the peer's messages are longer than {limit} bytes"),
            Self::TooManyCalls { limit } => write!(f, "the peer has more than {limit} calls under way"),
            Self::Security(error) => error.fmt(f),
            Self::Refused { reason: BindNak::VERSION } => {
                f.write_str("the server does not have version 5.0 of the protocol")
            }
            Self::Refused { reason: BindNak::AUTH_TYPE } => {
                f.write_str("the server does not have this kind of authentication")
            }
            Self::Refused { reason: BindNak::CHECKSUM } => f.write_str("the server could not authenticate this client"),
            Self::Refused { reason } => write!(f, "the server refuses the association for reason {reason}"),
            Self::Group => f.write_str("the server has put the association into another group than those before it"),
            Self::Answer => f.write_str("the peer answered what was not asked"),
            Self::Busy => f.write_str("another call is under way, and the peer takes one at a time"),
            Self::Misuse(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for AssociationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Pdu(error) => Some(error),
            Self::Security(error) => Some(error),
            _ => None,
        }
    }
}

impl From<PduError> for AssociationError {
    fn from(error: PduError) -> Self {
        Self::Pdu(error)
    }
}

impl From<SecurityError> for AssociationError {
    fn from(error: SecurityError) -> Self {
        Self::Security(error)
    }
}
