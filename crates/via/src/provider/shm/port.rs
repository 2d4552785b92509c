//! One end of a connection between virtual interfaces with descriptors.

use super::initiate::Initiator;
use super::lent::LENDING;
use super::opened::OPENING;
use super::packet::{self, Received, WAKE};
use super::record::{self, ConnectionState, Kind};
use super::respond::{Due, Responder};
use super::wire::{Fault, Wire, ended};
use crate::Status;
use crate::doorbell;
use crate::error::Ended;
use crate::spi::{Port, Sink, Sleep};
use rustix::fd::OwnedFd;
use rustix::net::Shutdown;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The interval at which a port in constant use reads its socket, which shows when the peer is
/// gone.
const READ_INTERVAL: Duration = Duration::from_millis(1);
/// The maximum number of packets that one call reads. A socket's buffer of the kernel's default
/// size holds fewer.
const PACKETS: usize = 512;
/// The interval at which an idle port looks for mappings that are no longer wanted, as long as it
/// has mappings.
const SWEEP: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct ShmPort {
    wire: Wire,
    initiator: Initiator,
    responder: Responder,
    pid: u32,
    // The number of threads that sleep until the peer calls.
    sleepers: u32,
    // The number of the latest sleep.
    number: u32,
    // The time at which the socket was last read; `None` if the next exchange has to read it.
    socket_read_at: Option<Instant>,
    // The number of regions that the peer had opened when the socket was last read.
    opened: u32,
    has_hung_up: bool,
    is_over: bool,
}

impl ShmPort {
    pub(super) fn new(wire: Wire, pid: u32) -> Self {
        Self {
            wire,
            initiator: Initiator::default(),
            responder: Responder::default(),
            pid,
            sleepers: 0,
            number: 0,
            socket_read_at: None,
            opened: 0,
            has_hung_up: false,
            is_over: false,
        }
    }

    /// Reads the packets on the socket.
    fn read_socket(&mut self, now: Instant) -> Result<(), Fault> {
        self.socket_read_at = Some(now);
        // The peer sends a region's packet before it counts the region. So the packets of all
        // regions in this count are on the socket or were read before.
        self.opened = self.wire.opened();
        let mut was_called = false;
        for _ in 0..PACKETS {
            let mut bytes = [0; 64];
            match packet::receive(&self.wire.socket, &mut bytes) {
                Ok(Received::Nothing) => break,
                Ok(Received::Packet(1, files)) if bytes[0] == WAKE && files.is_empty() => was_called = true,
                Ok(Received::Packet(length, files)) if bytes[0] == OPENING => {
                    self.initiator.opened.admit(&bytes[..length], files, &self.wire.table)?;
                }
                Ok(Received::Packet(length, files)) if bytes[0] == LENDING => {
                    self.responder.borrower.admit(&bytes[..length], files)?;
                }
                Ok(Received::Packet(..) | Received::Unfit) => return Err(Fault::Violation),
                // If the socket has failed, this side cannot notice the end of the peer, so the
                // peer counts as gone.
                Ok(Received::End) | Err(_) => {
                    self.has_hung_up = true;
                    break;
                }
            }
        }
        self.initiator.opened.sweep(&self.wire.table);
        self.initiator.lender.withdraw(&mut self.wire);
        if was_called && self.sleepers > 0 {
            // The call was meant for all sleeping threads, and this thread has consumed it. The
            // sleep gets a new number, so that the peer calls again for the threads that still
            // sleep.
            self.begin_sleep();
        }
        Ok(())
    }

    fn begin_sleep(&mut self) {
        self.number = self.number.wrapping_add(1).max(1);
        doorbell::begin_sleep(self.wire.out.segment().word(record::SLEEP), self.number);
    }

    fn is_read_due(&self, now: Instant) -> bool {
        self.wire.opened() != self.opened
            || self
                .socket_read_at
                .is_none_or(|socket_read_at| now.saturating_duration_since(socket_read_at) >= READ_INTERVAL)
    }

    fn exchange(&mut self, now: Instant, sink: &mut dyn Sink) -> Result<(), Fault> {
        if self.is_read_due(now) {
            self.read_socket(now)?;
        }
        let seen = self.wire.see();
        let is_last = self.has_hung_up || seen.state != ConnectionState::OPEN;
        self.take(now, sink)?;
        if self.wire.opened() != self.opened {
            // Before the peer sends an answer, it counts the region that the answer opens. A caller
            // that continues after the answer must find the region open. Otherwise, its next RDMA
            // would go through the peer as well, and open the region a second time.
            self.read_socket(now)?;
        }
        self.initiator.evaluate(seen, &mut self.wire, sink)?;
        if is_last {
            // A peer that is gone publishes nothing more, and `take` has taken all of its records.
            return Err(if seen.state == ConnectionState::OPEN { Fault::HungUp } else { Fault::ByPeer(seen.state) });
        }
        self.responder.pump(&mut self.wire)?;
        self.initiator.pump(&mut self.wire, sink);
        Ok(())
    }

    /// Takes the records that have arrived, at most as many as the ring has slots, so that a peer
    /// cannot keep this side busy for ever.
    fn take(&mut self, now: Instant, sink: &mut dyn Sink) -> Result<(), Fault> {
        let (most, is_reliable) = (self.wire.most, self.wire.level.is_reliable());
        for _ in 0..self.wire.from.slots() {
            if !self.wire.from.has_next() {
                break;
            }
            if self.wire.opened() != self.opened {
                // The record may need regions whose packets are still on the socket.
                self.read_socket(now)?;
            }
            let Some(taken) = self.wire.from.take()? else { break };
            let has_used_area = taken.record.area.is_some();
            let due = if taken.record.kind == Kind::Data {
                self.initiator.data(taken, sink)?;
                Due::Nothing
            } else {
                match self.responder.take(taken, most, is_reliable, sink) {
                    Ok(due) => due,
                    Err(fault) => {
                        self.wire.publish_refused();
                        return Err(fault);
                    }
                }
            };
            self.responder.answer(due, &mut self.wire);
            if has_used_area {
                // The peer learns at once that the bytes are taken, so that both sides copy at the
                // same time.
                self.wire.publish_taken();
            }
        }
        self.wire.publish_taken();
        Ok(())
    }

    fn end(&mut self, fault: Fault, sink: &mut dyn Sink) {
        let (status, why) = match fault {
            Fault::Violation => (Status::ConnectionLost, Ended::Violation),
            Fault::Refused(refusal) => (Status::Flushed, ended(refusal)),
            Fault::HungUp => (Status::ConnectionLost, Ended::Silent),
            Fault::ByPeer(ConnectionState::CLOSED) => (Status::Flushed, Ended::ByPeer),
            Fault::ByPeer(ConnectionState::NOT_READY) => (Status::ReceiverNotReady, Ended::ReceiverNotReady),
            Fault::ByPeer(ConnectionState::TOO_LONG) => (Status::TooLong, Ended::TooLong),
            Fault::ByPeer(ConnectionState::PROTECTION) => (Status::RemoteProtection, Ended::Protection),
            Fault::ByPeer(_) => (Status::ConnectionLost, Ended::Violation),
        };
        match fault {
            Fault::Violation => self.wire.publish_state(ConnectionState::VIOLATION),
            Fault::Refused(refusal) => self.wire.publish_state(ConnectionState::refused(refusal)),
            Fault::ByPeer(_) | Fault::HungUp => self.wire.publish_state(ConnectionState::CLOSED),
        }
        self.is_over = true;
        sink.broken(status, why);
    }

    /// Whether the peer's words show new work. The peer need not send a packet for each change of
    /// its words.
    fn has_new_work(&self) -> bool {
        let seen = self.wire.see();
        self.wire.from.has_next()
            || seen.state != ConnectionState::OPEN
            || seen.taken != self.wire.out.taken()
            || !self.initiator.has_noted(seen.answers)
            || self.wire.opened() != self.opened
    }
}

impl Port for ShmPort {
    fn progress(&mut self, now: Instant, sink: &mut dyn Sink) {
        if self.is_over {
            return;
        }
        if let Err(fault) = self.exchange(now, sink) {
            self.end(fault, sink);
        }
        self.wire.call();
    }

    fn submit(&mut self, now: Instant, sink: &mut dyn Sink) {
        self.progress(now, sink);
    }

    fn prepare_sleep(&mut self, now: Instant) -> Option<Sleep> {
        if self.is_over {
            return Some(Sleep { fd: None, until: None });
        }
        self.begin_sleep();
        if self.has_new_work() {
            if self.sleepers == 0 {
                doorbell::end_sleep(self.wire.out.segment().word(record::SLEEP));
            }
            return None;
        }
        self.sleepers += 1;
        let has_mappings = !self.initiator.opened.is_empty()
            || !self.initiator.lender.is_empty()
            || !self.responder.borrower.is_empty();
        let until = has_mappings.then(|| now + SWEEP);
        Some(Sleep { fd: Some(Arc::clone(&self.wire.socket)), until })
    }

    fn end_sleep(&mut self) {
        // `prepare_sleep` does not count sleeps that begin after the connection's end, so the
        // number may be 0 here.
        self.sleepers = self.sleepers.saturating_sub(1);
        if self.sleepers == 0 {
            doorbell::end_sleep(self.wire.out.segment().word(record::SLEEP));
        }
        self.socket_read_at = None;
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        None
    }

    fn disconnect(&mut self) {
        self.is_over = true;
        self.wire.publish_state(ConnectionState::CLOSED);
        // The shutdown wakes the peer as well.
        let _ = rustix::net::shutdown(&*self.wire.socket, Shutdown::Both);
    }

    fn peer(&self) -> String {
        format!("process {}", self.pid)
    }
}

impl Drop for ShmPort {
    fn drop(&mut self) {
        self.disconnect();
    }
}
