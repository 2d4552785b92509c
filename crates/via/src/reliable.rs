//! Reliability over datagrams that may get lost, doubled, reordered or damaged: the software wire
//! of a VI.
//!
//! An [`Engine`] is one end of one connection. An engine has no socket, clock or thread. Its caller
//! passes in the received datagrams and the time, in nanoseconds since any fixed start. The caller
//! takes out the datagrams to be sent. The engine acts on the VI's queues and regions through a
//! [`Sink`](crate::spi::Sink). [`Requesting`] and [`Answering`] are the two ends of the handshake
//! that makes a pair of engines. A [`LinkPort`] drives an engine over a [`Link`], and [`connect`]
//! and [`accept`] perform the handshake over a link. docs/vi-wire.md specifies the packets.

mod admission;
mod congestion;
mod crc;
mod ecn;
mod engine;
mod guard;
mod handshake;
mod link;
mod move_key;
pub(crate) mod moved;
pub mod network;
mod open;
mod overtaking;
mod pacing;
pub mod packet;
mod path;
mod port;
mod receiving;
mod repeat;
mod requests;
mod sending;
mod slow_start;
mod timing;
mod token;

pub use admission::RefusalObserver;
pub(crate) use admission::{Admission, AdmittedRequest};
pub use engine::{Dropped, Engine, Statistics};
pub use guard::{Cipher, Guard, Nonce, TAG};
pub use handshake::{Answer, Answering, Requesting};
pub use link::{Link, Marks};
pub(crate) use link::{forward_sleep, forward_wire};
pub use move_key::MoveKey;
pub(crate) use moved::Claimed;
pub use open::{accept, connect};
pub use port::LinkPort;
#[cfg(test)]
pub(crate) use requests::{PENDING_OF_HOST_MAX, TOO_MANY_OF_HOST, YIELDS_AFTER};
pub use token::{Judged, Moved, TOKEN_LIFETIME, Tokens};

use std::time::Duration;

/// The maximum length of a short packet, in bytes (docs/vi-wire.md, "Notification of congestion").
/// Only short packets are predicted: see `engine/predict.rs`.
const SHORT_MAX: usize = 256;

/// The settings of an engine. Each end may have its own.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The silence after which the peer counts as gone, if this end waits for an answer, such as an
    /// acknowledgement.
    pub silence: Duration,
    /// Whether this end pings a silent peer even while this end waits for no answer.
    pub keep_alive: bool,
    /// The maximum time for which an acknowledgement waits for a packet that can carry it.
    pub ack_delay: Duration,
    /// The capacity of this end's socket, in bytes of datagrams. Over round trips below 20 ms, the
    /// peer has at most this number of bytes in flight.
    pub window: u32,
    /// A packet length, in bytes, that every path is assumed to carry. The search for longer
    /// packets begins with this length.
    pub first_packet: usize,
    /// The minimum time beyond the round trip after which an acknowledgement is overdue.
    pub timeout_min: Duration,
    /// The maximum time, round trip included, after which an acknowledgement is overdue.
    pub timeout_max: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            silence: Duration::from_secs(5),
            keep_alive: true,
            ack_delay: Duration::from_micros(50),
            window: 1 << 20,
            first_packet: 1200,
            timeout_min: Duration::from_millis(5),
            timeout_max: Duration::from_secs(60),
        }
    }
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}

#[cfg(test)]
mod tests;
