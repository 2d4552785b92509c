//! The send queue of a port: sends and RDMA, and the peer's answers to them.
//!
//! Sends go into the ring (long ones by reference, see [`super::lent`]) and are complete when the
//! peer has taken them. The bytes are then in the peer's memory at all levels of reliability, so
//! reliable delivery here promises as much as reliable reception. Unreliable sends are complete at
//! once.
//!
//! For an RDMA on a region that the peer has opened (see [`super::opened`]), this side makes the
//! copy. Any other RDMA, and any in which this side finds a fault, goes to the peer. The peer
//! checks the RDMA, and performs or refuses it. No later operation begins until the peer has
//! answered.

use super::lent::Lender;
use super::opened::Opened;
use super::record::{Answer, Kind, NOWHERE, Record};
use super::ring::Taken;
use super::wire::{Fault, Seen, Wire};
use crate::attributes::Reliability;
use crate::descriptor::{Descriptor, Operation, Status};
use crate::spi::{Intent, Sink};
use crate::{RemoteAddress, Violation};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(super) struct Initiator {
    // The number of the descriptor whose work has begun or begins next.
    next: u64,
    // The progress of the work of that descriptor.
    stage: Stage,
    // Earlier descriptors whose bytes are in the ring and which are not complete.
    pending: VecDeque<Pending>,
    // The number of RDMA operations that were left to the peer. All of them are answered, except
    // possibly the last.
    asked: u64,
    pub(super) opened: Opened,
    pub(super) lender: Lender,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Fresh,
    /// The first bytes of the message or RDMA write are in the ring; the value is their number.
    Sending(u32),
    /// The RDMA waits for the peer's answer. For an RDMA read, the value is the number of bytes
    /// that have arrived.
    Asking(u32),
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    /// The descriptor is complete when the peer has taken this number of records and earlier
    /// descriptors are complete.
    until: u64,
    length: u32,
}

impl Initiator {
    /// Evaluates the words that the peer has published: the number of records that it has taken,
    /// and its answers to RDMA.
    pub(super) fn evaluate(&mut self, seen: Seen, wire: &mut Wire, sink: &mut dyn Sink) -> Result<(), Fault> {
        wire.out.acknowledge(seen.taken)?;
        self.complete(wire, sink);
        let (number, answer) = (seen.answers >> 8, Answer(seen.answers as u8));
        let Stage::Asking(received) = self.stage else {
            return if number == self.asked { Ok(()) } else { Err(Fault::Violation) };
        };
        if number.wrapping_add(1) == self.asked {
            return Ok(());
        }
        // The peer takes records in order, so everything before the RDMA is done.
        let whole = sink.sending(self.next).map(|descriptor| (descriptor.operation(), descriptor.total()));
        let (Some((operation, whole)), true) = (whole, number == self.asked && self.pending.is_empty()) else {
            return Err(Fault::Violation);
        };
        match answer {
            Answer::DONE if operation != Operation::RdmaRead || u64::from(received) == whole => {
                sink.complete(Status::Done, whole as u32);
            }
            Answer::PROTECTION if !wire.level.is_reliable() => sink.complete(Status::RemoteProtection, 0),
            _ => return Err(Fault::Violation),
        }
        self.pass();
        Ok(())
    }

    /// Whether all answers that the peer's word `answers` shows have been evaluated.
    pub(super) fn has_noted(&self, answers: u64) -> bool {
        let is_asking = matches!(self.stage, Stage::Asking(_));
        answers >> 8 == self.asked.wrapping_sub(u64::from(is_asking))
    }

    fn complete(&mut self, wire: &Wire, sink: &mut dyn Sink) {
        while let Some(oldest) = self.pending.front().filter(|oldest| oldest.until <= wire.out.taken()) {
            sink.complete(Status::Done, oldest.length);
            self.pending.pop_front();
        }
    }

    /// Goes on to the next descriptor.
    fn pass(&mut self) {
        self.next += 1;
        self.stage = Stage::Fresh;
    }

    fn done(&mut self, until: u64, descriptor: &Descriptor) {
        // The peers agreed on a maximum transfer length of 32 bits.
        self.pending.push_back(Pending { until, length: descriptor.total() as u32 });
        self.pass();
    }

    /// Performs as much of the queue as is possible now.
    pub(super) fn pump(&mut self, wire: &mut Wire, sink: &mut dyn Sink) {
        loop {
            // Pending descriptors complete before the next descriptor is begun. The next descriptor
            // may have to wait until none is pending, and it is not certain that a later call would
            // complete them.
            self.complete(wire, sink);
            let Some(descriptor) = sink.sending(self.next) else { break };
            let has_moved = match (descriptor.operation(), descriptor.remote()) {
                (Operation::Send, _) => self.send(wire, descriptor),
                (Operation::RdmaWrite, Some(place)) => self.write(wire, descriptor, place),
                (Operation::RdmaRead, Some(place)) => self.read(wire, descriptor, place),
                // No other combination occurs, because descriptors are checked when they are
                // posted.
                _ => false,
            };
            if !has_moved {
                break;
            }
        }
    }

    fn send(&mut self, wire: &mut Wire, descriptor: &Descriptor) -> bool {
        if wire.level == Reliability::Unreliable && self.stage == Stage::Fresh {
            let needs_area = descriptor.total() > Kind::Send.line_max() as u64;
            if !wire.out.has_slot() || (needs_area && wire.out.room() == 0) {
                // Without room, unreliable delivery drops the message.
                self.done(0, descriptor);
                return true;
            }
        }
        let is_fresh = wire.level.is_reliable() && self.stage == Stage::Fresh;
        let is_lent = is_fresh && wire.out.has_slot() && self.lender.publish(wire, descriptor);
        if !is_lent && !self.stream(wire, descriptor, Kind::Send, NOWHERE) {
            return false;
        }
        let until = if wire.level.is_reliable() { wire.out.published() } else { 0 };
        self.done(until, descriptor);
        true
    }

    fn write(&mut self, wire: &mut Wire, descriptor: &Descriptor, place: RemoteAddress) -> bool {
        if self.stage == Stage::Fresh && self.opened.has(place, descriptor.total(), Intent::Write) {
            let has_news = descriptor.immediate().is_some();
            if self.must_wait(wire) || (has_news && !wire.out.has_slot()) {
                return false;
            }
            if self.copy(wire, descriptor, place, Intent::Write) {
                let mut until = 0;
                if has_news {
                    let record = Record {
                        kind: Kind::Landed,
                        immediate: descriptor.immediate(),
                        whole: descriptor.total() as u32,
                        piece: 0,
                        area: None,
                        place: NOWHERE,
                    };
                    wire.publish(record, |_| Some(()));
                    until = if wire.level.is_reliable() { wire.out.published() } else { 0 };
                }
                self.done(until, descriptor);
                return true;
            }
        }
        if matches!(self.stage, Stage::Asking(_)) || !self.stream(wire, descriptor, Kind::Write, place) {
            return false;
        }
        self.ask(place);
        false
    }

    fn read(&mut self, wire: &mut Wire, descriptor: &Descriptor, place: RemoteAddress) -> bool {
        if self.stage != Stage::Fresh {
            return false;
        }
        if self.opened.has(place, descriptor.total(), Intent::Read) {
            if self.must_wait(wire) {
                return false;
            }
            if self.copy(wire, descriptor, place, Intent::Read) {
                self.done(0, descriptor);
                return true;
            }
        }
        if !wire.out.has_slot() {
            return false;
        }
        let whole = descriptor.total() as u32;
        let record = Record { kind: Kind::Read, immediate: None, whole, piece: 0, area: None, place };
        wire.publish(record, |_| Some(()));
        self.ask(place);
        false
    }

    /// Whether an RDMA has to wait for the pending descriptors. With reliable reception, no
    /// operation is performed after one has failed, so the outcomes of all earlier descriptors have
    /// to be known first.
    fn must_wait(&self, wire: &Wire) -> bool {
        wire.level == Reliability::ReliableReception && !self.pending.is_empty()
    }

    fn copy(&self, wire: &Wire, descriptor: &Descriptor, place: RemoteAddress, intent: Intent) -> bool {
        let goes_on = || wire.peer_state() == super::record::ConnectionState::OPEN;
        self.opened.copy(descriptor, place, intent, &wire.table, goes_on).is_some()
    }

    fn ask(&mut self, place: RemoteAddress) {
        self.opened.want(place.handle);
        self.asked += 1;
        self.stage = Stage::Asking(0);
    }

    /// Puts the descriptor's bytes into the ring. Returns whether all bytes are in the ring now.
    fn stream(&mut self, wire: &mut Wire, descriptor: &Descriptor, kind: Kind, place: RemoteAddress) -> bool {
        let whole = descriptor.total() as u32;
        loop {
            let (kind, sent) = match self.stage {
                Stage::Sending(sent) => (Kind::More, sent),
                _ => (kind, 0),
            };
            if kind == Kind::More && sent == whole {
                return true;
            }
            let left = whole - sent;
            let piece = if left as usize <= kind.line_max() { left } else { left.min(wire.out.room() as u32) };
            if !wire.out.has_slot() || (piece == 0 && left > 0) {
                return false;
            }
            let begins = kind != Kind::More;
            let immediate = descriptor.immediate().filter(|_| begins);
            let place = if begins { place } else { NOWHERE };
            let record = Record { kind, immediate, whole, piece, area: None, place };
            // The copy succeeds, because the segments were checked when the descriptor was posted.
            wire.publish(record, |bytes| descriptor.gather(u64::from(sent), bytes));
            self.stage = Stage::Sending(sent + piece);
            if left == piece {
                return true;
            }
        }
    }

    /// Takes bytes of the answer to an RDMA read.
    pub(super) fn data(&mut self, taken: Taken<'_>, sink: &dyn Sink) -> Result<(), Violation> {
        let Taken { record, view, at } = taken;
        let out_of_turn = Violation::BadKind(record.kind as u8);
        let (Stage::Asking(received), Some(descriptor)) = (self.stage, sink.sending(self.next)) else {
            return Err(out_of_turn);
        };
        let is_fitting = descriptor.operation() == Operation::RdmaRead
            && descriptor.total() == u64::from(record.whole)
            && record.whole - received >= record.piece;
        if !is_fitting {
            return Err(out_of_turn);
        }
        let placed =
            descriptor.stretches(u64::from(received), u64::from(record.piece), |memory, offset, before, length| {
                memory.write_view(offset, view, at.checked_add(before)?, length)
            });
        debug_assert!(placed.is_some());
        self.stage = Stage::Asking(received + record.piece);
        Ok(())
    }
}
