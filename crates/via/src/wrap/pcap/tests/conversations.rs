//! Captures with several writers, read back by a separate reader and by tshark.

use super::super::conversation::Transport;
use super::super::{Conversation, Ends, SharedCapture};
use super::{Folder, big, checksum, little, take};
use crate::Error;
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

/// A captured segment: `from` and `to` are ports.
#[derive(Debug, PartialEq, Eq)]
struct Segment {
    from: u16,
    to: u16,
    sequence: u32,
    acknowledged: u32,
    flags: u8,
    payload: Vec<u8>,
}

fn read_segment(mut packet: &[u8]) -> Segment {
    let is_version_6 = packet[0] == 0x60;
    let ip = take(&mut packet, if is_version_6 { 40 } else { 20 });
    let (protocol, length, addresses) = if is_version_6 {
        (ip[6], u16::from_be_bytes([ip[4], ip[5]]), &ip[8..])
    } else {
        assert_eq!((ip[0], checksum(&[ip])), (0x45, 0xffff));
        (ip[9], u16::from_be_bytes([ip[2], ip[3]]) - 20, &ip[12..])
    };
    assert_eq!((protocol, usize::from(length)), (6, packet.len()));
    let pseudo = [0, protocol, length.to_be_bytes()[0], length.to_be_bytes()[1]];
    assert_eq!(checksum(&[addresses, &pseudo, packet]), 0xffff, "the segment's checksum");
    let (from, to) = (big(&mut packet), big(&mut packet));
    let word = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    let (sequence, acknowledged) = (word(take(&mut packet, 4)), word(take(&mut packet, 4)));
    let rest = take(&mut packet, 8);
    take(&mut packet, usize::from(rest[0] >> 4) * 4 - 20);
    Segment { from, to, sequence, acknowledged, flags: rest[1], payload: packet.to_vec() }
}

fn read(path: &Path) -> Vec<Segment> {
    let bytes = std::fs::read(path).unwrap();
    let mut bytes = &bytes[24..];
    let mut segments = Vec::new();
    while !bytes.is_empty() {
        take(&mut bytes, 8);
        let (kept, was) = (little(&mut bytes), little(&mut bytes));
        assert_eq!(kept, was);
        segments.push(read_segment(take(&mut bytes, kept as usize)));
    }
    segments
}

/// Returns tshark's output for each packet: its stream, its checksum status, its length and its
/// severity. `None` without tshark.
fn witness(path: &Path) -> Option<Vec<String>> {
    let options = ["-n", "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-d", "tcp.port==2,data"];
    let fields = ["tcp.stream", "tcp.checksum.status", "tcp.len", "_ws.expert.severity"];
    let fields = fields.iter().flat_map(|field| ["-e", field]);
    let said = Command::new("tshark").args(options).arg("-r").arg(path).args(["-T", "fields"]).args(fields).output();
    // Without tshark, the reader above is the only check.
    Some(String::from_utf8(said.ok()?.stdout).unwrap().lines().map(str::to_owned).collect())
}

/// The severity "warning", the lowest that needs attention.
const WARNING: u32 = 0x0060_0000;

fn assert_nothing_is_remarkable(path: &Path, packets: usize) {
    let Some(said) = witness(path) else { return };
    assert_eq!(said.len(), packets);
    for line in said {
        let fields: Vec<_> = line.split('\t').collect();
        assert_eq!(fields[..2], ["0", "1"], "one stream, good checksums: {line}");
        assert!(
            fields[3]
                .split(',')
                .all(|severity| severity.parse().is_ok_and(|severity: u32| severity < WARNING) || severity.is_empty()),
            "{line}"
        );
    }
}

/// Opens the capture as a separate process would.
fn joined(path: &Path, limit: u64) -> &'static SharedCapture {
    Box::leak(Box::new(SharedCapture::join(path, limit).unwrap()))
}

fn stream(path: &Path, ends: Ends, is_opener: bool) -> Conversation {
    Conversation::new(joined(path, u64::MAX), ends, Transport::Tcp, is_opener).unwrap()
}

/// Returns the ends of a client, with port 1 as its own.
fn ends(address: &str) -> Ends {
    let end = |port| SocketAddr::new(address.parse().unwrap(), port);
    Ends { own: end(1), peer: end(2) }
}

const SYN: u8 = 2;
const SYN_ACK: u8 = 0x12;
const ACK: u8 = 0x10;
const PUSH_ACK: u8 = 0x18;
const FIN_ACK: u8 = 0x11;

fn segment(from: u16, sequence: u32, acknowledged: u32, flags: u8, payload: &[u8]) -> Segment {
    Segment { from, to: 3 - from, sequence, acknowledged, flags, payload: payload.to_vec() }
}

/// Returns the segments of a call and its answer, whichever process writes them.
fn a_call_and_its_answer() -> Vec<Segment> {
    vec![
        segment(1, 0, 0, SYN, b""),
        segment(2, 0, 1, SYN_ACK, b""),
        segment(1, 1, 1, ACK, b""),
        segment(1, 1, 1, PUSH_ACK, b"call"),
        segment(2, 1, 5, PUSH_ACK, b"the "),
        segment(2, 5, 5, PUSH_ACK, b"answer"),
        segment(1, 5, 11, FIN_ACK, b""),
        segment(2, 11, 6, FIN_ACK, b""),
    ]
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn both_ends_of_a_stream_capture_each_packet_once() {
    for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "fedc:ba98:7654:3210:fedc:ba98:7654:3210"] {
        let folder = Folder::new("both");
        let path = folder.join("trace.pcap");
        SharedCapture::create(&path).unwrap();
        let client = stream(&path, ends(address), true);
        // The server's addresses are written as IPv4, and the client's as IPv6, as happens if the
        // server listens on both.
        let server = stream(&path, ends(address.trim_start_matches("::ffff:")).reversed(), false);
        client.sent(b"call");
        server.received(b"call");
        server.sent(b"the ");
        server.sent(b"answer");
        client.received(b"the answer");
        drop(client);
        server.ended_by_peer();
        drop(server);
        let mut expected = a_call_and_its_answer();
        // The server ended its half of the stream before it had read the end of the client's half.
        // So the server's last segment does not acknowledge that end.
        expected[7].acknowledged = 5;
        assert_eq!(read(&path), expected);
        assert_nothing_is_remarkable(&path, 8);
    }
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn an_end_captures_for_a_peer_without_capture() {
    for is_opener in [true, false] {
        let folder = Folder::new("one");
        let path = folder.join("trace.pcap");
        SharedCapture::create(&path).unwrap();
        if is_opener {
            let client = stream(&path, ends("127.0.0.1"), true);
            client.sent(b"call");
            client.received(b"the ");
            client.received(b"answer");
        } else {
            let server = stream(&path, ends("127.0.0.1").reversed(), false);
            server.received(b"call");
            server.sent(b"the ");
            server.sent(b"answer");
            server.ended_by_peer();
            server.ended_by_peer();
        }
        let mut expected = a_call_and_its_answer();
        expected.truncate(if is_opener { 7 } else { 8 });
        assert_eq!(read(&path), expected);
        assert_nothing_is_remarkable(&path, expected.len());
    }
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn long_captured_messages_are_split_into_segments() {
    let folder = Folder::new("long");
    let path = folder.join("trace.pcap");
    SharedCapture::create(&path).unwrap();
    let sent: Vec<u8> = (0..1_000_000_u32).map(|at| (at >> 3) as u8).collect();
    stream(&path, ends("::1"), true).sent(&sent);
    let segments = read(&path);
    let said: Vec<u8> = segments.iter().flat_map(|segment| segment.payload.iter().copied()).collect();
    assert!(said == sent);
    assert_eq!((segments.len(), segments.last().unwrap().sequence), (3 + 16 + 1, 1_000_001));
    assert_nothing_is_remarkable(&path, segments.len());
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn both_ends_capture_each_datagram_once() {
    let folder = Folder::new("datagrams");
    let path = folder.join("trace.pcap");
    SharedCapture::create(&path).unwrap();
    let size = || std::fs::metadata(&path).unwrap().len();
    let side = |ends| Conversation::new(joined(&path, u64::MAX), ends, Transport::Udp, true).unwrap();
    let client = side(ends("127.0.0.1"));
    client.sent(b"ping");
    {
        let server = side(ends("127.0.0.1").reversed());
        server.received(b"ping");
        assert_eq!(size(), 24 + 16 + 28 + 4);
        server.sent(b"pong");
        client.received(b"pong");
        assert_eq!(size(), 24 + 2 * (16 + 28 + 4));
    }
    drop(client);
    // The claim ends with its owner.
    let server = side(ends("127.0.0.1").reversed());
    server.received(b"ping");
    assert_eq!(size(), 24 + 3 * (16 + 28 + 4));
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn concurrent_capture_writers_keep_packets_whole() {
    let folder = Folder::new("many");
    let path = folder.join("trace.pcap");
    SharedCapture::create(&path).unwrap();
    std::thread::scope(|scope| {
        for port in 0..4_u8 {
            let end = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
            let conversation = stream(&path, Ends { own: end(100 + u16::from(port)), peer: end(2) }, true);
            scope.spawn(move || (0..100).for_each(|count| conversation.sent(&vec![port; count * 50])));
        }
    });
    let segments = read(&path);
    for port in 0..4_u8 {
        let own = segments.iter().filter(|segment| segment.from == 100 + u16::from(port));
        let said: Vec<u8> = own.flat_map(|segment| segment.payload.clone()).collect();
        assert!(said.len() == 100 * 99 / 2 * 50 && said.iter().all(|byte| *byte == port));
    }
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn a_capture_limit_holds_for_all_writers() {
    let folder = Folder::new("limit");
    let path = folder.join("trace.pcap");
    SharedCapture::create(&path).unwrap();
    let end = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
    let side =
        |port| Conversation::new(joined(&path, 1000), Ends { own: end(port), peer: end(2) }, Transport::Tcp, true);
    let both = [side(100).unwrap(), side(101).unwrap()];
    (0..100).for_each(|_| both.iter().for_each(|side| side.sent(&[0; 100])));
    drop(both);
    let size = std::fs::metadata(&path).unwrap().len();
    assert!((1000..1000 + 16 + 40 + 100).contains(&size), "{size}");
    assert_eq!(read(&path).len(), 6 + 4);
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn only_capture_files_of_the_own_user_are_joined() {
    let folder = Folder::new("unsafe");
    let path = folder.join("trace.pcap");
    assert!(matches!(SharedCapture::join(&path, 1), Err(Error::System { .. })), "there is none");
    SharedCapture::create(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let again = SharedCapture::create(&path).unwrap_err().to_string();
    assert!(again.starts_with("creating a capture file: File exists"), "{again}");
    let [link, other] = ["link", "other"].map(|name| folder.join(name));
    symlink(&path, &link).unwrap();
    std::fs::write(&other, "a file of some length that is no capture").unwrap();
    assert!(matches!(SharedCapture::join(&link, 1), Err(Error::System { .. })));
    let why = SharedCapture::join(&other, 1).unwrap_err().to_string();
    assert!(why.ends_with("cannot be written: it was not created by `obvia trace`"), "{why}");
    let why = SharedCapture::join(Path::new("/dev/null"), 1).unwrap_err().to_string();
    assert_eq!(why, "the capture /dev/null that OBVIA_TRACE names cannot be written: it is not a regular file");
    SharedCapture::join(&path, 1).unwrap();
}
