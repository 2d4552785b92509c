//! A peer that can do everything wrong: it holds its segment and its socket in its own hands.

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

/// Where things lie in a segment.
pub(crate) const SLEEP: usize = 0;
pub(crate) const BELL: usize = 128;
pub(crate) const CONSUMED: usize = 256;
pub(crate) const AREA: usize = 4096;
/// Bytes of the area that these peers give out.
pub(crate) const AREA_LENGTH: usize = 256 << 10;

/// The offset of a message's slot.
pub(crate) fn slot(sequence: u32) -> usize {
    512 + (sequence % 16) as usize * 128
}

/// A slot's first eight bytes.
pub(crate) fn first_word(sequence: u32, opnum: u16, kind: u8, length: u8) -> u64 {
    u64::from(sequence) | u64::from(opnum) << 32 | u64::from(kind) << 48 | u64::from(length) << 56
}

/// What a slot says.
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
    /// What a method returned that has failed: the answer is a response without a frame, or a fault with words in its frame.
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

/// Receives bytes and a file descriptor, if both come.
pub(crate) fn receive(socket: &UnixStream, bytes: &mut [u8]) -> Option<OwnedFd> {
    receive_either(socket, bytes)?
}

/// Receives bytes, if they come, and a file descriptor, if that does, too.
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

/// What both segments have where peers look whether they are those that were meant.
pub(crate) const MARK: [u8; 8] = *b"markmark";
/// Where that is.
const MARKED: usize = 384;

/// So much of a virtual machine's segment is looked at: frames that are longer are none that these tests ask for.
const NAMED_MAX: usize = 64 << 20;

/// A file as others find it.
pub(crate) fn number_of(file: BorrowedFd<'_>) -> u32 {
    rustix::fd::AsRawFd::as_raw_fd(&file).cast_unsigned()
}

/// Marks this side's segment and the peer's where they can be written, and tells their names.
pub(crate) fn name_segments(socket: &UnixStream, files: [BorrowedFd<'_>; 2]) {
    for file in files {
        let _ = rustix::io::pwrite(file, &MARK, MARKED as u64);
    }
    send_names(socket, [std::process::id(), number_of(files[0]), number_of(files[1]), 0], MARK);
}

/// Tells names, whatever they are: a process, a descriptor for each side, zero, and the mark.
pub(crate) fn send_names(socket: &UnixStream, words: [u32; 4], mark: [u8; 8]) {
    let words = words.iter().flat_map(|word| word.to_le_bytes());
    send(socket, &words.chain(mark).collect::<Vec<_>>(), &[]).unwrap();
}

/// Whether the other side has hung up.
pub(crate) fn has_ended(socket: &UnixStream) -> bool {
    let mut polled = [PollFd::new(socket, PollFlags::RDHUP)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).unwrap();
    polled[0].revents().intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR)
}

/// Waits for the other side to hang up.
#[track_caller]
pub(crate) fn await_end(socket: &UnixStream) {
    crate::scene::await_that("the connection ends", || has_ended(socket));
}

/// An identity that no other process of this run has.
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
    /// The number of the next message to send, and of the next to come.
    pub(crate) next: u32,
    pub(crate) expected: u32,
    pub(crate) oxid: u64,
    area: u32,
    their_area: Option<(u32, Segment)>,
    files: Files,
    /// What it has told by names, which mean something as long as it is open.
    named: Vec<OwnedFd>,
}

/// How files are handed over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Files {
    /// As files.
    Passed,
    /// They are opened by names that come: this peer cannot be passed any.
    Found,
    /// By names, to a peer that cannot be passed any.
    Named,
}

impl Peer {
    /// Connects and greets as one should.
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
        // A virtual machine cannot be passed files.
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

    /// Answers the greeting of a client that has connected.
    pub(crate) fn accept(socket: UnixStream) -> Option<Self> {
        let (area, passed) = Self::greeting_of_peer(&socket)?;
        let (own, fd) = Segment::create(AREA + AREA_LENGTH);
        let Some(theirs) = passed.map(|theirs| Segment::map(&theirs, AREA + area, false)) else {
            return Self::accept_by_name(socket, own, fd, AREA + area);
        };
        send(&socket, &wire::greeting(AREA_LENGTH as u64), &[fd.as_fd()]).ok()?;
        Some(Self::of(socket, own, fd, theirs))
    }

    /// The same for a virtual machine, which opens both segments by their names.
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

    fn of(socket: UnixStream, own: Segment, own_fd: OwnedFd, theirs: Segment) -> Self {
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

    /// A peer that cannot be passed files, and has opened them by their names.
    pub(crate) fn by_name(socket: UnixStream, own: Segment, own_fd: OwnedFd, theirs: Segment) -> Self {
        Self { files: Files::Found, ..Self::of(socket, own, own_fd, theirs) }
    }

    /// The length of a greeting's area, and the segment, unless it is a virtual machine's.
    pub(crate) fn greeting_of_peer(socket: &UnixStream) -> Option<(usize, Option<OwnedFd>)> {
        let mut bytes = [0; 24];
        let passed = receive_either(socket, &mut bytes)?;
        assert_eq!(bytes[..12], wire::greeting(0)[..12]);
        Some((u64::from_le_bytes(bytes[16..].try_into().unwrap()) as usize, passed))
    }

    /// Wakes the other side, whether it sleeps or not.
    pub(crate) fn ring(&self) {
        let bell = self.own.u32(BELL);
        bell.fetch_add(1, Ordering::SeqCst);
        if self.files != Files::Passed {
            let _ = rustix::net::send(&self.socket, &[0], SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
            return;
        }
        let _ = rustix::thread::futex::wake(bell, rustix::thread::futex::Flags::empty(), i32::MAX as u32);
    }

    /// Writes a slot as it is told, and rings.
    pub(crate) fn raw(&self, sequence: u32, first: u64, second: u64, frame: &[u8]) {
        let at = slot(sequence);
        self.own.write(at + 16, frame);
        self.own.u64(at + 8).store(second, Ordering::Relaxed);
        self.own.u64(at).store(first, Ordering::Release);
        self.ring();
    }

    /// Publishes the next message, its frame in the slot or in the area.
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

    /// Publishes a message whose frame lies where the three words say: area, offset, length.
    pub(crate) fn post_area(&self, sequence: u32, opnum: u16, kind: u8, second: u64, place: [u32; 3]) {
        let place: Vec<u8> = place.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.raw(sequence, first_word(sequence, opnum, kind, 255), second, &place);
    }

    /// Publishes a request whose frame lies where the three words say.
    pub(crate) fn request_at(&mut self, target: Target, opnum: u16, place: [u32; 3]) {
        let second = u64::from(target.0) | u64::from(target.1) << 32;
        self.post_area(self.next, opnum, wire::REQUEST, second, place);
        self.next += 1;
    }

    /// Hands over an area of so many bytes, and says so in a note of its own choice.
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

    /// Sends a note that announces whatever it says.
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

    /// The next message, if one comes in time.
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
            // Less often the longer it takes, so that who waits for nothing leaves the processors to others.
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

    /// The next area, and its length.
    fn next_file(&self) -> Option<(OwnedFd, u64)> {
        let mut note = [0; 16];
        let fd = receive(&self.socket, &mut note)?;
        Some((fd, u64::from_le_bytes(note[8..].try_into().unwrap())))
    }

    /// The same, by its name.
    fn next_name(&self) -> (OwnedFd, u64) {
        let mut note = [0; 25];
        std::io::Read::read_exact(&mut &self.socket, &mut note).unwrap();
        assert_eq!((note[0], &note[5..9]), (1, [0; 4].as_slice()), "it is the name of an area");
        let pid = rustix::net::sockopt::socket_peercred(&self.socket).unwrap().pid;
        let number = u64::from_le_bytes(note[17..].try_into().unwrap());
        let file = std::fs::File::open(format!("/proc/{}/fd/{number}", pid.as_raw_pid())).unwrap();
        (file.into(), u64::from_le_bytes(note[9..17].try_into().unwrap()))
    }

    /// The next message, which must come.
    #[track_caller]
    pub(crate) fn message(&mut self) -> Message {
        self.message_within(PATIENCE).expect("an answer")
    }

    /// Makes a call and waits for what comes of it.
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

    /// The call that shows that the connection is as good as ever.
    #[track_caller]
    pub(crate) fn assert_good(&mut self, object: Target) {
        let sum = self.good(object, 3, &Frame::block(8).u32(0, 5).u32(4, 6).bytes);
        // What is behind the four bytes of the result pads the block, and says nothing.
        assert_eq!(sum[..4], 11_u32.to_le_bytes());
    }

    /// Sends a unit and waits for the answer.
    #[track_caller]
    pub(crate) fn exchange(&mut self, unit: &[u8]) -> Vec<u8> {
        self.post(wire::PDU, 0, (0, 0), unit);
        let answer = self.message();
        assert_eq!(answer.kind, wire::PDU);
        answer.frame
    }

    /// Tells who this is.
    #[track_caller]
    pub(crate) fn introduce(&mut self) {
        let answer = self.exchange(&wire::bind(self.oxid));
        assert_eq!(answer[2], 12, "a bind_ack");
    }

    /// Asks for the object behind a name.
    #[track_caller]
    pub(crate) fn resolve(&mut self, name: &str, iid: u128) -> Target {
        let answer = self.good(wire::SYSTEM, 6, &wire::resolve(name, iid));
        Reference::target_of(&answer).0
    }

    /// Asks for the process behind a name.
    #[track_caller]
    pub(crate) fn oxid_of(&mut self, name: &str) -> u64 {
        let answer = self.good(wire::SYSTEM, 6, &wire::resolve(name, wire::IVICTIM));
        Reference::target_of(&answer).1
    }

    /// What the other side does not answer.
    #[track_caller]
    pub(crate) fn assert_silent(&mut self) {
        let answer = self.message_within(crate::scene::MOMENT);
        assert_eq!(answer, None);
        assert!(!has_ended(&self.socket), "the connection has ended");
    }

    /// Waits for the other side to end the connection, without an answer.
    #[track_caller]
    pub(crate) fn assert_cut_off(&mut self) {
        await_end(&self.socket);
        assert_eq!(self.message_within(Duration::ZERO), None);
    }
}

/// Connects, waiting while the listener's queue is full.
pub(crate) fn connect(path: &Path) -> UnixStream {
    UnixStream::connect(path).unwrap()
}
