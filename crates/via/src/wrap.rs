//! What is put around links and providers: bad networks on purpose, a look at what goes by, and captures for packet tools.
//!
//! - [`Conditions`] say how bad a network is, in code or as a text; a [`Channel`] is one direction of it.
//! - [`FaultLink`] gives a real link such conditions.
//! - [`TracedProvider`] and [`TracedLink`] note what happens in a [`Trace`].
//! - [`PcapLink`] writes the datagrams of a link to a [`Capture`], a file that tcpdump and Wireshark open.
//! - [`SharedCapture`] is such a file of several processes, and [`Conversation`] what two ends say to each other in it.
//!
//! A link that is not wrapped pays nothing.

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
pub use tracer::{Datagram, Event, Trace, TracedLink, TracedProvider, What};
