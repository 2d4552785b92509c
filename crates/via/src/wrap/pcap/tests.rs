//! Captures are read back by a reader that follows the formats' texts, independently of the writer.

mod conversations;

use super::super::pair::pair;
use super::{Capture, Ends, PcapLink};
use crate::Error;
use crate::reliable::Link;
use ground::Folder;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A writer whose bytes can be inspected, and which fails after `fails_after` bytes.
#[derive(Clone, Default)]
struct Paper {
    bytes: Arc<Mutex<Vec<u8>>>,
    fails_after: Option<usize>,
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.bytes.lock().unwrap();
        if self.fails_after.is_some_and(|limit| written.len() + bytes.len() > limit) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Packet {
    at: Duration,
    from: String,
    to: String,
    payload: Vec<u8>,
    was: usize,
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at_checked(length).expect("the capture ends in the middle of something");
    *bytes = rest;
    taken
}

fn little(bytes: &mut &[u8]) -> u32 {
    u32::from_le_bytes(take(bytes, 4).try_into().unwrap())
}

fn big(bytes: &mut &[u8]) -> u16 {
    u16::from_be_bytes(take(bytes, 2).try_into().unwrap())
}

/// Computes the Internet checksum of words. The result is all ones if the data include a correct
/// checksum.
fn checksum(stretches: &[&[u8]]) -> u16 {
    let mut sum = 0_u32;
    for stretch in stretches {
        let padded: Vec<u8> = stretch.iter().copied().chain((stretch.len() % 2 == 1).then_some(0)).collect();
        for pair in padded.chunks_exact(2) {
            sum += u32::from(u16::from_be_bytes([pair[0], pair[1]]));
            sum = (sum & 0xffff) + (sum >> 16);
        }
    }
    sum as u16
}

fn read_packet(mut packet: &[u8]) -> (String, String, Vec<u8>) {
    let ip = take(&mut packet, 20);
    assert_eq!((ip[0], ip[1], ip[6] & 0x20, ip[9]), (0x45, 0, 0, 17));
    assert_eq!(checksum(&[ip]), 0xffff, "the header's checksum");
    assert_eq!(usize::from(u16::from_be_bytes([ip[2], ip[3]])), 20 + packet.len());
    let datagram = packet;
    let (from, to) = (big(&mut packet), big(&mut packet));
    let length = big(&mut packet);
    assert_eq!(usize::from(length), datagram.len());
    assert_ne!(big(&mut packet), 0, "there is a checksum");
    let pseudo = [0, 17, length.to_be_bytes()[0], length.to_be_bytes()[1]];
    assert_eq!(checksum(&[&ip[12..20], &pseudo, datagram]), 0xffff, "the datagram's checksum");
    let name = |at: usize, port| format!("{}.{}.{}.{}:{port}", ip[at], ip[at + 1], ip[at + 2], ip[at + 3]);
    (name(12, from), name(16, to), packet.to_vec())
}

fn read(paper: &Paper) -> Vec<Packet> {
    let bytes = paper.bytes.lock().unwrap();
    let mut bytes = &bytes[..];
    let header: Vec<u32> = (0..6).map(|_| little(&mut bytes)).collect();
    assert_eq!(header[..4], [0xa1b2_3c4d, 0x0004_0002, 0, 0]);
    assert_eq!(header[5], 101, "packets begin with their IP header");
    let mut packets = Vec::new();
    while !bytes.is_empty() {
        let (seconds, nanos) = (little(&mut bytes), little(&mut bytes));
        assert!(nanos < 1_000_000_000);
        let (kept, was) = (little(&mut bytes), little(&mut bytes));
        assert!(kept <= was && kept <= header[4]);
        let (from, to, payload) = read_packet(take(&mut bytes, kept as usize));
        packets.push(Packet { at: Duration::new(seconds.into(), nanos), from, to, payload, was: was as usize });
    }
    packets
}

fn capture(limit: u64, fails_after: Option<usize>) -> (Paper, Capture) {
    let paper = Paper { fails_after, ..Paper::default() };
    (paper.clone(), Capture::to(Box::new(paper), limit).unwrap())
}

#[test]
fn captures_contain_both_directions_unchanged() {
    let (paper, capture) = capture(u64::MAX, None);
    let (here, mut there) = pair();
    let mut link = PcapLink::new(here, capture.clone(), Ends::numbered(1, 0x0203));
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    assert!(link.send(b"ping!").unwrap() && there.send(b"").unwrap() && there.send(&[0xff; 1500]).unwrap());
    let mut buffer = [0; 1500];
    assert_eq!(link.receive(&mut buffer).unwrap(), Some(0));
    assert_eq!(link.receive(&mut buffer).unwrap(), Some(1500));
    assert_eq!(link.receive(&mut buffer).unwrap(), None);
    let ended = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    assert_eq!(capture.finish().unwrap(), 3);
    let packets = read(&paper);
    let (own, peer) = ("10.77.0.1:7700", "10.77.2.3:7700");
    let seen: Vec<_> = packets.iter().map(|packet| (&packet.from[..], &packet.to[..], &packet.payload[..])).collect();
    assert_eq!(seen, [(own, peer, &b"ping!"[..]), (peer, own, b""), (peer, own, &[0xff; 1500])]);
    let times: Vec<_> = [began].into_iter().chain(packets.iter().map(|packet| packet.at)).chain([ended]).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(packets[0].was, 28 + 5);
}

#[test]
fn datagrams_that_were_not_sent_are_not_captured() {
    let (paper, capture) = capture(u64::MAX, None);
    let (mut here, _there) = pair();
    here.room = 0;
    assert!(!PcapLink::new(here, capture.clone(), Ends::default()).send(b"x").unwrap());
    assert_eq!((capture.finish().unwrap(), read(&paper).len()), (0, 0));
}

#[test]
fn overlong_captured_payloads_are_cut_and_marked() {
    let (paper, capture) = capture(u64::MAX, None);
    let long: Vec<u8> = (0..80_000_u32).map(|number| number as u8).collect();
    capture.received(Duration::new(4_000_000_000, 999_999_999), &Ends::default(), &long);
    let packets = read(&paper);
    assert_eq!((packets[0].payload.len(), packets[0].was), (65_467, 80_028));
    assert!(packets[0].payload == long[..65_467]);
    assert_eq!(packets[0].at, Duration::new(4_000_000_000, 999_999_999));
}

#[test]
fn a_full_capture_stops_between_packets_and_reports_it() {
    let (paper, capture) = capture(24 + 2 * (16 + 28 + 1), None);
    for payload in [&b"1"[..], b"long", b"2", b"3"] {
        capture.sent(Duration::ZERO, &Ends::default(), payload);
    }
    let Err(Error::CaptureFull { missed }) = capture.finish() else { panic!("the capture is not full") };
    assert_eq!((missed, read(&paper).len()), (3, 1));
}

#[test]
fn a_full_disk_stops_the_capture_and_not_the_link() {
    let (_, capture) = capture(u64::MAX, Some(100));
    let (here, mut there) = pair();
    let mut link = PcapLink::new(here, capture.clone(), Ends::default());
    assert!(link.send(b"1").unwrap() && link.send(b"2").unwrap() && link.send(b"3").unwrap());
    let error = capture.finish().unwrap_err();
    assert!(error.to_string().starts_with("writing a capture: "), "{error}");
    let mut buffer = [0; 1500];
    assert_eq!((0..3).filter_map(|_| there.receive(&mut buffer).unwrap()).sum::<usize>(), 3);
}

#[test]
fn tshark_and_the_test_reader_agree_on_captures() {
    let folder = Folder::new("via-capture");
    let path = folder.join("packets.pcap");
    let capture = Capture::create(&path).unwrap();
    for number in 0..10_u8 {
        capture.sent(Duration::new(1, number.into()), &Ends::default(), &vec![number; number.into()]);
    }
    assert_eq!(capture.finish().unwrap(), 10);
    let mut tshark = std::process::Command::new("tshark");
    let fields = ["frame.time_epoch", "ip.src", "udp.length", "udp.checksum.status", "ip.checksum.status"];
    tshark
        .args(["-n", "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-T", "fields"])
        .arg("-r")
        .arg(&path);
    let said = tshark.args(fields.iter().flat_map(|field| ["-e", field])).output();
    // Without tshark, the reader above is the only check.
    let Ok(said) = said else { return };
    let said = String::from_utf8(said.stdout).unwrap();
    // The checksum status 1 means "good".
    let expected: Vec<_> = (0..10).map(|n| format!("1.{n:09}\t10.77.0.1\t{}\t1\t1", n + 8)).collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}

/// Other users must not read the traffic of a link.
#[test]
#[cfg_attr(miri, ignore)]
fn capture_files_are_readable_by_their_user_only() {
    let folder = Folder::new("via-capture-mode");
    let path = folder.join("packets.pcap");
    Capture::create(&path).unwrap().finish().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}
