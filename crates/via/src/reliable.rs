//! Reliability over datagrams that may get lost, doubled, reordered or damaged: the software wire of a VI.
//!
//! An [`Engine`] is one end of one connection. It knows no socket, no clock and no thread: time comes in as nanoseconds since
//! some start, datagrams come and go as bytes, and what they bring about is told to a [`Sink`](crate::spi::Sink). [`Requesting`] and
//! [`Answering`] are the two ends of the handshake that makes a pair of engines. A [`LinkPort`] drives an engine over a
//! [`Link`], and [`connect`] and [`accept`] do the handshake over one. The packets are in docs/vi-wire.md.

mod crc;
mod engine;
mod guard;
mod handshake;
mod link;
pub mod network;
mod open;
pub mod packet;
mod path;
mod port;
mod receiving;
mod repeat;
mod sending;
mod timing;

pub use engine::{Dropped, Engine, Statistics};
pub use guard::{Cipher, Guard, Nonce, TAG};
pub use handshake::{Answer, Answering, Requesting};
pub use link::Link;
pub use open::{accept, connect};
pub use port::LinkPort;

use std::time::Duration;

/// How an engine behaves. Both ends may have their own.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The peer is taken for gone when nothing came from it for so long although something should have.
    pub silence: Duration,
    /// Whether the peer is asked for a sign of life when it is silent, and nothing else is under way.
    pub keep_alive: bool,
    /// How long an acknowledgement may wait for a packet that takes it along.
    pub ack_delay: Duration,
    /// Bytes of datagrams that may be under way to this end: what its socket keeps until it is looked at.
    pub window: u32,
    /// The longest packet that every path takes.
    pub first_packet: usize,
    /// The least time after which a packet is taken for lost because nothing came back.
    pub timeout_min: Duration,
    /// The most.
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
            timeout_max: Duration::from_millis(200),
        }
    }
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}

#[cfg(test)]
mod tests;
