//! Why an association ends before its time.

use super::pdu::{BindNak, PduError, PduType};
use crate::security::SecurityError;
use std::fmt;

/// Why an association cannot go on, or a call not begin. Mostly caused by the peer; the connection is to be closed, after what is
/// left to be sent, but for [`Self::Busy`] and [`Self::Misuse`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssociationError {
    /// A unit is not one.
    Pdu(PduError),
    /// A unit comes out of turn.
    OutOfTurn(PduType),
    /// A fragment does not continue what came before it.
    Fragment {
        /// The call that it says it is of.
        call_id: u32,
    },
    /// The client proposes no context, one without transfer syntaxes, or another in the place of one that there is.
    Proposal,
    /// The peer's messages are longer than is allowed.
    TooLong {
        /// Bytes that are allowed.
        limit: usize,
    },
    /// The peer has more calls under way than is allowed.
    TooManyCalls {
        /// How many are allowed.
        limit: usize,
    },
    /// Authentication failed, or a fragment is not the peer's.
    Security(SecurityError),
    /// The server refuses the bind.
    Refused {
        /// Why: see [`BindNak`].
        reason: u16,
    },
    /// The association is in another group than the client's other associations.
    Group,
    /// The peer's answer is not one to what was asked.
    Answer,
    /// Another call or bind is under way, and one at a time is possible.
    Busy,
    /// This side asks for something that it has not agreed on with its peer, such as an unknown presentation context.
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
