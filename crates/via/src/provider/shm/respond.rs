//! Responding to the peer's records: filling receive descriptors, and performing the RDMA that the
//! peer does not perform itself.

use super::lent::{Borrower, References};
use super::opened::{self, OPENING};
use super::record::{Answer, Kind, NOWHERE, Record};
use super::ring::Taken;
use super::wire::{Fault, Wire};
use crate::descriptor::Operation;
use crate::memory::Region;
use crate::spi::{Intent, Refusal, Sink};
use crate::{MemoryHandle, RemoteAddress};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Responder {
    incoming: Option<IncomingTransfer>,
    reading: Option<Reading>,
    // The number of the peer's RDMA operations that this side has answered.
    answered: u64,
    pub(super) borrower: Borrower,
}

/// A message or RDMA write of the peer that has begun.
#[derive(Debug)]
struct IncomingTransfer {
    target: Target,
    whole: u32,
    // The number of bytes that have arrived.
    received: u32,
    immediate: Option<u32>,
}

/// The destination of the bytes of a message or RDMA write.
#[derive(Debug)]
enum Target {
    /// The receive descriptor in which the message began.
    Message,
    /// A region, and the position in it at which the write begins.
    Write(Arc<Region>, RemoteAddress),
    /// The bytes are dropped, because delivery is unreliable and the operation was refused. An RDMA
    /// write is answered nevertheless.
    Nowhere { is_write: bool },
}

/// An RDMA read of the peer.
#[derive(Debug)]
struct Reading {
    region: Arc<Region>,
    place: RemoteAddress,
    whole: u32,
    sent: u32,
}

/// The work that remains after a record was taken.
#[derive(Debug)]
pub(super) enum Due {
    Nothing,
    /// The answer to an RDMA. If the RDMA was performed, also its region, which is to be opened to
    /// the peer.
    Answer(Answer, Option<(Arc<Region>, MemoryHandle)>),
}

impl Responder {
    /// Carries out a record.
    pub(super) fn take(
        &mut self,
        taken: Taken<'_>,
        most: u32,
        is_reliable: bool,
        sink: &mut dyn Sink,
    ) -> Result<Due, Fault> {
        let record = taken.record;
        // An initiator begins no other operation before the current one is done.
        let is_busy = self.incoming.is_some() || self.reading.is_some();
        let is_in_turn = match record.kind {
            Kind::More => self.incoming.is_some(),
            Kind::Withdrawn => true,
            _ => !is_busy,
        };
        if record.whole > most || !is_in_turn {
            return Err(Fault::Violation);
        }
        let whole = u64::from(record.whole);
        // A refusal breaks a reliable connection, and has no effect on an unreliable one.
        let or_drop = |refusal| if is_reliable { Err(Fault::Refused(refusal)) } else { Ok(()) };
        let target = match record.kind {
            Kind::More => return self.piece(taken, is_reliable, sink),
            Kind::Send => match sink.begin_message(record.whole) {
                Ok(()) => Target::Message,
                Err(refusal) => or_drop(refusal).map(|()| Target::Nowhere { is_write: false })?,
            },
            Kind::Write => match sink.remote(record.place, whole, Intent::Write) {
                Ok(region) => Target::Write(region, record.place),
                Err(refusal) => or_drop(refusal).map(|()| Target::Nowhere { is_write: true })?,
            },
            Kind::Read => match sink.remote(record.place, whole, Intent::Read) {
                Ok(region) => {
                    self.reading = Some(Reading { region, place: record.place, whole: record.whole, sent: 0 });
                    return Ok(Due::Nothing);
                }
                Err(refusal) => return or_drop(refusal).map(|()| Due::Answer(Answer::PROTECTION, None)),
            },
            Kind::Landed => {
                let landed = sink.complete_receive(Operation::RdmaWrite, record.whole, record.immediate);
                return landed.or_else(or_drop).map(|()| Due::Nothing);
            }
            Kind::Lent => {
                let references = References::load(taken.view, taken.at, record.piece)?;
                if let Err(refusal) = sink.begin_message(record.whole) {
                    return or_drop(refusal).map(|()| Due::Nothing);
                }
                self.borrower.fill(references, record.whole, sink)?;
                sink.end_message(record.immediate);
                return Ok(Due::Nothing);
            }
            Kind::Withdrawn => {
                self.borrower.give_back(taken.view, taken.at, record.piece)?;
                return Ok(Due::Nothing);
            }
            Kind::Data => return Err(Fault::Violation),
        };
        self.incoming =
            Some(IncomingTransfer { target, whole: record.whole, received: 0, immediate: record.immediate });
        self.piece(taken, is_reliable, sink)
    }

    /// Copies the bytes of a record to their destination.
    fn piece(&mut self, taken: Taken<'_>, is_reliable: bool, sink: &mut dyn Sink) -> Result<Due, Fault> {
        let (piece, view, at) = (taken.record.piece, taken.view, taken.at);
        let Some(incoming) = &mut self.incoming else { return Err(Fault::Violation) };
        if taken.record.whole != incoming.whole || incoming.whole - incoming.received < piece {
            return Err(Fault::Violation);
        }
        match &incoming.target {
            Target::Message => sink.fill_message_from(incoming.received, view, at, piece as usize),
            Target::Write(region, place) => {
                let offset = place.offset + u64::from(incoming.received);
                // The range is in bounds by the check at the beginning of the write.
                let written = region.memory().write_view(offset, view, at, piece as usize);
                if !region.is_registered() || written.is_none() {
                    if is_reliable {
                        return Err(Fault::Refused(Refusal::Protection));
                    }
                    incoming.target = Target::Nowhere { is_write: true };
                }
            }
            Target::Nowhere { .. } => {}
        }
        incoming.received += piece;
        if incoming.received < incoming.whole {
            return Ok(Due::Nothing);
        }
        let Some(IncomingTransfer { target, whole, immediate, .. }) = self.incoming.take() else {
            return Ok(Due::Nothing);
        };
        Ok(match target {
            Target::Message => {
                sink.end_message(immediate);
                Due::Nothing
            }
            Target::Write(region, place) => {
                if immediate.is_some()
                    && let Err(refusal) = sink.complete_receive(Operation::RdmaWrite, whole, immediate)
                    && is_reliable
                {
                    return Err(Fault::Refused(refusal));
                }
                Due::Answer(Answer::DONE, Some((region, place.handle)))
            }
            Target::Nowhere { is_write: true } => Due::Answer(Answer::PROTECTION, None),
            Target::Nowhere { is_write: false } => Due::Nothing,
        })
    }

    /// Answers an RDMA of the peer.
    pub(super) fn answer(&mut self, due: Due, wire: &mut Wire) {
        let Due::Answer(answer, region) = due else { return };
        if let Some((region, handle)) = region
            && opened::send(&wire.socket, OPENING, &region, handle)
        {
            wire.publish_opened();
        }
        self.answered += 1;
        wire.answer(self.answered, answer);
    }

    /// Sends bytes of an RDMA read, as many as the ring has room for.
    pub(super) fn pump(&mut self, wire: &mut Wire) -> Result<(), Fault> {
        while let Some(reading) = &mut self.reading {
            if !reading.region.is_registered() {
                self.reading = None;
                if wire.level.is_reliable() {
                    return Err(Fault::Refused(Refusal::Protection));
                }
                self.answer(Due::Answer(Answer::PROTECTION, None), wire);
                break;
            }
            let left = reading.whole - reading.sent;
            if left == 0 {
                let due = Due::Answer(Answer::DONE, Some((Arc::clone(&reading.region), reading.place.handle)));
                self.reading = None;
                self.answer(due, wire);
                break;
            }
            let piece = if left as usize <= Kind::Data.line_max() { left } else { left.min(wire.out.room() as u32) };
            if piece == 0 || !wire.out.has_slot() {
                break;
            }
            let record =
                Record { kind: Kind::Data, immediate: None, whole: reading.whole, piece, area: None, place: NOWHERE };
            let offset = reading.place.offset + u64::from(reading.sent);
            // The range is in bounds by the check at the beginning of the read.
            wire.publish(record, |bytes| reading.region.memory().read(offset, bytes));
            reading.sent += piece;
        }
        Ok(())
    }
}
