//! A peer that can violate every rule of the protocol, because it accesses its segment and socket
//! directly.

use crate::scene::PATIENCE;
use crate::segment::{Segment, memory_file};
use crate::wire::{self, Frame, Reference, Target};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use rustix::time::Timespec;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The offsets of fields in a segment.
pub(crate) const SLEEP: usize = 0;
pub(crate) const BELL: usize = 128;
/// The value of the sleep flag of a parked peer, which is called over the socket.
pub(crate) const PARKED: u32 = 2;
pub(crate) const CONSUMED: usize = 256;
pub(crate) const AREA: usize = 4096;
/// The length of these peers' areas, in bytes.
pub(crate) const AREA_LENGTH: usize = 256 << 10;

/// Returns the offset of a message's slot.
pub(crate) fn slot(sequence: u32) -> usize {
    512 + (sequence % 16) as usize * 128
}

/// Returns the first eight bytes of a slot.
pub(crate) fn first_word(sequence: u32, opnum: u16, kind: u8, length: u8) -> u64 {
    u64::from(sequence) | u64::from(opnum) << 32 | u64::from(kind) << 48 | u64::from(length) << 56
}

/// A message, as read from a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) kind: u8,
    pub(crate) opnum: u16,
    pub(crate) first: u32,
    pub(crate) second: u32,
    pub(crate) sequence: u32,
    pub(crate) frame: Vec<u8>,
}

impl Message {
    /// Returns the HRESULT of a failed method: the answer is a response without a frame, or a fault
    /// with error information in its frame.
    pub(crate) fn failure(&self) -> Option<u32> {
        let kind = if self.frame.is_empty() { wire::RESPONSE } else { wire::FAULT };
        (self.kind == kind).then_some(self.first)
    }
}

/// Sends bytes with any number of file descriptors.
pub(crate) fn send(socket: &UnixStream, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> rustix::io::Result<usize> {
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(fds)));
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)
}

/// Receives bytes and a file descriptor; `None` if one of them is missing.
pub(crate) fn receive(socket: &UnixStream, bytes: &mut [u8]) -> Option<OwnedFd> {
    receive_either(socket, bytes)?
}

/// Receives bytes and an optional file descriptor; `None` if bytes are missing.
pub(crate) fn receive_either(socket: &UnixStream, bytes: &mut [u8]) -> Option<Option<OwnedFd>> {
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let wanted = bytes.len();
    let got =
        rustix::net::recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, RecvFlags::CMSG_CLOEXEC).ok()?;
    let fds = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    let fd = fds.last();
    (got.bytes == wanted).then_some(fd)
}

/// The mark in the files of both segments, by which a peer verifies that it has opened the right
/// files.
pub(crate) const MARK: [u8; 8] = *b"markmark";
/// The offset of the mark.
const MARKED: usize = 384;

/// The mapped part of a Java virtual machine's segment, in bytes; no frame of these tests needs
/// more.
const NAMED_MAX: usize = 64 << 20;

/// Returns the number of a file descriptor, by which other processes find the file.
pub(crate) fn number_of(file: BorrowedFd<'_>) -> u32 {
    rustix::fd::AsRawFd::as_raw_fd(&file).cast_unsigned()
}

/// Writes the mark to the files of this side's segment and the peer's, if they are writable, and
/// sends the files' names.
pub(crate) fn name_segments(socket: &UnixStream, files: [BorrowedFd<'_>; 2]) {
    for file in files {
        let _ = rustix::io::pwrite(file, &MARK, MARKED as u64);
    }
    send_names(socket, [std::process::id(), number_of(files[0]), number_of(files[1]), 0], MARK);
}

/// Sends names with any contents: a process ID, the numbers of a descriptor for each side, zero,
/// and the mark.
pub(crate) fn send_names(socket: &UnixStream, words: [u32; 4], mark: [u8; 8]) {
    let words = words.iter().flat_map(|word| word.to_le_bytes());
    send(socket, &words.chain(mark).collect::<Vec<_>>(), &[]).unwrap();
}

/// Whether the peer has hung up.
pub(crate) fn has_ended(socket: &UnixStream) -> bool {
    let mut polled = [PollFd::new(socket, PollFlags::RDHUP)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).unwrap();
    polled[0].revents().intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR)
}

/// Waits for the peer to hang up.
#[track_caller]
pub(crate) fn await_end(socket: &UnixStream) {
    crate::scene::await_that("the connection ends", || has_ended(socket));
}

/// Returns an OXID that no other process of this run has.
pub(crate) fn fresh_oxid() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    u64::from(std::process::id()) << 32 | NEXT.fetch_add(1, Ordering::Relaxed)
}

/// One side of a connection.
pub(crate) struct Peer {
    pub(crate) socket: UnixStream,
    pub(crate) own: Segment,
    pub(crate) own_fd: OwnedFd,
    pub(crate) theirs: Segment,
    /// The sequence numbers of the next message to send, and of the next one to receive.
    pub(crate) next: u32,
    pub(crate) expected: u32,
    pub(crate) oxid: u64,
    area: u32,
    their_area: Option<(u32, Segment)>,
    files: Files,
    /// The files that the peer knows by their names. The names stay valid while the files are open.
    named: Vec<OwnedFd>,
}

/// The way by which files are handed over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Files {
    /// As descriptors over the socket.
    Passed,
    /// By names that the peer sends, because this side acts as if it could not receive descriptors.
    Found,
    /// By names that this side sends, because the peer cannot receive descriptors.
    Named,
}

impl Peer {
    /// Connects, and exchanges valid greetings.
    #[track_caller]
    pub(crate) fn connect(path: &Path) -> Self {
        let socket = connect(path);
        let (own, fd) = Segment::create(AREA + AREA_LENGTH);
        send(&socket, &wire::greeting(AREA_LENGTH as u64), &[fd.as_fd()]).unwrap();
        let mut greeting = [0; 24];
        let passed = receive_either(&socket, &mut greeting).expect("a greeting");
        assert_eq!(greeting[..12], wire::greeting(0)[..12]);
        let area = u64::from_le_bytes(greeting[16..].try_into().unwrap()) as usize;
        if let Some(theirs) = passed {
            return Self::of(socket, own, fd, Segment::map(&theirs, AREA + area, false));
        }
        // A Java virtual machine cannot receive descriptors.
        let length = AREA + area;
        let file = memory_file(length as u64);
        own.write(MARKED, &MARK);
        name_segments(&socket, [fd.as_fd(), file.as_fd()]);
        let mut answer = [0];
        assert!(receive_either(&socket, &mut answer).is_some_and(|_| answer == [1]), "it has mapped both");
        let theirs = Segment::map(&file, length.min(NAMED_MAX), false);
        let named = vec![file];
        Self { files: Files::Named, named, ..Self::of(socket, own, fd, theirs) }
    }

    /// Answers the greeting of a connected client.
    pub(crate) fn accept(socket: UnixStream) -> Option<Self> {
        let (area, passed) = Self::greeting_of_peer(&socket)?;
        let (own, fd) = Segment::create(AREA + AREA_LENGTH);
        let Some(theirs) = passed.map(|theirs| Segment::map(&theirs, AREA + area, false)) else {
            return Self::accept_by_name(socket, own, fd, AREA + area);
        };
        send(&socket, &wire::greeting(AREA_LENGTH as u64), &[fd.as_fd()]).ok()?;
        Some(Self::of(socket, own, fd, theirs))
    }

    /// Answers the greeting of a Java virtual machine, which opens both segments by their names.
    fn accept_by_name(socket: UnixStream, own: Segment, fd: OwnedFd, length: usize) -> Option<Self> {
        let file = memory_file(length as u64);
        own.write(MARKED, &MARK);
        send(&socket, &wire::greeting(AREA_LENGTH as u64), &[]).ok()?;
        name_segments(&socket, [fd.as_fd(), file.as_fd()]);
        let mut answer = [0];
        receive_either(&socket, &mut answer).filter(|_| answer == [1])?;
        let theirs = Segment::map(&file, length.min(NAMED_MAX), false);
        Some(Self { files: Files::Named, named: vec![file], ..Self::of(socket, own, fd, theirs) })
    }

    /// Creates a peer whose greetings have been exchanged.
    pub(crate) fn of(socket: UnixStream, own: Segment, own_fd: OwnedFd, theirs: Segment) -> Self {
        let oxid = fresh_oxid();
        Self {
            socket,
            own,
            own_fd,
            theirs,
            next: 1,
            expected: 1,
            oxid,
            area: 0,
            their_area: None,
            files: Files::Passed,
            named: vec![],
        }
    }

    /// Creates a peer that has opened both segments by their names.
    pub(crate) fn by_name(socket: UnixStream, own: Segment, own_fd: OwnedFd, theirs: Segment) -> Self {
        Self { files: Files::Found, ..Self::of(socket, own, own_fd, theirs) }
    }

    /// Receives a greeting. Returns the area's length, and the segment; `None` in place of the
    /// segment if the peer is a Java virtual machine.
    pub(crate) fn greeting_of_peer(socket: &UnixStream) -> Option<(usize, Option<OwnedFd>)> {
        let mut bytes = [0; 24];
        let passed = receive_either(socket, &mut bytes)?;
        assert_eq!(bytes[..12], wire::greeting(0)[..12]);
        Some((u64::from_le_bytes(bytes[16..].try_into().unwrap()) as usize, passed))
    }

    /// Rings the peer's doorbell, whether the peer sleeps or not.
    pub(crate) fn ring(&self) {
        let bell = self.own.u32(BELL);
        bell.fetch_add(1, Ordering::SeqCst);
        if self.files != Files::Passed {
            return self.send_on_socket(&[0]);
        }
        if self.is_peer_parked() {
            self.send_on_socket(&wire::CALL_NOTE);
        }
        let _ = rustix::thread::futex::wake(bell, rustix::thread::futex::Flags::empty(), i32::MAX as u32);
    }

    /// Sends bytes without files, unless the socket is full.
    pub(crate) fn send_on_socket(&self, bytes: &[u8]) {
        let _ = rustix::net::send(&self.socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    }

    /// Whether the peer's connection is parked.
    pub(crate) fn is_peer_parked(&self) -> bool {
        self.theirs.u32(SLEEP).load(Ordering::SeqCst) == PARKED
    }

    /// Waits until the peer's connection is parked.
    #[track_caller]
    pub(crate) fn await_parked(&self) {
        crate::scene::await_that("the connection is parked", || self.is_peer_parked());
    }

    /// Writes the given words and frame to a slot, without any check, and rings the doorbell.
    pub(crate) fn raw(&self, sequence: u32, first: u64, second: u64, frame: &[u8]) {
        let at = slot(sequence);
        self.own.write(at + 16, frame);
        self.own.u64(at + 8).store(second, Ordering::Relaxed);
        self.own.u64(at).store(first, Ordering::Release);
        self.ring();
    }

    /// Publishes the next message, with its frame in the slot or in the area.
    pub(crate) fn post(&mut self, kind: u8, opnum: u16, words: (u32, u32), frame: &[u8]) -> u32 {
        let sequence = self.next;
        let second = u64::from(words.0) | u64::from(words.1) << 32;
        self.next = self.next.wrapping_add(1);
        if frame.len() <= 112 {
            self.raw(sequence, first_word(sequence, opnum, kind, frame.len() as u8), second, frame);
        } else {
            self.own.write(AREA, frame);
            self.post_area(sequence, opnum, kind, second, [0, 0, frame.len() as u32]);
        }
        sequence
    }

    /// Publishes a message whose frame is at `place`: area, offset, length.
    pub(crate) fn post_area(&self, sequence: u32, opnum: u16, kind: u8, second: u64, place: [u32; 3]) {
        let place: Vec<u8> = place.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.raw(sequence, first_word(sequence, opnum, kind, 255), second, &place);
    }

    /// Publishes a request whose frame is at `place`: area, offset, length.
    pub(crate) fn request_at(&mut self, target: Target, opnum: u16, place: [u32; 3]) {
        let second = u64::from(target.0) | u64::from(target.1) << 32;
        self.post_area(self.next, opnum, wire::REQUEST, second, place);
        self.next += 1;
    }

    /// Hands over an area of `length` bytes, under the number `announced`.
    pub(crate) fn hand_over(&mut self, announced: u32, length: u64) -> Segment {
        let fd = memory_file(length);
        let area = Segment::map(&fd, length as usize, true);
        rustix::fs::fcntl_add_seals(&fd, crate::segment::SEALS).unwrap();
        self.note(announced, length, &[fd.as_fd()]);
        area
    }

    /// Sends the note that announces an area.
    pub(crate) fn note(&mut self, announced: u32, length: u64, fds: &[BorrowedFd<'_>]) {
        self.announce(announced, 0, length, fds);
    }

    /// Sends a note with any contents.
    pub(crate) fn announce(&mut self, number: u32, kind: u32, length: u64, fds: &[BorrowedFd<'_>]) {
        let mut note = [number, kind].map(u32::to_le_bytes).concat();
        note.extend(length.to_le_bytes());
        if self.files != Files::Named {
            send(&self.socket, &note, fds).unwrap();
            return;
        }
        note.insert(0, 1);
        let named = fds.first().map(|fd| fd.try_clone_to_owned().unwrap());
        note.extend(named.as_ref().map_or(u64::MAX, |fd| number_of(fd.as_fd()).into()).to_le_bytes());
        send(&self.socket, &note, &[]).unwrap();
        self.named.extend(named);
    }

    /// Receives the next message; `None` after the time limit or the end of the connection.
    pub(crate) fn message_within(&mut self, limit: Duration) -> Option<Message> {
        let at = slot(self.expected);
        let started = Instant::now();
        let first = loop {
            let first = self.theirs.u64(at).load(Ordering::Acquire);
            if first as u32 == self.expected {
                break first;
            }
            if started.elapsed() > limit || has_ended(&self.socket) {
                return None;
            }
            // The polling interval grows with the waiting time, to leave the processors to the
            // other processes.
            std::thread::sleep((started.elapsed() / 8).clamp(Duration::from_micros(50), Duration::from_millis(2)));
        };
        let second = self.theirs.u64(at + 8).load(Ordering::Relaxed);
        let frame = match (first >> 56) as usize {
            length @ 0..=112 => self.theirs.read(at + 16, length),
            _ => self.frame_in_area(at + 16)?,
        };
        let (kind, opnum, sequence) = ((first >> 48) as u8, (first >> 32) as u16, self.expected);
        self.expected += 1;
        self.own.u32(CONSUMED).store(sequence, Ordering::Release);
        Some(Message { kind, opnum, first: second as u32, second: (second >> 32) as u32, sequence, frame })
    }

    fn frame_in_area(&mut self, note: usize) -> Option<Vec<u8>> {
        let [number, offset, length] = [0, 4, 8].map(|at| self.theirs.u32(note + at).load(Ordering::Relaxed));
        if number == 0 {
            return Some(self.theirs.read(AREA + offset as usize, length as usize));
        }
        while self.area < number {
            let (fd, size) = if self.files == Files::Found { self.next_name() } else { self.next_file()? };
            self.area += 1;
            self.their_area = Some((self.area, Segment::map(&fd, size as usize, false)));
        }
        let (_, area) = self.their_area.filter(|there| there.0 == number)?;
        Some(area.read(offset as usize, length as usize))
    }

    /// Receives the file of the next area, and the area's length.
    fn next_file(&self) -> Option<(OwnedFd, u64)> {
        let mut note = [0; 16];
        let fd = receive(&self.socket, &mut note)?;
        Some((fd, u64::from_le_bytes(note[8..].try_into().unwrap())))
    }

    /// Receives the name of the next area, and opens its file. Returns the file and the area's
    /// length.
    fn next_name(&self) -> (OwnedFd, u64) {
        let mut note = [0; 25];
        std::io::Read::read_exact(&mut &self.socket, &mut note).unwrap();
        assert_eq!((note[0], &note[5..9]), (1, [0; 4].as_slice()), "it is the name of an area");
        let pid = rustix::net::sockopt::socket_peercred(&self.socket).unwrap().pid;
        let number = u64::from_le_bytes(note[17..].try_into().unwrap());
        let file = std::fs::File::open(format!("/proc/{}/fd/{number}", pid.as_raw_pid())).unwrap();
        (file.into(), u64::from_le_bytes(note[9..17].try_into().unwrap()))
    }

    /// Receives the next message, which must arrive in time.
    #[track_caller]
    pub(crate) fn message(&mut self) -> Message {
        self.message_within(PATIENCE).expect("an answer")
    }

    /// Makes a call, and waits for its answer.
    #[track_caller]
    pub(crate) fn call(&mut self, target: Target, opnum: u16, frame: &[u8]) -> Message {
        let call_id = self.post(wire::REQUEST, opnum, target, frame);
        let answer = self.message();
        assert_eq!((answer.second, answer.opnum), (call_id, opnum), "{answer:?}");
        answer
    }

    /// Makes a call that must end in a fault.
    #[track_caller]
    pub(crate) fn refused(&mut self, target: Target, opnum: u16, frame: &[u8], status: u32) {
        let answer = self.call(target, opnum, frame);
        assert_eq!(
            (answer.kind, answer.first),
            (wire::FAULT, status),
            "opnum {opnum}, frame {frame:02x?}: {answer:x?}"
        );
    }

    /// Makes a call that must succeed, and returns the results.
    #[track_caller]
    pub(crate) fn good(&mut self, target: Target, opnum: u16, frame: &[u8]) -> Vec<u8> {
        let answer = self.call(target, opnum, frame);
        assert_eq!((answer.kind, answer.first), (wire::RESPONSE, 0), "opnum {opnum}: {answer:x?}");
        answer.frame
    }

    /// Makes a call that shows that the connection still works.
    #[track_caller]
    pub(crate) fn assert_good(&mut self, object: Target) {
        let sum = self.good(object, 3, &Frame::block(8).u32(0, 5).u32(4, 6).bytes);
        // The bytes after the four bytes of the result are padding.
        assert_eq!(sum[..4], 11_u32.to_le_bytes());
    }

    /// Sends a PDU, and waits for the answer.
    #[track_caller]
    pub(crate) fn exchange(&mut self, unit: &[u8]) -> Vec<u8> {
        self.post(wire::PDU, 0, (0, 0), unit);
        let answer = self.message();
        assert_eq!(answer.kind, wire::PDU);
        answer.frame
    }

    /// Sends a bind with this peer's OXID.
    #[track_caller]
    pub(crate) fn introduce(&mut self) {
        let answer = self.exchange(&wire::bind(self.oxid));
        assert_eq!(answer[2], 12, "a bind_ack");
    }

    /// Resolves an exported name to an object.
    #[track_caller]
    pub(crate) fn resolve(&mut self, name: &str, iid: u128) -> Target {
        let answer = self.good(wire::SYSTEM, 6, &wire::resolve(name, iid));
        Reference::target_of(&answer).0
    }

    /// Resolves an exported name to the OXID of its process.
    #[track_caller]
    pub(crate) fn oxid_of(&mut self, name: &str) -> u64 {
        let answer = self.good(wire::SYSTEM, 6, &wire::resolve(name, wire::IVICTIM));
        Reference::target_of(&answer).1
    }

    /// Asserts that the peer does not answer, and that the connection stays.
    #[track_caller]
    pub(crate) fn assert_silent(&mut self) {
        let answer = self.message_within(crate::scene::MOMENT);
        assert_eq!(answer, None);
        assert!(!has_ended(&self.socket), "the connection has ended");
    }

    /// Waits for the peer to end the connection, without an answer.
    #[track_caller]
    pub(crate) fn assert_cut_off(&mut self) {
        await_end(&self.socket);
        assert_eq!(self.message_within(Duration::ZERO), None);
    }
}

/// Connects, and waits while the listener's queue is full.
pub(crate) fn connect(path: &Path) -> UnixStream {
    UnixStream::connect(path).unwrap()
}
