//! Captures: the datagrams of links in a file that tcpdump, tshark and Wireshark open.
//!
//! The format is libpcap's with nanoseconds (draft-ietf-opsawg-pcap; magic number 0xa1b2_3c4d). A link hands over payloads only, so
//! the headers of Ethernet, IPv4 (RFC 791) and UDP (RFC 768) around them are made up from [`Ends`]; their checksums are right.
//!
//! ```
//! use obvia_via::wrap::{Capture, Ends};
//! use std::time::Duration;
//!
//! let mut bytes = Vec::new();
//! # let path = std::env::temp_dir().join(format!("via-capture-{}.pcap", std::process::id()));
//! let capture = Capture::create(&path)?;
//! // Around a link: `PcapLink::new(link, capture.clone(), Ends::default())`. By hand:
//! capture.sent(Duration::from_secs(1), &Ends::default(), b"hello");
//! capture.finish()?;
//! # bytes.extend(std::fs::read(&path).unwrap());
//! # std::fs::remove_file(&path).unwrap();
//! assert_eq!(bytes.len(), 24 + 16 + 14 + 20 + 8 + 5);
//! # Ok::<(), obvia_via::Error>(())
//! ```
//! `tshark -r FILE -d udp.port==7700,data` then lists the packets.

use crate::Error;
use crate::reliable::Link;
use rustix::fd::OwnedFd;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
const LINKTYPE_ETHERNET: u32 = 1;
const ETHERNET: usize = 14;
const IPV4: usize = 20;
const UDP: usize = 8;
const HEADERS: usize = ETHERNET + IPV4 + UDP;
const ETHERTYPE_IPV4: u16 = 0x0800;
const PROTOCOL_UDP: u8 = 17;
/// What the length field of IPv4 leaves for a payload. Longer ones are captured in part.
const PAYLOAD_MAX: usize = u16::MAX as usize - IPV4 - UDP;
/// The longest packet that a reader has to expect.
const SNAP: u32 = (PAYLOAD_MAX + HEADERS) as u32;

/// One end as a capture shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The hardware address.
    pub mac: [u8; 6],
    /// The internet address.
    pub address: Ipv4Addr,
    /// The port.
    pub port: u16,
}

/// The two ends of a link as a capture shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// This side.
    pub own: Endpoint,
    /// The peer.
    pub peer: Endpoint,
}

impl Ends {
    /// The port of both sides where nothing else is said.
    pub const PORT: u16 = 7700;

    /// Made-up addresses for ends with these numbers: 10.77.0.0/16 and locally administered hardware addresses.
    pub fn numbered(own: u16, peer: u16) -> Self {
        let end = |number: u16| {
            let [high, low] = number.to_be_bytes();
            Endpoint { mac: [0x02, 0, 0, 0, high, low], address: Ipv4Addr::new(10, 77, high, low), port: Self::PORT }
        };
        Self { own: end(own), peer: end(peer) }
    }
}

impl Default for Ends {
    fn default() -> Self {
        Self::numbered(1, 2)
    }
}

/// A file that datagrams are written to. Clones write to the same.
///
/// A capture never holds up a link: when writing fails or the limit is reached it stops, and [`Self::finish`] tells.
#[derive(Clone)]
pub struct Capture {
    file: Arc<Mutex<Open>>,
}

struct Open {
    writer: Box<dyn Write + Send>,
    packet: Vec<u8>,
    left: u64,
    captured: u64,
    left_out: u64,
    failed: Option<io::Error>,
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.open();
        f.debug_struct("Capture").field("captured", &open.captured).field("left_out", &open.left_out).finish()
    }
}

impl Capture {
    /// Bytes that a capture has at most if nothing else is said: 1 GiB.
    pub const LIMIT: u64 = 1 << 30;

    /// Captures to a file, which is made anew.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let file = File::create(path).map_err(Error::io("making a capture file"))?;
        Self::to(Box::new(BufWriter::new(file)), Self::LIMIT)
    }

    /// Captures to a writer, up to so many bytes.
    ///
    /// # Errors
    ///
    /// When the file's header cannot be written.
    pub fn to(mut writer: Box<dyn Write + Send>, limit: u64) -> Result<Self, Error> {
        let mut header = Vec::with_capacity(24);
        header.extend(MAGIC_NANOSECONDS.to_le_bytes());
        header.extend(VERSION.map(u16::to_le_bytes).as_flattened());
        header.extend([0; 8]);
        header.extend(SNAP.to_le_bytes());
        header.extend(LINKTYPE_ETHERNET.to_le_bytes());
        writer.write_all(&header).map_err(Error::io("writing a capture"))?;
        let left = limit.saturating_sub(header.len() as u64);
        let open = Open { writer, packet: Vec::new(), left, captured: 0, left_out: 0, failed: None };
        Ok(Self { file: Arc::new(Mutex::new(open)) })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Captures a datagram that this side sent, so long after 1970.
    pub fn sent(&self, at: Duration, ends: &Ends, datagram: &[u8]) {
        self.open().record(at, &ends.own, &ends.peer, datagram);
    }

    /// Captures a datagram that this side received.
    pub fn received(&self, at: Duration, ends: &Ends, datagram: &[u8]) {
        self.open().record(at, &ends.peer, &ends.own, datagram);
    }

    /// Writes out what is buffered. Returns the packets captured.
    ///
    /// # Errors
    ///
    /// What went wrong since the capture began, or [`Error::CaptureFull`] with the packets that found no room.
    pub fn finish(&self) -> Result<u64, Error> {
        let mut open = self.open();
        if let Some(error) = open.failed.take() {
            return Err(Error::io("writing a capture")(error));
        }
        open.writer.flush().map_err(Error::io("writing a capture"))?;
        match open.left_out {
            0 => Ok(open.captured),
            missed => Err(Error::CaptureFull { missed }),
        }
    }
}

impl Open {
    fn record(&mut self, at: Duration, from: &Endpoint, to: &Endpoint, datagram: &[u8]) {
        let kept = &datagram[..datagram.len().min(PAYLOAD_MAX)];
        let size = (16 + HEADERS + kept.len()) as u64;
        if self.failed.is_some() || size > self.left {
            self.left_out += 1;
            // Once full it stays full: a capture with holes misleads.
            self.left = 0;
            return;
        }
        self.packet.clear();
        // The format counts seconds in 32 bits.
        self.packet.extend((at.as_secs() as u32).to_le_bytes());
        self.packet.extend(at.subsec_nanos().to_le_bytes());
        self.packet.extend(((HEADERS + kept.len()) as u32).to_le_bytes());
        self.packet.extend(u32::try_from(HEADERS + datagram.len()).unwrap_or(u32::MAX).to_le_bytes());
        headers(&mut self.packet, from, to, kept, self.captured as u16);
        self.packet.extend_from_slice(kept);
        match self.writer.write_all(&self.packet) {
            Ok(()) => {
                self.left -= size;
                self.captured += 1;
            }
            Err(error) => self.failed = Some(error),
        }
    }
}

/// The headers of a packet.
fn headers(packet: &mut Vec<u8>, from: &Endpoint, to: &Endpoint, payload: &[u8], number: u16) {
    packet.extend(to.mac);
    packet.extend(from.mac);
    packet.extend(ETHERTYPE_IPV4.to_be_bytes());
    let udp_length = (UDP + payload.len()) as u16;
    let mut ip = [0; IPV4];
    ip[0] = 0x45;
    ip[2..4].copy_from_slice(&(IPV4 as u16 + udp_length).to_be_bytes());
    ip[4..6].copy_from_slice(&number.to_be_bytes());
    // Not to be fragmented; 64 hops.
    ip[6] = 0x40;
    ip[8..10].copy_from_slice(&[64, PROTOCOL_UDP]);
    ip[12..16].copy_from_slice(&from.address.octets());
    ip[16..].copy_from_slice(&to.address.octets());
    let checksum = !fold(sum(&ip));
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet.extend(ip);
    let mut udp = [0; UDP];
    udp[..2].copy_from_slice(&from.port.to_be_bytes());
    udp[2..4].copy_from_slice(&to.port.to_be_bytes());
    udp[4..6].copy_from_slice(&udp_length.to_be_bytes());
    let pseudo = sum(&ip[12..]) + u64::from(PROTOCOL_UDP) + u64::from(udp_length);
    let checksum = !fold(pseudo + sum(&udp) + sum(payload));
    // Zero says that there is none; a sum of zero is written as its other form.
    udp[6..].copy_from_slice(&if checksum == 0 { u16::MAX } else { checksum }.to_be_bytes());
    packet.extend(udp);
}

/// The 16-bit words of a stretch added up, the last one filled up with a zero (RFC 1071).
fn sum(bytes: &[u8]) -> u64 {
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0));
    bytes.chunks(2).map(word).sum()
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// A link whose datagrams are captured.
#[derive(Debug)]
pub struct PcapLink<L> {
    inner: L,
    capture: Capture,
    ends: Ends,
}

impl<L: Link> PcapLink<L> {
    /// Captures what goes through a link.
    pub fn new(inner: L, capture: Capture, ends: Ends) -> Self {
        Self { inner, capture, ends }
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl<L: Link> Link for PcapLink<L> {
    fn mtu(&self) -> usize {
        self.inner.mtu()
    }

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

    fn file(&self) -> Option<Arc<OwnedFd>> {
        self.inner.file()
    }

    fn peer(&self) -> String {
        self.inner.peer()
    }
}

#[cfg(test)]
mod tests;
