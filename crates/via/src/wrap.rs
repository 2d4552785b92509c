//! Wrappers of links and providers: deliberately bad networks, traces, and captures for packet
//! tools.
//!
//! - [`Conditions`] describe how bad a network is, in code or as a text; a [`Channel`] is one
//!   direction of such a network.
//! - [`FaultLink`] gives a real link such conditions.
//! - [`TracedProvider`] and [`TracedLink`] record what happens in a [`Trace`].
//! - [`PcapLink`] writes the datagrams of a link to a [`Capture`], a file that tcpdump and
//!   Wireshark open.
//! - [`SharedCapture`] is such a file for several processes. A [`Conversation`] writes to that file
//!   the bytes that two ends exchange.
//!
//! Links without a wrapper pay nothing.

mod channel;
mod conditions;
mod fault;
#[cfg(test)]
mod pair;
mod pcap;
mod random;
mod tracer;

pub use channel::{Channel, Counts};
pub use conditions::{Conditions, Cut, Share, Way};
pub use fault::FaultLink;
pub use pcap::{Capture, Conversation, Conversations, Ends, PcapLink, SharedCapture};
pub use random::Random;
pub use tracer::{Datagram, Event, EventKind, Trace, TracedLink, TracedProvider};
