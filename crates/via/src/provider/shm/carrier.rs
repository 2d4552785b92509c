//! What shared memory needs besides loads and stores: waking sleepers, and handing over areas.

use super::greeting::{peer_pid, receive_with_fd, send_with_fd};
use super::{futex, mapping, pulse};
use crate::doorbell::{end_sleep, prepare_sleep};
use crate::window::{Carrier, Mapping, Peer, Wire};
use crate::{Deadline, Error, Violation, layout};
use rustix::fd::OwnedFd;
use rustix::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

/// The bytes that announce an area on the socket: u32 number, u32 zero, u64 length.
const NOTE: usize = 16;

/// The socket of a connection: its pulse, and the way of areas.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) socket: Arc<OwnedFd>,
    pid: u32,
}

impl Socket {
    pub(super) fn new(socket: Arc<OwnedFd>) -> Self {
        let pid = peer_pid(&socket);
        Self { socket, pid }
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
        let mut note = [0; NOTE];
        note[0..4].copy_from_slice(&number.to_le_bytes());
        note[8..16].copy_from_slice(&(length as u64).to_le_bytes());
        send_with_fd(&self.socket, &note, &fd)?;
        Ok(mapping)
    }

    fn take_area(&self, number: u32, most: usize) -> Result<Mapping, Error> {
        let mut note = [0; NOTE];
        // A note that does not come is the peer's fault. It must not look as if nothing had come yet: a server goes on
        // waiting then, and the message would be lost.
        let fd = receive_with_fd(&self.socket, &mut note, Deadline::after_secs(1)).map_err(|error| match error {
            Error::TimedOut => Violation::UnknownArea(number).into(),
            other => other,
        })?;
        let announced = u32::from_le_bytes([note[0], note[1], note[2], note[3]]);
        let mut length = [0; 8];
        length.copy_from_slice(&note[8..16]);
        let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
        if announced != number || length == 0 {
            return Err(Violation::UnknownArea(number).into());
        }
        if length > most {
            return Err(Error::TooLong { length: length as u64, limit: most as u64 });
        }
        mapping::open(&fd, length)
    }

    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    fn peer(&self) -> Peer {
        Peer::Process(self.pid)
    }

    fn local(&self) -> Option<&str> {
        None
    }

    fn end(&self, _: &Wire) {
        // The pulse thread and alarms may keep the socket open a little longer; the peer need not wait for that.
        let _ = rustix::net::shutdown(&*self.socket, Shutdown::Both);
        pulse::forget(&self.socket);
    }
}
