//! The carrier over shared memory: wakes sleepers, and passes areas and regions. Frames need no
//! carrier here: the two sides store and load them in the shared memory.

use super::directory::local_process;
use super::futex::{Futexes, PeerWord};
use super::parking::Parked;
use super::socket::{peer_pid, receive_with_any, send_with_fd};
use super::{futex, mapping, named, parking, pulse};
use crate::doorbell::{PARKED, begin_sleep, end_sleep, is_parked, prepare_sleep};
use crate::sync::lock;
use crate::window::{Carrier, Mapping, OwnRegion, Parking, Peer, PeerRegion, Resume, Window, Wire};
use crate::{Deadline, Error, Violation, layout};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};
use rustix::time::Timespec;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The length of a note, which announces a file on the socket: u32 number, u32 kind, u64 length.
const NOTE: usize = 16;
/// The first byte of a call, which ends a sleep on the socket. Calls and names are the messages on
/// the socket to a peer that cannot pass files.
const CALL: u8 = 0;
/// The first byte of a name: a note and the number of a file descriptor follow.
const NAMED: u8 = 1;
/// The kind of a note without a file: a call, at which a parked connection looks for a message.
const CALL_NOTE: u32 = 3;
/// The maximum number of messages on the socket that are consumed before a connection parks.
/// Further messages cause an event, at which the next ones are consumed.
const CONSUMED_MAX: usize = 64;
/// The maximum number of notes that have arrived and that no message has asked for. A peer passes
/// an area or a region right before the message that names it. A connection that has reached this
/// number, for example after failed calls, does not park.
const WAITING_MAX: usize = 4;
/// The maximum by which the number of calls to a parked connection may exceed the number of counted
/// messages. A call can arrive before its message is counted.
const EARLY_CALLS_MAX: u64 = 64;
const _: () = assert!(EARLY_CALLS_MAX >= layout::SLOT_COUNT as u64);

/// The socket of a connection: its pulse, and the transport of the files of areas and regions.
#[derive(Debug)]
pub(super) struct Socket {
    socket: Arc<OwnedFd>,
    /// The number by which the pulse thread watches the connection.
    pub(super) number: pulse::Number,
    peer: Peer,
    sleep: Sleep,
    /// The side of this process. Only the acceptor parks, and only the connector calls a parked
    /// peer.
    side: Side,
    // Notes that arrived before a message asked for them. An area and a region may be under way at
    // the same time, and messages may ask for them in the reverse order.
    waiting: Mutex<Vec<Note>>,
    calls: Mutex<Calls>,
}

/// The calls by which a peer has asked a parked connection to look for a message.
#[derive(Debug, Default)]
struct Calls {
    count: u64,
    /// The number of messages counted.
    messages: u64,
    /// The number of the first message that is not counted.
    next: u32,
}

impl Calls {
    /// Counts calls that were consumed before the message `next`.
    ///
    /// # Errors
    ///
    /// [`Violation::FalseCalls`] when the calls outnumber the messages by more than
    /// [`EARLY_CALLS_MAX`]. The limit is needed, because a call without a message wakes a thread
    /// that waits for all parked connections.
    fn count(&mut self, calls: u64, next: u32) -> Result<(), Error> {
        self.count += calls;
        self.messages += u64::from(next.wrapping_sub(self.next));
        self.next = next;
        if self.count > self.messages + EARLY_CALLS_MAX { Err(Violation::FalseCalls.into()) } else { Ok(()) }
    }
}

/// A side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Acceptor,
    Connector,
}

/// The way by which the two sides of a connection sleep and wake each other.
#[derive(Debug)]
pub(super) enum Sleep {
    /// Sleeping on two words: the bell in the peer's segment, and the state of the connection.
    /// Threads of this process change the state to end the sleep.
    OnWord,
    /// Sleeping on the socket, for a peer that can neither sleep on a word nor pass files: see
    /// [`named`].
    OnSocket {
        /// An eventfd that wakes the sleeping thread of this process.
        waker: OwnedFd,
        /// The file of the last area. The file stays open until the peer has opened it by name. The
        /// peer does so when a message in the area arrives.
        area: Mutex<Option<OwnedFd>>,
    },
}

impl Sleep {
    pub(super) fn on_socket() -> Result<Self, Error> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let waker = eventfd(0, flags).map_err(Error::system("making an event"))?;
        Ok(Self::OnSocket { waker, area: Mutex::default() })
    }
}

/// The kind of a file on the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    Area,
    Region { is_writable: bool },
}

/// A file that the peer passed, with its note.
#[derive(Debug)]
struct Note {
    number: u32,
    kind: FileKind,
    length: usize,
    file: OwnedFd,
}

impl Socket {
    pub(super) fn new(socket: Arc<OwnedFd>, sleep: Sleep, side: Side) -> Result<Self, Error> {
        let (peer, number) = (local_process(&socket)?, pulse::prepare(&socket)?);
        Ok(Self { socket, number, peer, sleep, side, waiting: Mutex::default(), calls: Mutex::default() })
    }

    fn is_passed_files(&self) -> bool {
        matches!(self.sleep, Sleep::OnWord)
    }

    fn hand_over(&self, number: u32, kind: FileKind, length: usize, file: &OwnedFd) -> Result<(), Error> {
        send_with_fd(&self.socket, &note(number, kind, length), file)
    }

    /// Tells the peer the name of an area or a region.
    fn name(&self, number: u32, kind: FileKind, length: usize, file: &OwnedFd) -> Result<(), Error> {
        let note = note(number, kind, length);
        let name = u64::from(named::number_of(file)).to_le_bytes();
        self.send(&[[NAMED].as_slice(), &note, &name].concat())
    }

    fn send(&self, bytes: &[u8]) -> Result<(), Error> {
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        rustix::net::send(&*self.socket, bytes, flags).map(drop).map_err(Error::system("notifying a peer"))
    }

    /// Sleeps until the peer or another thread of this process ends the sleep, and consumes the
    /// bytes or the event that ended it.
    fn sleep_on_socket(&self, waker: &OwnedFd, span: Duration) {
        let span = Timespec { tv_sec: span.as_secs().cast_signed(), tv_nsec: span.subsec_nanos().into() };
        let mut ends = [PollFd::new(&*self.socket, PollFlags::IN), PollFd::new(waker, PollFlags::IN)];
        // The result does not matter: callers look for messages after every outcome.
        let _ = poll(&mut ends, Some(&span));
        let [is_called, is_woken] = [0, 1].map(|end: usize| !ends[end].revents().is_empty());
        if is_called {
            // The content of these bytes does not matter: they only ask the caller to look again.
            let _ = rustix::net::recv(&*self.socket, &mut [MaybeUninit::<u8>::uninit(); 64], RecvFlags::DONTWAIT);
        }
        if is_woken {
            let _ = rustix::io::read(waker, &mut [MaybeUninit::<u8>::uninit(); 8]);
        }
    }

    /// Returns the note of the area or region with this number, as `is_area` says. A file of more
    /// than `most` bytes is an error.
    fn take(&self, number: u32, is_area: bool, most: u64) -> Result<Note, Error> {
        let mut waiting = lock(&self.waiting);
        let is_it = |note: &Note| note.number == number && (note.kind == FileKind::Area) == is_area;
        let note = loop {
            if let Some(at) = waiting.iter().position(is_it) {
                break waiting.swap_remove(at);
            }
            if waiting.len() == WAITING_MAX {
                return Err(Violation::UnknownArea(number).into());
            }
            waiting.push(self.next_note(number)?);
        };
        if note.length == 0 {
            return Err(Violation::UnknownArea(number).into());
        }
        if note.length as u64 > most {
            return Err(Error::TooLong { length: note.length as u64, limit: most });
        }
        Ok(note)
    }

    fn next_note(&self, wanted: u32) -> Result<Note, Error> {
        // A missing note is reported as a violation by the peer. If it were reported as a timeout,
        // a server would assume that no message had arrived and go on waiting, and the message
        // would be lost.
        let missing = || Error::from(Violation::UnknownArea(wanted));
        let deadline = Deadline::after_secs(1).start();
        while !deadline.is_over() {
            match self.receive_note(deadline) {
                Ok(Some(note)) => return Ok(note),
                // The note is a call that arrived after the connection was resumed. It has no
                // effect.
                Ok(None) => {}
                Err(Error::TimedOut) => break,
                Err(error) => return Err(error),
            }
        }
        Err(missing())
    }

    /// Receives a note. `None` for a call, which has no file.
    fn receive_note(&self, deadline: Deadline) -> Result<Option<Note>, Error> {
        let mut note = [0; NOTE];
        let file = receive_with_any(&self.socket, &mut note, deadline)?;
        let word = |at: usize| u32::from_le_bytes([note[at], note[at + 1], note[at + 2], note[at + 3]]);
        let kind = match word(4) {
            0 => FileKind::Area,
            1 => FileKind::Region { is_writable: false },
            2 => FileKind::Region { is_writable: true },
            CALL_NOTE if file.is_none() => return Ok(None),
            _ => return Err(Violation::UnknownArea(word(0)).into()),
        };
        let length = usize::try_from(u64::from(word(8)) | u64::from(word(12)) << 32).unwrap_or(usize::MAX);
        Ok(Some(Note { number: word(0), kind, length, file: file.ok_or(Violation::NoSegment)? }))
    }

    /// Consumes the calls on the socket, so that the socket is not readable, and adds their number
    /// to `count`. Keeps the notes with files. Returns false while too many notes wait for a
    /// message that asks for them. Also returns false while this process receives no more files
    /// from the peer's user, because processes of that user have passed too many.
    fn consume_calls(&self, count: &mut u64) -> Result<bool, Error> {
        let mut waiting = lock(&self.waiting);
        for _ in 0..CONSUMED_MAX {
            if !self.is_passed_files() {
                match rustix::net::recv(&*self.socket, &mut [0; 64], RecvFlags::DONTWAIT) {
                    Ok((0, _)) => return Err(Error::PeerGone { pid: peer_pid(&self.socket) }),
                    Ok(_) => *count += 1,
                    Err(Errno::AGAIN) => return Ok(true),
                    Err(errno) => return Err(Error::system("receiving a call")(errno)),
                }
                continue;
            }
            if waiting.len() == WAITING_MAX {
                return Ok(false);
            }
            match self.receive_note(Deadline::Within(Duration::ZERO)) {
                Ok(Some(note)) => waiting.push(note),
                Ok(None) => *count += 1,
                Err(Error::TimedOut) => return Ok(true),
                Err(Error::Violation(Violation::TooManyFiles)) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

/// Makes the note that announces a file.
fn note(number: u32, kind: FileKind, length: usize) -> [u8; NOTE] {
    let kind: u32 = match kind {
        FileKind::Area => 0,
        FileKind::Region { is_writable: false } => 1,
        FileKind::Region { is_writable: true } => 2,
    };
    bytes_of_note(number, kind, length as u64)
}

fn bytes_of_note(number: u32, kind: u32, length: u64) -> [u8; NOTE] {
    let mut note = [0; NOTE];
    note[0..4].copy_from_slice(&number.to_le_bytes());
    note[4..8].copy_from_slice(&kind.to_le_bytes());
    note[8..16].copy_from_slice(&length.to_le_bytes());
    note
}

impl Carrier for Socket {
    fn is_remote(&self) -> bool {
        false
    }

    fn carry(&self, wire: &Wire, _: usize) {
        match &self.sleep {
            Sleep::OnWord if self.side == Side::Connector && is_parked(wire.peer.word(layout::SLEEP)) => {
                // An error needs no action: a full socket is readable at the peer's end, and a
                // closed socket needs no call.
                let _ = self.send(&bytes_of_note(0, CALL_NOTE, 0));
            }
            Sleep::OnWord => futex::wake(wire.own.word(layout::BELL)),
            // An error needs no action: a full socket is readable at the peer's end, and a peer
            // that has closed its end needs no byte.
            Sleep::OnSocket { .. } => drop(self.send(&[CALL])),
        }
    }

    fn carry_credit(&self, _: &Wire) {}

    fn fetch(&self, _: &Wire) -> Result<(), Error> {
        Ok(())
    }

    fn fetch_credit(&self, _: &Wire) -> Result<(), Error> {
        Ok(())
    }

    fn prepare_sleep(&self, wire: &Wire) -> u32 {
        prepare_sleep(wire.own.word(layout::SLEEP), wire.peer.word(layout::BELL))
    }

    fn sleep(&self, wire: &Wire, bell: u32, span: Duration) -> Result<(), Error> {
        match &self.sleep {
            Sleep::OnWord => {
                let bell = PeerWord { word: wire.peer.word(layout::BELL), value: bell };
                Futexes::of_system().wait(bell, &wire.state, span);
            }
            Sleep::OnSocket { waker, .. } => self.sleep_on_socket(waker, span),
        }
        Ok(())
    }

    fn parking(&self) -> Option<&dyn Parking> {
        (self.side == Side::Acceptor).then_some(self)
    }

    fn end_sleep(&self, wire: &Wire) {
        end_sleep(wire.own.word(layout::SLEEP));
    }

    fn wake(&self, wire: &Wire) {
        match &self.sleep {
            Sleep::OnWord => Futexes::of_system().wake_own(wire.peer.word(layout::BELL), &wire.state),
            Sleep::OnSocket { waker, .. } => drop(rustix::io::write(waker, &1_u64.to_ne_bytes())),
        }
        if self.side == Side::Acceptor {
            parking::ring(self.number);
        }
    }

    fn make_area(&self, _: &Wire, number: u32, length: usize) -> Result<Mapping, Error> {
        let (mapping, fd) = mapping::create(length)?;
        match &self.sleep {
            Sleep::OnWord => self.hand_over(number, FileKind::Area, length, &fd)?,
            Sleep::OnSocket { area, .. } => {
                self.name(number, FileKind::Area, length, &fd)?;
                // The peer has taken all frames of the previous area, so it has opened that area's
                // file.
                *lock(area) = Some(fd);
            }
        }
        Ok(mapping)
    }

    fn take_area(&self, number: u32, most: usize) -> Result<Mapping, Error> {
        // A peer that cannot pass files has an area that is long enough for every frame, and so
        // never passes another one.
        if !self.is_passed_files() {
            return Err(Violation::UnknownArea(number).into());
        }
        let note = self.take(number, true, most as u64)?;
        mapping::open(&note.file, note.length)
    }

    fn shares_memory(&self) -> bool {
        true
    }

    fn pass_region(&self, number: u32, region: &OwnRegion) -> Result<(), Error> {
        let kind = FileKind::Region { is_writable: region.is_writable() };
        match &self.sleep {
            Sleep::OnWord => self.hand_over(number, kind, region.length(), &region.file),
            Sleep::OnSocket { .. } => self.name(number, kind, region.length(), &region.file),
        }
    }

    fn take_region(&self, number: u16, most: u64) -> Result<PeerRegion, Error> {
        // A region that a peer only names is refused: its file has no seals, so the peer could
        // truncate the file while this process uses it.
        if !self.is_passed_files() {
            return Err(Violation::UnknownArea(number.into()).into());
        }
        let note = self.take(number.into(), false, most)?;
        let is_writable = note.kind == FileKind::Region { is_writable: true };
        let map = || mapping::open_region(&note.file, note.length, is_writable);
        PeerRegion::new(self.peer(), number, note.length, is_writable, map)
    }

    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    fn peer(&self) -> Peer {
        self.peer.clone()
    }

    fn local(&self) -> Option<&str> {
        None
    }

    fn end(&self, _: &Wire) {
        // The pulse thread, or a holder of a `window::Alarm`, may keep the socket open a little
        // longer. The shutdown lets the peer see the end at once.
        let _ = rustix::net::shutdown(&*self.socket, Shutdown::Both);
        pulse::forget(&self.socket, self.number);
    }
}

impl Parking for Socket {
    fn begin(&self) {
        // After a failure, no thread waits for parked connections, and `prepare` returns false.
        let _ = parking::begin();
    }

    fn prepare(&self, wire: &Wire, next: u32) -> Result<bool, Error> {
        if parking::prepare(&self.socket, self.number).is_err() {
            return Ok(false);
        }
        let mut count = 0;
        let consumed = self.consume_calls(&mut count);
        lock(&self.calls).count(count, next)?;
        let is_consumed = consumed?;
        if is_consumed {
            begin_sleep(wire.own.word(layout::SLEEP), PARKED);
        }
        Ok(is_consumed)
    }

    fn park(&self, wire: &Wire, window: Window, resume: Resume) {
        parking::park(&self.socket, self.number, wire, Parked::new(window, resume));
    }
}
