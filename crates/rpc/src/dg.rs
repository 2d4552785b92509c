//! The connectionless protocol (C706 chapters 9, 10 and 12.5): calls as datagrams, which get lost, come twice, and pass each other.
//!
//! Nothing here does input or output, or looks at a clock. What a socket received is given to [`Activity`] or [`Server`] with the
//! time; what is to be sent lies in their [`Output`], and `due` says when they want to be called again.
//!
//! - [`pdu`] are the units.
//! - [`Activity`] is a client's side: one call at a time, which is repeated until it is answered.
//! - [`Server`] puts calls together, sees to it that none is performed twice that must not be, and keeps answers until they have arrived.
//! - [`relay`] puts them behind windows, so that whoever makes calls and serves them sees messages in memory.
//!
//! There is no bind: each unit has interface and object in its header, and stub data is NDR 2.0.

mod client;
mod conversation;
mod output;
pub mod pdu;
mod receiving;
pub mod relay;
mod sending;
mod server;
#[cfg(test)]
mod tests;

pub use client::{Activity, Failure, Outcome, OutgoingCall, Semantics};
pub use output::Output;
pub use server::{CallKey, IncomingCall, Server, ServerEvent, ServerOptions};

use std::time::Duration;

/// The longest unit that everybody takes, in bytes (C706 12.5.2.13: MustRecvFragSize).
pub const FIRST_FRAGMENT: usize = 1464;

/// What a side puts up with.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest stub data of a message, in bytes.
    pub message_max: usize,
    /// Bytes of all messages that are kept, arguments and results together; one host may have half of them.
    pub held_max: usize,
    /// Bytes of a message that may be under way to this side.
    pub window: usize,
    /// The longest unit over a way that does not leave the host.
    pub near_fragment: usize,
    /// Activities of clients that are known at a time; one host may have half of them.
    pub activities_max: usize,
    /// How long somebody may say nothing.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_max: 16 << 20,
            held_max: 128 << 20,
            window: 64 << 10,
            near_fragment: 32 << 10,
            activities_max: 4096,
            patience: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// The longest unit over a way: of others than those within the host nobody knows what they carry in one piece.
    fn fragment_max(&self, is_near: bool) -> usize {
        if is_near { self.near_fragment } else { FIRST_FRAGMENT }
    }
}

/// Whether one number of a sequence comes before another; numbers come round.
fn is_before(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() < 0
}
