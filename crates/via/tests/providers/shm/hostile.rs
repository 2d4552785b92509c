//! A hostile peer, which writes arbitrary values to its segment, its words and its socket. The
//! offsets are from the documentation of the layout.

use super::scene::{End, LEVELS, Place, Random, SOON, attributes};
use obvia_via::{
    Access, Deadline, Descriptor, Ended, Memory, MemoryHandle, PostFault, Reliability, RemoteAddress, State, Waiting,
};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::SealFlags;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::time::Duration;

const SLOTS: u32 = 8;
const AREA: u32 = 8192;
const TABLE: u32 = 4096;
const RING: u64 = 4096;
const AREA_START: u64 = RING + SLOTS as u64 * 128;
const SEGMENT: usize = AREA_START as usize + AREA as usize;

/// The hostile side of a connection.
struct HostilePeer {
    socket: OwnedFd,
    segment: Memory,
    // Keeps open the file that was passed to the victim.
    _table: Memory,
    published: u32,
}

fn sealed(length: usize) -> Memory {
    let memory = Memory::shared(length).unwrap();
    rustix::fs::fcntl_add_seals(memory.file().unwrap(), SealFlags::FUTURE_WRITE).unwrap();
    memory
}

fn send(socket: &OwnedFd, bytes: &[u8], files: &[BorrowedFd<'_>]) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(files));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    // A failed send does not matter: the victim may no longer listen.
    let _ = rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags);
}

fn dial(place: &Place) -> OwnedFd {
    let address = SocketAddrUnix::new(place.path().join("victim.vi-sock")).unwrap();
    let kind = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let socket = rustix::net::socket_with(kind.0, kind.1, SocketFlags::CLOEXEC, None).unwrap();
    rustix::net::connect(&socket, &address).unwrap();
    socket
}

/// Makes a valid request.
fn request(level: Reliability) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0x3249_564f, 1, 1, SLOTS, AREA, TABLE] {
        bytes.extend(u32::to_le_bytes(word));
    }
    bytes.extend([level as u8, 0, 0, 0]);
    bytes.extend(u32::to_le_bytes(1 << 20));
    bytes
}

impl HostilePeer {
    fn connect(place: &Place, level: Reliability) -> Self {
        let (segment, table) = (sealed(SEGMENT), sealed(TABLE as usize));
        let socket = dial(place);
        send(&socket, &request(level), &[segment.file().unwrap(), table.file().unwrap()]);
        Self { socket, segment, _table: table, published: 0 }
    }

    /// Returns the segment of the accepting side.
    fn victims_segment(&self) -> OwnedFd {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let (mut control, mut bytes) = (RecvAncillaryBuffer::new(&mut space), [0; 4096]);
        let into = &mut [IoSliceMut::new(&mut bytes)];
        rustix::net::recvmsg(&self.socket, into, &mut control, RecvFlags::CMSG_CLOEXEC).unwrap();
        let files = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        });
        files.unwrap()
    }

    /// Waits until the victim has taken every record, as the count in the victim's segment shows.
    fn await_taken(&self, victims_segment: &OwnedFd) {
        ground::until("all records are taken", || {
            let mut taken = [0; 8];
            rustix::io::pread(victims_segment, &mut taken, 128).unwrap();
            u64::from_le_bytes(taken) == u64::from(self.published)
        });
    }

    fn store32(&self, offset: u64, value: u32) {
        self.segment.write(offset, &value.to_le_bytes()).unwrap();
    }

    fn store64(&self, offset: u64, value: u64) {
        self.segment.write(offset, &value.to_le_bytes()).unwrap();
    }

    /// Publishes a record. `kind` is the word with kind and flags. `words` are the length of the
    /// whole message, the immediate data, and the length and the position of the piece. `place` is
    /// the place in the victim's memory.
    fn publish(&mut self, kind: u32, words: [u32; 4], place: [u64; 3]) {
        let slot = RING + u64::from(self.published % SLOTS) * 128;
        for (at, word) in words.into_iter().enumerate() {
            self.store32(slot + 8 + at as u64 * 4, word);
        }
        for (at, word) in place.into_iter().enumerate() {
            self.store64(slot + 24 + at as u64 * 8, word);
        }
        self.published = self.published.wrapping_add(1);
        self.store64(slot, u64::from(self.published) | u64::from(kind) << 32);
        send(&self.socket, &[1], &[]);
    }
}

/// Makes a listening victim, and the hostile peer connected to it.
fn scene(place: &Place, level: Reliability) -> (End, HostilePeer) {
    let nic = place.nic();
    let mut end = End::new(&nic, attributes(level, Waiting::Block), 1 << 16, Access::BOTH);
    for _ in 0..4 {
        end.post_receive(0, 4096);
    }
    let mut listener = nic.listen("victim").unwrap();
    let evil = HostilePeer::connect(place, level);
    listener.wait(SOON).unwrap().accept(&mut end.vi, b"", SOON).unwrap();
    (end, evil)
}

#[track_caller]
fn ends(end: &mut End, why: Ended, what: &str) {
    let deadline = SOON.start();
    while end.vi.state() == State::Connected {
        assert!(!deadline.is_over(), "it goes on: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(end.vi.state(), State::Broken(why), "{what}");
}

const IMMEDIATE: u32 = 1 << 8;
const IN_AREA: u32 = 2 << 8;

#[test]
fn each_protocol_violation_breaks_the_peers_connection() {
    let place = Place::new();
    // The kind of the record, its words, and a description of the violation.
    let records: [(u32, [u32; 4], &str); 26] = [
        (0, [0; 4], "no kind"),
        (9, [0; 4], "a kind that does not exist"),
        (7, [4000, 0, 20, 0], "a message in a region that was never lent"),
        (7, [4000, 0, 19, 0], "half of a place"),
        (7, [4000, 0, 101, 0], "more than five places"),
        (7 | IN_AREA, [4000, 0, 20, 0], "places in the area"),
        (7, [0, 0, 0, 0], "a lent message without a place"),
        (8, [8, 0, 8, 0], "a region that was never lent is taken back"),
        (8, [8, 0, 4, 0], "half of a region is taken back"),
        (1 | 4 << 8, [0; 4], "an unknown flag"),
        (1 | 1 << 16, [0; 4], "a reserved bit"),
        (1, [200, 0, 105, 0], "more in line than a slot has"),
        (2, [200, 0, 81, 0], "more in line than the slot of a write has"),
        (1, [10, 0, 11, 0], "a piece longer than the whole"),
        (1, [10, 0, 0, 0], "a piece without bytes"),
        (1, [(1 << 20) + 1, 0, 8, 0], "longer than settled on"),
        (1 | IN_AREA, [4096, 0, 4096, 4097], "beyond the area"),
        (1 | IN_AREA, [4096, 0, 4096, u32::MAX], "far beyond the area"),
        (4, [8, 0, 8, 0], "more of nothing"),
        (5, [8, 0, 8, 0], "data that nobody asked for"),
        (6, [8, 0, 0, 0], "immediate data without any"),
        (6 | IMMEDIATE, [8, 0, 8, 0], "immediate data with bytes"),
        (3 | IMMEDIATE, [8, 0, 0, 0], "a read with immediate data"),
        (3, [8, 0, 8, 0], "a read with bytes"),
        (6 | IMMEDIATE, [u32::MAX, 0, 0, 0], "a landing longer than settled on"),
        (3, [u32::MAX, 0, 0, 0], "a read longer than settled on"),
    ];
    for (kind, words, what) in records {
        let (mut end, mut evil) = scene(&place, Reliability::ReliableDelivery);
        evil.publish(kind, words, [0; 3]);
        ends(&mut end, Ended::Violation, what);
    }
}

#[test]
fn lent_regions_are_checked_before_they_are_read() {
    let place = Place::new();
    let file = Memory::shared(8192).unwrap();
    file.write(0, &[0x44; 8192]).unwrap();
    let lend = |evil: &HostilePeer, word: u64, length: u64| {
        let mut packet = [0; 40];
        (packet[0], packet[1]) = (3, 1);
        packet[4..12].copy_from_slice(&word.to_le_bytes());
        packet[32..40].copy_from_slice(&length.to_le_bytes());
        send(&evil.socket, &packet, &[file.file().unwrap()]);
        evil.store32(148, word as u32);
    };
    // A valid message of 4096 bytes, from offset 4096 of a lent region. The region's word in the
    // table is 1.
    let (mut end, mut evil) = scene(&place, Reliability::ReliableDelivery);
    lend(&evil, 1, 8192);
    evil.publish(7, [4096, 0, 20, 0], [1, 4096, 4096]);
    assert_eq!(end.received().1, 4096);
    assert_eq!(end.bytes(0, 4097), [vec![0x44; 4096], vec![0]].concat());
    for (whole, places, what) in [
        (4096, [1, 4097, 4096], "it ends behind the region"),
        (4096, [1, u64::MAX - 1, 4096], "it begins far behind the region"),
        (4096, [1, 0, 4095], "it is shorter than it was said to be"),
        (4095, [1, 0, 4096], "it is longer than it was said to be"),
        (4096, [2, 0, 4096], "another region"),
    ] {
        let (mut end, mut evil) = scene(&place, Reliability::ReliableDelivery);
        lend(&evil, 1, 8192);
        evil.publish(7, [whole, 0, 20, 0], places);
        ends(&mut end, Ended::Violation, what);
    }
    for (word, length, what) in [(1, 8192 + 4096, "it is shorter than said"), (1, 0, "it has no bytes")] {
        let (mut end, evil) = scene(&place, Reliability::ReliableDelivery);
        lend(&evil, word, length);
        ends(&mut end, Ended::Violation, what);
    }
    let (mut end, mut evil) = scene(&place, Reliability::ReliableDelivery);
    let victims = evil.victims_segment();
    for word in 1..=200 {
        lend(&evil, word, 4096);
        evil.publish(8, [8, 0, 8, 0], [word, 0, 0]);
        evil.await_taken(&victims);
    }
    assert_eq!(end.vi.state(), State::Connected, "lent and taken back");
    for word in 1..=129 {
        lend(&evil, word, 4096);
    }
    ends(&mut end, Ended::Violation, "more regions than may be lent at a time");
}

#[test]
fn records_out_of_order_break_the_connection() {
    let place = Place::new();
    for (kind, words, what) in [
        (1, [8, 0, 8, 0], "a message inside of a message"),
        (2, [8, 0, 8, 0], "a write inside of a message"),
        (3, [8, 0, 0, 0], "a read inside of a message"),
        (6 | IMMEDIATE, [8, 0, 0, 0], "a landing inside of a message"),
        (7, [100_000, 0, 20, 0], "a lent message inside of a message"),
        (4, [101, 0, 50, 0], "more of another message"),
        (4, [100, 0, 51, 0], "more than the message has"),
    ] {
        let (mut end, mut evil) = scene(&place, Reliability::ReliableDelivery);
        evil.publish(1, [100, 0, 50, 0], [0; 3]);
        evil.publish(kind, words, [0; 3]);
        ends(&mut end, Ended::Violation, what);
    }
}

#[test]
fn impossible_segment_words_break_the_connection() {
    let place = Place::new();
    for (offset, value, what) in [
        (128, 1, "credit for what was never sent"),
        (128, u64::MAX, "credit beyond all bounds"),
        (136, 1 << 8, "an answer that nobody asked for"),
        (136, u64::MAX, "answers beyond all bounds"),
        (144, 5, "it says that this side broke the rules"),
        (144, 77, "a state that does not exist"),
    ] {
        let (mut end, evil) = scene(&place, Reliability::ReliableDelivery);
        evil.store64(offset, value);
        send(&evil.socket, &[1], &[]);
        ends(&mut end, Ended::Violation, what);
    }
}

#[test]
fn malformed_socket_packets_break_the_connection() {
    let place = Place::new();
    let file = Memory::shared(4096).unwrap();
    let file = file.file().unwrap();
    let opening = [vec![2, 3], vec![0; 38]].concat();
    let packets: [(&[u8], &[BorrowedFd<'_>], &str); 8] = [
        (&[9], &[], "no packet"),
        (&[1, 1], &[], "too long a call"),
        (&[1], &[file], "a call with a file"),
        (&opening, &[], "a region without a file"),
        (&opening, &[file], "a region that nobody wanted"),
        (&opening, &[file, file], "two files"),
        (&opening, &[file, file, file, file], "four files"),
        (&[2; 1000], &[file], "a long packet"),
    ];
    for (bytes, files, what) in packets {
        let (mut end, evil) = scene(&place, Reliability::ReliableDelivery);
        send(&evil.socket, bytes, files);
        ends(&mut end, Ended::Violation, what);
    }
}

#[test]
fn malformed_connection_greetings_are_not_answered() {
    let place = Place::new();
    let nic = place.nic();
    let mut listener = nic.listen("victim").unwrap();
    let (segment, table) = (sealed(SEGMENT), sealed(TABLE as usize));
    let (open, short) = (Memory::shared(SEGMENT).unwrap(), sealed(SEGMENT - 4096));
    let pipe = std::io::pipe().unwrap();
    let good = request(Reliability::ReliableDelivery);
    let with = |at: usize, value: u32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let (segment, table, open, short) =
        (segment.file().unwrap(), table.file().unwrap(), open.file().unwrap(), short.file().unwrap());
    let both = [segment, table];
    let greetings: Vec<(Vec<u8>, Vec<BorrowedFd<'_>>)> = vec![
        (with(0, 0), both.to_vec()),
        (with(4, 2), both.to_vec()),
        (with(8, 2), both.to_vec()),
        (with(12, 7), both.to_vec()),
        (with(12, 1 << 20), both.to_vec()),
        (with(16, u32::MAX), both.to_vec()),
        (with(16, AREA + 4096), both.to_vec()),
        (with(20, 0), both.to_vec()),
        (with(20, TABLE + 4096), both.to_vec()),
        (with(24, 9), both.to_vec()),
        (good[..30].to_vec(), both.to_vec()),
        ([good.clone(), vec![0; 300]].concat(), both.to_vec()),
        (good.clone(), vec![]),
        (good.clone(), vec![segment]),
        (good.clone(), vec![segment, table, table]),
        (good.clone(), vec![open, table]),
        (good.clone(), vec![segment, open]),
        (good.clone(), vec![short, table]),
        (good.clone(), vec![pipe.0.as_fd(), table]),
    ];
    let sockets: Vec<_> = greetings
        .iter()
        .map(|(bytes, files)| {
            let socket = dial(&place);
            send(&socket, bytes, files);
            socket
        })
        .collect();
    let outcome = listener.wait(Deadline::Within(Duration::from_millis(300)));
    assert!(outcome.is_err(), "{outcome:?}");
    drop(sockets);
    let _good = HostilePeer::connect(&place, Reliability::ReliableDelivery);
    listener.wait(SOON).unwrap();
}

/// Returns a word that is likely to be valid, and sometimes one that is not.
fn word(random: &mut Random) -> u32 {
    match random.below(8) {
        0 => u32::MAX - random.below(3) as u32,
        1 => random.next() as u32,
        2 => random.below(u64::from(AREA) + 2) as u32,
        _ => random.below(110) as u32,
    }
}

/// After every write of the peer, the victim continues or ends the connection. The victim does not
/// panic, and only the bytes that the peer may write change.
#[test]
fn random_writes_of_a_peer_do_no_harm() {
    let place = Place::new();
    for seed in 1..=300_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let level = LEVELS[random.below(3) as usize];
        let (mut end, mut evil) = scene(&place, level);
        let own = end.nic.register(end.nic.memory(4096).unwrap(), &end.tag, Access::READ).unwrap();
        own.memory().write(0, &[0x55; 4096]).unwrap();
        // The filled bytes lie behind the memory of the receives, and behind the memory that the
        // peer may write.
        end.fill(4096, &[0x66; 4096]);
        let handles = [own.handle(), end.region.handle(), MemoryHandle([random.next(), 1])];
        let theirs = RemoteAddress { handle: MemoryHandle([1, 2]), offset: 0 };
        let file = Memory::shared(4096).unwrap();
        for _ in 0..60 {
            match random.below(12) {
                0 => evil.store64(128, random.below(6)),
                1 => evil.store64(136, random.below(4) << 8 | random.below(3)),
                2 if random.below(8) == 0 => evil.store32(144, random.below(7) as u32),
                3 => evil.store32(148, random.below(4) as u32),
                4 => {
                    let mut opening = [0; 40];
                    opening[0] = 2 + random.below(2) as u8;
                    opening[1] = random.below(4) as u8;
                    opening[4] = random.below(2) as u8;
                    opening[16] = 1;
                    opening[24] = 2;
                    opening[32..40].copy_from_slice(&random.below(5000).to_le_bytes());
                    send(&evil.socket, &opening, &[file.file().unwrap()]);
                }
                5 => {
                    let descriptor = match random.below(3) {
                        0 => Descriptor::send(),
                        1 => Descriptor::rdma_write(theirs),
                        _ => Descriptor::rdma_read(theirs),
                    };
                    let length = random.below(2000) as u32;
                    if let Err(refused) = end.vi.send.post(descriptor.with_segment(&end.region, 0, length)) {
                        // Unreliable delivery has no RDMA read.
                        assert_eq!(refused.fault, PostFault::Unsupported);
                    }
                }
                _ => {
                    let (kind, flags) = (1 + random.below(8) as u32, random.below(20).min(3) as u32);
                    let kind = kind | flags << 8;
                    let words = [word(&mut random), 9, word(&mut random), word(&mut random)];
                    let words = if random.below(2) == 0 { [words[2], 9, words[2], 0] } else { words };
                    let handle = handles[random.below(3) as usize].0;
                    let offset = u64::from(word(&mut random) % 4096);
                    // The writable region begins with the memory of the receives.
                    let offset = if handle == end.region.handle().0 { offset % 64 } else { offset };
                    evil.publish(kind, words, [handle[0], handle[1], offset]);
                }
            }
            if random.below(3) == 0 {
                end.vi.state();
            }
            while end.vi.receive.done().is_some() {
                end.post_receive(0, 4096);
                if end.vi.state() != State::Connected {
                    break;
                }
            }
        }
        let mut bytes = [0; 4096];
        own.memory().read(0, &mut bytes).unwrap();
        assert!(bytes == [0x55; 4096], "seed {seed}: it may only read that");
        assert!(end.bytes(8192, 4096).iter().all(|byte| *byte == 0), "seed {seed}: nobody wrote there");
        drop(evil);
        let deadline = SOON.start();
        while end.vi.state() == State::Connected {
            assert!(!deadline.is_over(), "seed {seed}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
