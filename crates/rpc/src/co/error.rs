//! The error type of associations.

use super::pdu::{BindNak, PduError, PduType};
use crate::security::SecurityError;
use std::fmt;

/// The reason why an association failed, or a call could not begin. The peer causes most of these
/// errors. The caller has to close the connection after the output was sent, except for
/// [`Self::Busy`] and [`Self::Misuse`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssociationError {
    /// A unit is malformed.
    Pdu(PduError),
    /// A unit of this type is not allowed in the current state of the association.
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
    /// The peer sends a message too slowly.
    Slow,
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
    /// Another call or bind is outstanding, and the association does not allow a further one yet.
    Busy,
    /// The caller's request is invalid. For example, it names a context that was not negotiated, or
    /// a call that awaits no response.
    Misuse(&'static str),
}

impl fmt::Display for AssociationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pdu(error) => error.fmt(f),
            Self::OutOfTurn(kind) => write!(f, "the peer sent an unexpected protocol data unit: {kind:?}"),
            Self::Fragment { call_id } => {
                write!(f, "a fragment of call {call_id} does not continue the call's earlier fragments")
            }
            Self::Proposal => {
                f.write_str("the client's bind has no presentation contexts, or some that contradict each other")
            }
            Self::TooLong { limit } => write!(f, "a message of the peer is longer than {limit} bytes"),
            Self::Slow => f.write_str("the peer sends a message too slowly"),
            Self::TooManyCalls { limit } => write!(f, "the peer has more than {limit} outstanding calls"),
            Self::Security(error) => error.fmt(f),
            Self::Refused { reason: BindNak::VERSION } => {
                f.write_str("the server does not support version 5.0 of the protocol")
            }
            Self::Refused { reason: BindNak::AUTH_TYPE } => {
                f.write_str("the server does not support this authentication type")
            }
            Self::Refused { reason: BindNak::CHECKSUM } => f.write_str("the server could not authenticate this client"),
            Self::Refused { reason } => write!(f, "the server refused the association (reason {reason})"),
            Self::Group => f.write_str(
                "the server put the association into another association group than the client's earlier ones",
            ),
            Self::Answer => f.write_str("the peer's response does not match the request"),
            Self::Busy => f.write_str("another call is outstanding, and the peer accepts one at a time"),
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
