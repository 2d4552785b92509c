//! Packets of captures: the headers of IP and of UDP or TCP around a payload.

use crate::host::mapped;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const IPV4: usize = 20;
/// The length of an IPv6 header in bytes. An IPv4 header is shorter.
const IPV6: usize = 40;
const TCP: usize = 20;
/// The options of a stream's first segments. The maximum segment size is 65,535 bytes (RFC 9293
/// 3.2). Windows are in units of 2^14 bytes (RFC 7323 2.2), so that packet tools report no full
/// window.
const TCP_OPTIONS: [u8; 8] = [2, 4, 0xff, 0xff, 1, 3, 3, 14];
const UDP: usize = 8;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
/// The maximum length of a packet, which is written in 16 bits.
pub(super) const PACKET_MAX: usize = u16::MAX as usize;
/// The maximum length of a packet's payload. Longer payloads are captured in part.
pub(super) const PAYLOAD_MAX: usize = PACKET_MAX - IPV6 - TCP - TCP_OPTIONS.len();

/// The flags of TCP segments that captures use: RFC 9293 3.1.
pub(super) const FIN: u8 = 0x01;
pub(super) const SYN: u8 = 0x02;
pub(super) const PUSH: u8 = 0x08;
pub(super) const ACK: u8 = 0x10;

/// The two ends of captured traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The address of this side.
    pub own: SocketAddr,
    /// The address of the peer.
    pub peer: SocketAddr,
}

impl Ends {
    /// The default port of both sides.
    pub const PORT: u16 = 7700;

    /// Returns made-up addresses for ends with these numbers, in 10.77.0.0/16.
    pub fn numbered(own: u16, peer: u16) -> Self {
        let end = |number: u16| {
            let [high, low] = number.to_be_bytes();
            SocketAddr::from(([10, 77, high, low], Self::PORT))
        };
        Self { own: end(own), peer: end(peer) }
    }

    /// Returns the ends with IPv4-mapped addresses written as IPv4.
    pub(super) fn canonical(self) -> Self {
        let [own, peer] = [self.own, self.peer].map(|end| SocketAddr::new(end.ip().to_canonical(), end.port()));
        Self { own, peer }
    }

    /// Returns the ends as the peer sees them.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { own: self.peer, peer: self.own }
    }
}

impl Default for Ends {
    fn default() -> Self {
        Self::numbered(1, 2)
    }
}

/// The transport header of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layer {
    /// The header of UDP: RFC 768.
    Udp,
    /// The header of TCP: RFC 9293.
    Tcp { flags: u8, sequence: u32, acknowledged: u32 },
}

impl Layer {
    fn protocol(self) -> u8 {
        match self {
            Self::Udp => PROTOCOL_UDP,
            Self::Tcp { .. } => PROTOCOL_TCP,
        }
    }

    /// Returns the header, and the offset of its checksum.
    fn header(self, from: u16, to: u16, payload: usize) -> (Vec<u8>, usize) {
        let mut header = [from.to_be_bytes(), to.to_be_bytes()].concat();
        match self {
            Self::Udp => {
                header.extend(((UDP + payload) as u16).to_be_bytes());
                header.extend([0; 2]);
                (header, 6)
            }
            Self::Tcp { flags, sequence, acknowledged } => {
                header.extend(sequence.to_be_bytes());
                header.extend(acknowledged.to_be_bytes());
                let options: &[u8] = if flags & SYN == 0 { &[] } else { &TCP_OPTIONS };
                header.extend([((TCP + options.len()) << 2) as u8, flags, 0xff, 0xff, 0, 0, 0, 0]);
                header.extend(options);
                (header, 16)
            }
        }
    }
}

/// Appends the headers of a packet. The payload, of at most [`PAYLOAD_MAX`] bytes, has to follow.
pub(super) fn headers(into: &mut Vec<u8>, ends: Ends, layer: Layer, payload: &[u8], number: u16) {
    let Ends { own: from, peer: to } = ends.canonical();
    let (mut header, checksum_at) = layer.header(from.port(), to.port(), payload.len());
    let length = (header.len() + payload.len()) as u16;
    let addresses = match (from.ip(), to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => ipv4(into, from, to, layer.protocol(), length, number),
        (from, to) => ipv6(into, mapped(from), mapped(to), layer.protocol(), length),
    };
    let pseudo = addresses + u64::from(layer.protocol()) + u64::from(length);
    let checksum = !fold(pseudo + sum(&header) + sum(payload));
    // In UDP, zero means that there is no checksum. So a computed zero is written as 0xffff, which
    // receivers take as equal. In TCP, both values are valid.
    let checksum = if checksum == 0 { u16::MAX } else { checksum };
    header[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
    into.extend(header);
}

/// Appends the header of IPv4 (RFC 791). Returns the sum of the addresses, which is a part of the
/// transport's checksum.
fn ipv4(into: &mut Vec<u8>, from: Ipv4Addr, to: Ipv4Addr, protocol: u8, length: u16, number: u16) -> u64 {
    let mut header = [0; IPV4];
    header[0] = 0x45;
    header[2..4].copy_from_slice(&(IPV4 as u16 + length).to_be_bytes());
    header[4..6].copy_from_slice(&number.to_be_bytes());
    // The first assignment sets the flag that forbids fragmentation, the second a limit of 64 hops.
    header[6] = 0x40;
    header[8..10].copy_from_slice(&[64, protocol]);
    header[12..16].copy_from_slice(&from.octets());
    header[16..].copy_from_slice(&to.octets());
    let checksum = !fold(sum(&header));
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    into.extend(header);
    sum(&header[12..])
}

/// Appends the header of IPv6 (RFC 8200). Returns the sum of the addresses, which is a part of the
/// transport's checksum.
fn ipv6(into: &mut Vec<u8>, from: Ipv6Addr, to: Ipv6Addr, protocol: u8, length: u16) -> u64 {
    let mut header = [0; IPV6];
    header[0] = 0x60;
    header[4..6].copy_from_slice(&length.to_be_bytes());
    header[6..8].copy_from_slice(&[protocol, 64]);
    header[8..24].copy_from_slice(&from.octets());
    header[24..].copy_from_slice(&to.octets());
    into.extend(header);
    sum(&header[8..])
}

/// Returns the sum of 16-bit words, the last one padded with zero (RFC 1071).
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
