//! The connectionless protocol (C706 chapters 9, 10 and 12.5): calls as datagrams, which get lost,
//! are duplicated and overtake each other.
//!
//! The module does no input or output and reads no clock. The caller gives received datagrams to
//! [`Activity`] or [`Server`] together with the time. Activities and servers put their outgoing
//! datagrams into an [`Output`], and their method `due` returns the time of their next timer.
//!
//! - [`pdu`] defines the protocol data units.
//! - [`Activity`] is the client's side: one call at a time, retransmitted until the server answers.
//! - [`Server`] reassembles calls, executes non-idempotent calls at most once, and keeps responses
//!   until the client has acknowledged them.
//! - [`relay`] connects activities and servers to windows, so that callers and services see
//!   messages in memory.
//!
//! The protocol has no bind: each unit's header names the interface and the object, and stub data
//! is NDR 2.0.

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

/// The longest unit that every implementation accepts, in bytes (C706 12.5.2.13: MustRecvFragSize).
pub const FIRST_FRAGMENT: usize = 1464;

/// The limits of a client or a server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest stub data of a message, in bytes.
    pub message_max: usize,
    /// The maximum sum of the lengths of all kept messages (arguments and results), in bytes. The
    /// messages of one host may take up half of that sum. The arguments of calls in progress count
    /// against the room for further arguments, but not against the room for results. Messages of at
    /// most [`FIRST_FRAGMENT`] bytes are kept even if there is no room.
    pub held_max: usize,
    /// The receive window: the maximum number of bytes of a message that the peer may have in
    /// flight.
    pub window: usize,
    /// The longest unit on a path within the host, in bytes.
    pub near_fragment: usize,
    /// The maximum number of known client activities; one host may have half of them.
    pub activities_max: usize,
    /// The time after which a silent peer counts as failed.
    pub silence_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_max: 16 << 20,
            held_max: 128 << 20,
            window: 64 << 10,
            near_fragment: 32 << 10,
            activities_max: 4096,
            silence_max: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// Returns the maximum length of a unit on a path. The MTU of a path that leaves the host is
    /// unknown, so such a path gets units that every implementation accepts.
    fn fragment_max(&self, is_near: bool) -> usize {
        if is_near { self.near_fragment } else { FIRST_FRAGMENT }
    }
}

/// Whether the sequence number `one` comes before `other`. The numbers wrap around at 2^32.
fn is_before(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() < 0
}
