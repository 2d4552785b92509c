//! Captures: the traffic of links and streams, in a file for tcpdump, tshark and Wireshark.
//!
//! The format is libpcap's with nanoseconds (draft-ietf-opsawg-pcap; magic number 0xa1b2_3c4d), and
//! packets begin with their IP header (LINKTYPE_RAW, 101). Callers only have payloads, so the
//! headers of IP and of UDP or TCP are made up from [`Ends`], with correct checksums.
//!
//! A [`Capture`] records a link, or other packets of its owner. A [`SharedCapture`] is one file
//! that several processes write. If the environment names a shared capture, each stream has its
//! [`Conversation`] in it, and each datagram socket its [`Conversations`].
//!
//! ```
//! use obvia_via::wrap::{Capture, Ends};
//! use std::time::Duration;
//!
//! let mut bytes = Vec::new();
//! # let folder = ground::Folder::new("via-doc");
//! # let path = folder.join("packets.pcap");
//! let capture = Capture::create(&path)?;
//! // Around a link: `PcapLink::new(link, capture.clone(), Ends::default())`. By hand:
//! capture.sent(Duration::from_secs(1), &Ends::default(), b"hello");
//! capture.finish()?;
//! # bytes.extend(std::fs::read(&path).unwrap());
//! assert_eq!(bytes.len(), 24 + 16 + 20 + 8 + 5);
//! # Ok::<(), obvia_via::Error>(())
//! ```
//! `tshark -r FILE -d udp.port==7700,data` then lists the packets.

mod capture;
mod conversation;
mod conversations;
mod packet;
mod shared;

pub use capture::Capture;
pub use conversation::Conversation;
pub use conversations::Conversations;
pub use packet::Ends;
pub use shared::SharedCapture;

use crate::Error;
use crate::reliable::{Link, forward_sleep, forward_wire};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A link whose datagrams are captured.
#[derive(Debug)]
pub struct PcapLink<L> {
    inner: L,
    capture: Capture,
    ends: Ends,
}

impl<L: Link> PcapLink<L> {
    /// Captures the datagrams of a link.
    pub fn new(inner: L, capture: Capture, ends: Ends) -> Self {
        Self { inner, capture, ends }
    }
}

/// Returns the time since 1970.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl<L: Link> Link for PcapLink<L> {
    forward_wire!(link => link.inner);
    forward_sleep!(link => link.inner);

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        let is_sent = self.inner.send(datagram)?;
        if is_sent {
            self.capture.sent(now(), &self.ends, datagram);
        }
        Ok(is_sent)
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        let came = self.inner.receive(into)?;
        if let Some(length) = came {
            self.capture.received(now(), &self.ends, &into[..length.min(into.len())]);
        }
        Ok(came)
    }
}

#[cfg(test)]
mod tests;
