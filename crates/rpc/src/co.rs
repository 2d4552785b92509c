//! The connection-oriented protocol (C706 chapter 12, MS-RPCE): associations of a client and a
//! server over a stream of bytes.
//!
//! The module does no input or output. The caller puts received bytes into an association's
//! [`Input`], and `poll` interprets them. The association puts outgoing bytes into one buffer, with
//! all fragments of a message in sequence.
//!
//! - [`pdu`] defines the protocol data units.
//! - [`ServerAssociation`] answers binds, reassembles calls and cuts their results into fragments.
//! - [`ClientAssociation`] is the client's counterpart.
//! - [`relay`] connects associations to windows, so that callers and services see messages in
//!   memory.

mod assembly;
mod client;
mod contexts;
mod direct;
mod error;
mod groups;
mod input;
mod output;
pub mod pdu;
pub mod relay;
mod server;
#[cfg(test)]
mod tests;
mod verification;

pub use client::{ClientAssociation, ClientEvent, ClientOptions, IncomingFault, IncomingResponse, OutgoingCall};
pub use direct::{DirectCalls, DirectError};
pub use error::AssociationError;
pub use groups::{Group, Groups, Joined, Joins};
pub use input::Input;
pub use obvia_via::{Budget, Reservation};
pub use server::{Denial, DenialObserver, Exemption, IncomingCall, ServerAssociation, ServerEvent, ServerOptions};

use crate::security::Level;
use crate::uuid::{SyntaxId, Uuid};
use pdu::FragmentSizes;
use std::time::Duration;

/// The limits of an association.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The limits of the fragments' lengths.
    pub sizes: FragmentSizes,
    /// The maximum length of a message's stub data, in bytes. Also the maximum for the stub data of
    /// all incomplete messages together.
    pub message_max: usize,
    /// The maximum number of outstanding calls.
    pub calls_max: usize,
    /// The maximum time from a fragment's first byte to its last byte, and from the end of a
    /// fragment to the end of the message's next fragment. A whole message may take this time, plus
    /// one second for each 16 KiB of it that have arrived.
    pub silence_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let silence_max = Duration::from_secs(30);
        Self { sizes: FragmentSizes::GREATEST, message_max: 256 << 20, calls_max: 256, silence_max }
    }
}

/// The protection of a call: its security context, and the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSecurity {
    /// The identifier of the association's security context.
    pub context_id: u32,
    /// The context's level, verified on each fragment of the call.
    pub level: Level,
}

/// A negotiated presentation context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presentation {
    /// The context's identifier.
    pub id: u16,
    /// The interface.
    pub interface: SyntaxId,
    /// The transfer syntax of calls on the interface.
    pub transfer: SyntaxId,
}

/// Bind-time feature negotiation (MS-RPCE 2.2.2.14): features are proposed as a transfer syntax.
mod features {
    use super::{SyntaxId, Uuid};

    const PREFIX: u128 = 0x6cb7_1c2c_9812_4540 << 64;
    /// A connection may have several security contexts.
    const SECURITY_MULTIPLEX: u8 = 1;
    /// The connection stays open after a call was orphaned.
    pub(super) const KEEP_ON_ORPHAN: u8 = 2;
    /// The features that this implementation supports.
    const KNOWN: u8 = SECURITY_MULTIPLEX | KEEP_ON_ORPHAN;

    /// The transfer syntax that proposes all supported features.
    pub(super) const PROPOSAL: SyntaxId = SyntaxId { uuid: Uuid(PREFIX | (KNOWN as u128) << 56), version: 1 };

    /// Returns the supported features among the proposed ones, or `None` if the transfer syntax
    /// proposes no features.
    pub(super) fn granted(syntax: SyntaxId) -> Option<u16> {
        let is_one = syntax.version == 1 && syntax.uuid.0 >> 64 == PREFIX >> 64;
        is_one.then(|| u16::from((syntax.uuid.0 >> 56) as u8 & KNOWN))
    }
}
