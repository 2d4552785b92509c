//! What shared memory needs besides loads and stores: waking sleepers, and handing over areas.

use super::directory::local_peer;
use super::greeting::{receive_with_fd, send_with_fd};
use super::{futex, mapping, pulse};
use crate::doorbell::{end_sleep, prepare_sleep};
use crate::window::{Carrier, Mapping, OwnRegion, Peer, PeerRegion, REGION_MAX, Wire};
use crate::{Deadline, Error, Violation, layout};
use rustix::fd::OwnedFd;
use rustix::net::Shutdown;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The bytes that announce a file on the socket: u32 number, u32 what it is, u64 length.
const NOTE: usize = 16;
/// Notes that may wait for being asked for: a peer hands over areas and regions when it names them in its next message.
const WAITING_MAX: usize = 4;

/// The socket of a connection: its pulse, and the way of areas and regions.
#[derive(Debug)]
pub(super) struct Socket {
    socket: Arc<OwnedFd>,
    /// What it is watched by.
    pub(super) number: pulse::Number,
    pid: u32,
    uid: u32,
    // An area and a region may be on their way, and be asked for the other way round.
    waiting: Mutex<Vec<Note>>,
}

/// What a file on the socket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Area,
    Region { is_writable: bool },
}

/// A file that the peer handed over.
#[derive(Debug)]
struct Note {
    number: u32,
    what: What,
    length: usize,
    file: OwnedFd,
}

impl Socket {
    pub(super) fn new(socket: Arc<OwnedFd>) -> Self {
        let (pid, uid) = local_peer(&socket).unwrap_or((0, Peer::NOBODY));
        Self { socket, number: pulse::Number::draw(), pid, uid, waiting: Mutex::default() }
    }

    fn hand_over(&self, number: u32, what: What, length: usize, file: &OwnedFd) -> Result<(), Error> {
        let kind: u32 = match what {
            What::Area => 0,
            What::Region { is_writable: false } => 1,
            What::Region { is_writable: true } => 2,
        };
        let mut note = [0; NOTE];
        note[0..4].copy_from_slice(&number.to_le_bytes());
        note[4..8].copy_from_slice(&kind.to_le_bytes());
        note[8..16].copy_from_slice(&(length as u64).to_le_bytes());
        send_with_fd(&self.socket, &note, file)
    }

    /// The next area or region with this number, of at most so many bytes.
    fn take(&self, number: u32, is_area: bool, most: u64) -> Result<Note, Error> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |note: &Note| note.number == number && (note.what == What::Area) == is_area;
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
        let mut note = [0; NOTE];
        // A note that does not come is the peer's fault. It must not look as if nothing had come yet: a server goes on
        // waiting then, and the message would be lost.
        let file = receive_with_fd(&self.socket, &mut note, Deadline::after_secs(1)).map_err(|error| match error {
            Error::TimedOut => Violation::UnknownArea(wanted).into(),
            other => other,
        })?;
        let word = |at: usize| u32::from_le_bytes([note[at], note[at + 1], note[at + 2], note[at + 3]]);
        let what = match word(4) {
            0 => What::Area,
            1 => What::Region { is_writable: false },
            2 => What::Region { is_writable: true },
            _ => return Err(Violation::UnknownArea(word(0)).into()),
        };
        let length = usize::try_from(u64::from(word(8)) | u64::from(word(12)) << 32).unwrap_or(usize::MAX);
        Ok(Note { number: word(0), what, length, file })
    }
}

impl Carrier for Socket {
    fn is_remote(&self) -> bool {
        false
    }

    fn carry(&self, wire: &Wire, _: usize) {
        futex::wake(wire.own.word(layout::BELL));
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
        futex::wait(wire.peer.word(layout::BELL), bell, span);
        Ok(())
    }

    fn end_sleep(&self, wire: &Wire) {
        end_sleep(wire.own.word(layout::SLEEP));
    }

    fn wake(&self, wire: &Wire) {
        // A thread that waits on this connection sleeps on the peer's bell.
        futex::wake(wire.peer.word(layout::BELL));
    }

    fn make_area(&self, _: &Wire, number: u32, length: usize) -> Result<Mapping, Error> {
        let (mapping, fd) = mapping::create(length)?;
        self.hand_over(number, What::Area, length, &fd)?;
        Ok(mapping)
    }

    fn take_area(&self, number: u32, most: usize) -> Result<Mapping, Error> {
        let note = self.take(number, true, most as u64)?;
        mapping::open(&note.file, note.length)
    }

    fn shares_memory(&self) -> bool {
        true
    }

    fn give_region(&self, number: u32, region: &OwnRegion) -> Result<(), Error> {
        let what = What::Region { is_writable: region.is_writable() };
        self.hand_over(number, what, region.length(), &region.file)
    }

    fn take_region(&self, number: u16) -> Result<PeerRegion, Error> {
        let note = self.take(number.into(), false, REGION_MAX)?;
        let is_writable = note.what == What::Region { is_writable: true };
        let map = || mapping::open_region(&note.file, note.length, is_writable);
        PeerRegion::new(number, note.length, is_writable, map)
    }

    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    fn peer(&self) -> Peer {
        Peer::Process { pid: self.pid, uid: self.uid }
    }

    fn local(&self) -> Option<&str> {
        None
    }

    fn end(&self, _: &Wire) {
        // The pulse thread and alarms may keep the socket open a little longer; the peer need not wait for that.
        let _ = rustix::net::shutdown(&*self.socket, Shutdown::Both);
        pulse::forget(&self.socket, self.number);
    }
}
