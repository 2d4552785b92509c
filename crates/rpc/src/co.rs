//! The connection-oriented protocol (C706 chapter 12, MS-RPCE): associations of a client and a server over a stream of bytes.
//!
//! Nothing here does input or output. What a stream received is put into an association's [`Input`], `poll` says what it means, and
//! what is to be sent lies ready in one piece, all fragments of a message one after the other.
//!
//! - [`pdu`] are the units.
//! - [`ServerAssociation`] answers binds, puts calls together and cuts their results into fragments.
//! - [`ClientAssociation`] does the same from the other side.
//! - [`relay`] puts them behind windows, so that whoever makes calls and serves them sees messages in memory.

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

pub use client::{ClientAssociation, ClientEvent, ClientOptions, IncomingFault, IncomingResponse, OutgoingCall};
pub use direct::{DirectCalls, DirectError};
pub use error::AssociationError;
pub use groups::{Group, Groups, Joined, Joins};
pub use input::Input;
pub use server::{Denial, Exemption, IncomingCall, ServerAssociation, ServerEvent, ServerOptions, Witness};

use crate::security::Level;
use crate::uuid::{SyntaxId, Uuid};
use pdu::FragmentSizes;

/// What an association puts up with.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long fragments may be.
    pub sizes: FragmentSizes,
    /// The longest stub data of a message, and of all messages together of which not all fragments are there, in bytes.
    pub message_max: usize,
    /// How many calls may be under way at a time.
    pub calls_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { sizes: FragmentSizes::GREATEST, message_max: 256 << 20, calls_max: 256 }
    }
}

/// What a call was protected by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSecurity {
    /// Which security context of the association.
    pub context_id: u32,
    /// The context's level, which each fragment of the call has proved.
    pub level: Level,
}

/// A presentation context that was agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presentation {
    /// Its number.
    pub id: u16,
    /// The interface.
    pub interface: SyntaxId,
    /// How calls of it are laid out.
    pub transfer: SyntaxId,
}

/// Bind-time features (MS-RPCE 2.2.2.14): what a "transfer syntax" of this kind proposes.
mod features {
    use super::{SyntaxId, Uuid};

    const PREFIX: u128 = 0x6cb7_1c2c_9812_4540 << 64;
    /// Security contexts may be several.
    const SECURITY_MULTIPLEX: u8 = 1;
    /// An orphaned call does not end the connection.
    pub(super) const KEEP_ON_ORPHAN: u8 = 2;
    /// What there is here.
    const KNOWN: u8 = SECURITY_MULTIPLEX | KEEP_ON_ORPHAN;

    /// The proposal of all that there is here.
    pub(super) const PROPOSAL: SyntaxId = SyntaxId { uuid: Uuid(PREFIX | (KNOWN as u128) << 56), version: 1 };

    /// What of a proposal can be granted; `None` for what is another transfer syntax.
    pub(super) fn granted(syntax: SyntaxId) -> Option<u16> {
        let is_one = syntax.version == 1 && syntax.uuid.0 >> 64 == PREFIX >> 64;
        is_one.then(|| u16::from((syntax.uuid.0 >> 56) as u8 & KNOWN))
    }
}
