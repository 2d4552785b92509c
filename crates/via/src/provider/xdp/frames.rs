//! Ethernet, IPv4 and UDP headers: 42 bytes in front of every datagram.
//!
//! IEEE 802.3, RFC 791, RFC 768. The headers are the simplest possible: no VLAN tag, no IP options,
//! no fragments. The UDP checksum is left out, as RFC 768 allows over IPv4: the content of a
//! datagram has a checksum of its own.

use std::net::{Ipv4Addr, SocketAddrV4};

/// The length of the three headers, in bytes.
pub(super) const HEADERS: usize = ETHERNET + IPV4 + UDP;
const ETHERNET: usize = 14;
const IPV4: usize = 20;
const UDP: usize = 8;
/// The minimum length of a frame without its check sequence, in bytes: IEEE 802.3, 3.2.8.
pub(super) const SHORTEST: usize = 60;

/// The EtherType of IPv4.
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
/// The first byte of an IPv4 header: version 4, and a length of five words.
const VERSION_AND_LENGTH: u8 = 0x45;
/// The flag "don't fragment" of an IPv4 header.
const DONT_FRAGMENT: u16 = 0x4000;
/// The mask of the flag "more fragments" and of the fragment's offset in an IPv4 header.
const FRAGMENT: u16 = 0x3fff;
const TIME_TO_LIVE: u8 = 64;
const PROTOCOL_UDP: u8 = 17;

/// An Ethernet address.
pub type Mac = [u8; 6];

/// The headers of all frames from one socket address to another, except for the lengths.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    bytes: [u8; HEADERS],
    // The sum of the IPv4 header's words without length and checksum.
    sum: u32,
}

impl Headers {
    pub(super) fn new(macs: (Mac, Mac), source: SocketAddrV4, destination: SocketAddrV4) -> Self {
        let mut bytes = [0; HEADERS];
        bytes[..6].copy_from_slice(&macs.1);
        bytes[6..12].copy_from_slice(&macs.0);
        bytes[12..14].copy_from_slice(&ETHERTYPE_IPV4);
        bytes[14] = VERSION_AND_LENGTH;
        bytes[20..22].copy_from_slice(&DONT_FRAGMENT.to_be_bytes());
        bytes[22] = TIME_TO_LIVE;
        bytes[23] = PROTOCOL_UDP;
        bytes[26..30].copy_from_slice(&source.ip().octets());
        bytes[30..34].copy_from_slice(&destination.ip().octets());
        bytes[34..36].copy_from_slice(&source.port().to_be_bytes());
        bytes[36..38].copy_from_slice(&destination.port().to_be_bytes());
        let sum = sum(&bytes[ETHERNET..ETHERNET + IPV4]);
        Self { bytes, sum }
    }

    /// Returns the headers for a payload of `payload` bytes. `None` when the payload is too long
    /// for a datagram.
    pub(super) fn of(&self, payload: usize) -> Option<[u8; HEADERS]> {
        let total = u16::try_from(payload.checked_add(IPV4 + UDP)?).ok()?;
        let mut bytes = self.bytes;
        bytes[16..18].copy_from_slice(&total.to_be_bytes());
        bytes[24..26].copy_from_slice(&(!fold(self.sum + u32::from(total))).to_be_bytes());
        bytes[38..40].copy_from_slice(&(total - IPV4 as u16).to_be_bytes());
        Some(bytes)
    }
}

/// The content of a frame's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrived {
    pub(super) source: SocketAddrV4,
    pub(super) destination: SocketAddrV4,
    /// The length of the payload, which follows the headers and lies within the frame.
    pub(super) payload: usize,
}

/// Whether a datagram can come from `source` over a wire: RFC 1122, 3.2.1.3. Any other source is
/// forged, and an answer would go to a program of this host, to many hosts, or to none. The kernel
/// would drop the datagram, but never sees it.
fn is_source(source: SocketAddrV4, own: Ipv4Addr) -> bool {
    let ip = *source.ip();
    // A class D address belongs to many hosts. A class E address belongs to none, except for the
    // last one, which is the broadcast address.
    let is_host = !matches!(ip.octets()[0], 0 | 127 | 224..);
    is_host && ip != own && source.port() != 0
}

/// Reads the headers of a frame of `frame` bytes. `None` unless the frame is a whole UDP datagram
/// to this address, over IPv4 with plain headers.
pub(super) fn read(headers: &[u8; HEADERS], frame: usize, own: Ipv4Addr) -> Option<Arrived> {
    let word = |at: usize| u16::from_be_bytes([headers[at], headers[at + 1]]);
    let address = |at: usize| Ipv4Addr::new(headers[at], headers[at + 1], headers[at + 2], headers[at + 3]);
    let plain = headers[12..14] == ETHERTYPE_IPV4
        && headers[14] == VERSION_AND_LENGTH
        && headers[23] == PROTOCOL_UDP
        && word(20) & FRAGMENT == 0;
    // A header with its checksum sums to all ones: RFC 1071.
    if !plain || fold(sum(&headers[ETHERNET..ETHERNET + IPV4])) != 0xffff {
        return None;
    }
    let (total, datagram) = (usize::from(word(16)), usize::from(word(38)));
    // Ethernet adds padding behind a short packet. The packet itself must have no spare bytes.
    if datagram < UDP || total != IPV4 + datagram || frame < ETHERNET + total {
        return None;
    }
    let source = SocketAddrV4::new(address(26), word(34));
    let destination = SocketAddrV4::new(address(30), word(36));
    let is_right = *destination.ip() == own && is_source(source, own);
    is_right.then_some(Arrived { source, destination, payload: datagram - UDP })
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum()
}

/// Folds a one's complement sum to 16 bits: RFC 1071.
fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> (SocketAddrV4, SocketAddrV4) {
        (
            SocketAddrV4::new(Ipv4Addr::new(192, 168, 0, 1), 4000),
            SocketAddrV4::new(Ipv4Addr::new(192, 168, 0, 199), 5000),
        )
    }

    fn headers(payload: usize) -> [u8; HEADERS] {
        let (from, to) = places();
        Headers::new(([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]), from, to).of(payload).unwrap()
    }

    fn read_here(headers: &[u8; HEADERS], frame: usize) -> Option<Arrived> {
        read(headers, frame, *places().1.ip())
    }

    #[test]
    fn frames_with_invalid_ip_addresses_are_refused() {
        let (from, here) = places();
        let arrives = |source: SocketAddrV4, destination: SocketAddrV4| {
            let bytes = Headers::new(([2; 6], [4; 6]), source, destination).of(100).unwrap();
            read_here(&bytes, HEADERS + 100).is_some()
        };
        assert!(arrives(from, here));
        assert!(!arrives(from, SocketAddrV4::new(Ipv4Addr::new(192, 168, 0, 198), 5000)), "for somebody else");
        // An answer to such a source would go to this program, to other programs of this host, to
        // every host, or to none.
        for source in ["192.168.0.199", "127.0.0.1", "127.9.9.9", "224.0.0.1", "255.255.255.255", "0.0.0.0", "0.1.2.3"]
        {
            assert!(!arrives(SocketAddrV4::new(source.parse().unwrap(), 4000), here), "{source}");
        }
        assert!(!arrives(SocketAddrV4::new(*from.ip(), 0), here), "from no port");
    }

    #[test]
    fn udp_frame_headers_have_the_standards_bytes() {
        let expected = [
            2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, // Ethernet: to, from, IPv4
            0x45, 0, 0, 38, 0, 0, 0x40, 0, 64, 17, 0xb8, 0xae, 192, 168, 0, 1, 192, 168, 0, 199, // IPv4
            0x0f, 0xa0, 0x13, 0x88, 0, 18, 0, 0, // UDP: ports, length, no checksum
        ];
        // The checksum by hand: 4500 + 0026 + 4000 + 4011 + c0a8 + 0001 + c0a8 + 00c7 = 2474f,
        // folded 4751, inverted b8ae.
        assert_eq!(headers(10), expected);
    }

    #[test]
    fn written_frame_headers_are_read_back() {
        let (source, destination) = places();
        for payload in [0, 1, 18, 1472] {
            let arrived = read(&headers(payload), (HEADERS + payload).max(SHORTEST), *destination.ip());
            assert_eq!(arrived, Some(Arrived { source, destination, payload }));
        }
        assert!(Headers::new(([0; 6], [0; 6]), source, destination).of(65_508).is_none());
    }

    #[test]
    fn frames_with_a_corrupt_ip_header_are_refused() {
        for at in ETHERNET..ETHERNET + IPV4 {
            for bit in 0..8 {
                let mut bytes = headers(100);
                bytes[at] ^= 1 << bit;
                assert_eq!(read_here(&bytes, HEADERS + 100), None, "byte {at}, bit {bit}");
            }
        }
    }

    #[test]
    fn frames_with_contradictory_lengths_are_refused() {
        assert!(read_here(&headers(100), HEADERS + 100).is_some());
        assert!(read_here(&headers(100), HEADERS + 99).is_none(), "the frame is shorter than the packet");
        for length in [0_u16, 7, 107, 109, 0xffff] {
            let mut bytes = headers(100);
            bytes[38..40].copy_from_slice(&length.to_be_bytes());
            assert!(read_here(&bytes, 2000).is_none(), "a datagram of {length} bytes in a packet for 108");
        }
    }

    #[test]
    fn ip_fragments_options_and_other_protocols_are_ignored() {
        // Each change keeps the checksum valid.
        let changed = |at: usize, value: u8| {
            let mut bytes = headers(100);
            bytes[at] = value;
            bytes[24..26].fill(0);
            let check = !fold(sum(&bytes[ETHERNET..ETHERNET + IPV4]));
            bytes[24..26].copy_from_slice(&check.to_be_bytes());
            read_here(&bytes, HEADERS + 100)
        };
        assert!(changed(22, 9).is_some(), "another time to live is none of our business");
        assert!(changed(20, 0x20).is_none(), "more fragments");
        assert!(changed(21, 1).is_none(), "a later fragment");
        assert!(changed(14, 0x46).is_none(), "options");
        assert!(changed(23, 6).is_none(), "TCP");
        assert!(changed(12, 0x86).is_none(), "not IPv4");
    }
}
